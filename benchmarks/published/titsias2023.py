"""Titsias (2023), *Optimal preconditioning and Fisher adaptive Langevin sampling*, Tables 1 to 8.

One chain, 20,000 + 20,000 iterations, means and standard deviations over 10 repeats of the largest,
median and smallest effective sample size over coordinates (estimator `"tfp"`).
Table 7 varies the signal that the preconditioner learns from: the paper's method is plain
`fisher_mala`, `increment` its form without Rao-Blackwellisation (eq. 15), `paired` appendix C;
Table 8 has the `score` itself ("non-centred").
"""

from __future__ import annotations

from published.ranking import Ranking, of_tables
from published.row import Published

# table target method, then mean and standard deviation of largest, median, smallest
_ROWS = """
t23-1 gp100         mala                     15.235    4.246     6.326    1.934     3.619    0.956
t23-1 gp100         ada_mala                845.100   80.472   662.978   81.127   552.377   74.441
t23-1 gp100         hmc                      17.625    6.706     6.680    2.205     4.315    0.889
t23-1 gp100         mmala                  2109.441  101.553  2007.640  104.867  1841.978  114.266
t23-1 gp100         fisher_mala            2096.259   94.751  1923.753   95.820  1784.962  104.440
t23-1 pima          mala                    106.668   29.601    14.723    3.821     4.061    1.587
t23-1 pima          ada_mala                211.948  133.363    52.277   26.566     6.401    3.344
t23-1 pima          hmc                    1624.773  544.777   337.100  212.158     6.052    2.062
t23-1 pima          mmala                  6086.948  117.241  5690.967  118.401  5297.835  160.084
t23-1 pima          fisher_mala            6437.419  207.548  5981.960  156.072  5628.541  168.425
t23-1 caravan       mala                     27.247    7.554     5.890    0.398     2.906    0.150
t23-1 caravan       ada_mala                 41.522    9.343     7.144    0.663     3.144    0.135
t23-1 caravan       hmc                     787.901  173.863    37.303    6.808     4.238    0.532
t23-1 caravan       mmala                   179.899   61.502   121.867   41.801    51.414   24.995
t23-1 caravan       fisher_mala            2257.737   45.289  1920.903   55.821   498.016   96.692
t23-1 mnist         mala                     34.074    4.977     7.589    0.149     2.944    0.066
t23-1 mnist         ada_mala                 62.301    9.203     8.188    0.399     2.985    0.089
t23-1 mnist         hmc                     889.386  118.050   303.345   10.976   114.439   20.965
t23-1 mnist         mmala                    51.589    3.447    20.222    1.259     5.240    0.492
t23-1 mnist         fisher_mala            1053.455   35.680   811.522   19.165   439.580   52.800
t23-2 inhomogeneous mala                  13695.291 1369.515     9.793    0.655     2.943    0.130
t23-2 inhomogeneous ada_mala               4310.690  606.618    70.802   14.912     9.225    3.272
t23-2 inhomogeneous hmc                   19362.103 1372.400   381.205  101.781    42.033   33.080
t23-2 inhomogeneous mmala                  2354.354   65.835  2014.801   23.713  1490.119  108.745
t23-2 inhomogeneous fisher_mala            2347.340   70.234  2002.579   30.001  1500.983   67.087
t23-3 heart         mala                     68.774   25.304     5.354    1.056     2.898    0.104
t23-3 heart         ada_mala                208.636  124.762    14.762    9.134     3.781    0.731
t23-3 heart         hmc                     387.321  311.673    12.991    4.009     4.064    1.120
t23-3 heart         mmala                   878.858 1079.674   789.356  969.806   651.793  806.477
t23-3 heart         fisher_mala            4864.278  103.277  4474.288  102.029  3954.793  199.832
t23-4 german        mala                    262.206  211.839     5.932    0.668     2.972    0.212
t23-4 german        ada_mala                223.592  111.914    16.111    5.058     3.774    0.653
t23-4 german        hmc                   10439.824 9572.157    45.872    7.823     5.431    1.257
t23-4 german        mmala                  3066.605  100.768  2767.022   94.222  2342.902  112.610
t23-4 german        fisher_mala            3951.807   78.858  3582.184   90.551  3011.483  258.154
t23-5 australian    mala                     15.627   12.892     3.823    1.166     2.611    0.538
t23-5 australian    ada_mala               1525.373 1600.986     6.986    3.200     3.297    0.456
t23-5 australian    hmc                    1282.235  932.038     6.966    1.249     2.856    0.095
t23-5 australian    mmala                  2609.462  881.967  2308.175  776.872  1869.364  630.880
t23-5 australian    fisher_mala            4732.724  116.074  4361.969  104.750  3772.086  265.170
t23-6 ripley        mala                   2058.325  180.839   496.981   68.029   427.492   60.006
t23-6 ripley        ada_mala               9678.793  384.295  9497.814  463.059  9272.026  412.361
t23-6 ripley        hmc                   18403.796 3202.136 18254.161 3513.550  7644.709 2288.559
t23-6 ripley        mmala                  9333.633  280.238  8941.579  288.223  8655.640  396.106
t23-6 ripley        fisher_mala            9875.968  218.801  9673.009  280.759  9244.631  559.137
t23-7 gp100         fisher_mala:increment  2064.940   87.943  1916.990   85.208  1794.114  103.711
t23-7 gp100         fisher_mala:paired     1802.141  142.784  1583.570  109.241  1226.303  244.752
t23-7 inhomogeneous fisher_mala:increment  2351.481   78.894  2012.243   30.024  1489.617  133.619
t23-7 inhomogeneous fisher_mala:paired     1941.994  106.710  1147.138   61.591   109.160   57.998
t23-7 heart         fisher_mala:increment  4893.063  107.068  4455.591   98.542  3977.741  194.922
t23-7 heart         fisher_mala:paired     4804.365  176.747  2519.187  693.945   441.434  386.287
t23-7 german        fisher_mala:increment  3979.744   79.647  3616.894  104.722  3031.384  228.345
t23-7 german        fisher_mala:paired     3960.773  105.169  3097.557  252.619   397.034  244.768
t23-7 australian    fisher_mala:increment  4711.549  115.329  4364.347   95.004  3790.949  253.464
t23-7 australian    fisher_mala:paired     4887.606  173.626  3603.765  725.018    84.202   44.750
t23-7 ripley        fisher_mala:increment  9852.895  281.295  9679.384  303.946  9272.040  581.732
t23-7 ripley        fisher_mala:paired     9869.053  321.031  9598.430  330.766  9217.330  584.224
t23-7 pima          fisher_mala:increment  6448.999  199.817  5977.292  122.852  5585.217  160.586
t23-7 pima          fisher_mala:paired     6048.419  650.262  2618.271  889.425   788.687  388.978
t23-7 caravan       fisher_mala:increment  2241.262   47.873  1908.045   62.430   509.913  115.563
t23-7 caravan       fisher_mala:paired     1930.109  208.848  1107.987   83.439    87.456   90.858
t23-7 mnist         fisher_mala:increment  1036.138   32.399   803.210   16.163   437.325   40.040
t23-7 mnist         fisher_mala:paired      301.055   37.597    13.819    1.127     3.176    0.113
t23-8 gp100         fisher_mala:score      1740.943  157.871   518.924  579.639    48.218  117.349
t23-8 ripley        fisher_mala:score      9881.540  353.377  9636.357  313.009  9237.885  710.741
t23-8 pima          fisher_mala:score      5520.181 1781.518   474.990  587.788    65.313   59.316
t23-8 caravan       fisher_mala:score      1602.723  164.497    14.226    4.429     3.298    0.141
t23-8 mnist         fisher_mala:score       271.629   22.918    22.147    1.683     3.744    0.139
"""


def _parse(line: str) -> Published:
    """Read one line of the block above."""
    table, target, method, *cells = line.split()
    pairs = [(float(m), float(s)) for m, s in zip(cells[::2], cells[1::2], strict=True)]
    figures = dict(zip(("max", "median", "min"), pairs, strict=True))
    return Published("t23", table, target, method, figures)


TITSIAS_2023: tuple[Published, ...] = tuple(_parse(line) for line in _ROWS.strip().split("\n"))

# Figure 4, plotted by box for the four targets of Table 1: sigma^2 in the end, for preconditioners
# of trace d, is "significantly larger in all cases" for FisherMALA.
_FIGURE_4 = tuple(
    Ranking("t23", target, "fisher_mala", other, "sigma^2", "Figure 4")
    for target in ("gp100", "pima", "caravan", "mnist")
    for other in ("mala", "ada_mala")
)
TITSIAS_2023_RANKINGS: tuple[Ranking, ...] = (
    *of_tables((row for row in TITSIAS_2023 if ":" not in row.method), "min"),
    *_FIGURE_4,
)
