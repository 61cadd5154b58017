# The commands that made the rows of papers and their figures, all with the default seed. Where two
# have runs of the same method, those of the later one are in the file of the paper.
papers() { python benchmarks/papers.py "$@"; }
papers --table td19-1 --repeats 5 --csv titsias2019.csv
papers --table td19-1 --methods am --repeats 10 --csv am.csv
papers --table gp100 pima inhomogeneous heart german australian ripley --repeats 5 --methods mala ada_mala mmala fisher_mala --csv small.csv
papers --table gp100 pima heart german australian --methods ada_mala --repeats 10 --csv ada_mala.csv
papers --table caravan --methods fisher_mala ada_mala mala mmala --repeats 3 --csv caravan.csv
papers --table mnist --methods fisher_mala --repeats 3 --csv mnist.csv
papers --table mnist --methods mala ada_mala --repeats 3 --csv mnist_other.csv
papers --table mnist --methods hmc --repeats 3 --csv mnist_hmc.csv # its second repeat was not run
papers --table gp100 inhomogeneous heart german australian ripley pima caravan --methods fisher_mala --signals --repeats 3
papers --table mnist --methods fisher_mala:paired fisher_mala:score fisher_mala:increment --repeats 3 --csv signals_mnist.csv
papers --table zhu-1 --methods rwm mtm --repeats 3 --scale 0.01 --warmup-scale 0.05 --csv zhu_rwm.csv
papers --table zhu-1 --methods am --repeats 3 --scale 0.02 --warmup-scale 0.15 --csv zhu_am.csv
papers --table mnist_7v9 --methods sa_mcmc:full sa_mcmc:diag_normal --repeats 3 --scale 0.03 --warmup-scale 0.5 --csv zhu_sa_mnist.csv
papers --table mnist_7v9 --methods sa_mcmc:diag --repeats 3 --scale 0.2 --warmup-scale 0.5 --csv zhu_diag_mnist.csv
papers --table mnist_7v9 linear --methods nuts --repeats 3 --scale 0.1 --csv zhu_nuts.csv
papers --table census --methods sa_mcmc --repeats 3 --scale 0.02 --warmup-scale 0.5 --csv zhu_sa_census.csv
papers --table census --methods nuts --repeats 3 --scale 0.02 --csv zhu_nuts_census.csv
papers --table covtype --methods am:full --repeats 3 --scale 0.02 --warmup-scale 0.15 --csv zhu_covtype_am.csv
papers --table covtype --methods sa_mcmc:full --repeats 3 --scale 0.02 --warmup-scale 0.5 --csv zhu_covtype_sa.csv
papers --table zhu-linear --methods rwm mtm am:diag sa_mcmc --repeats 3 --scale 0.05 --warmup-scale 1 --csv zhu_linear.csv
papers --table hirt-gaussians --repeats 3 --scale 0.2 --methods entropy_hmc:gsm:5 entropy_hmc:esjd:5 entropy_hmc:l2hmc:5 --csv hirt2021.csv
papers --table gauss51 --methods entropy_hmc:gsm:1 entropy_hmc:gsm:5 entropy_hmc:gsm:10 entropy_hmc:esjd:1 entropy_hmc:esjd:5 entropy_hmc:esjd:10 entropy_hmc:l2hmc:1 entropy_hmc:l2hmc:5 entropy_hmc:l2hmc:10 hmc:1 hmc:5 hmc:10 --repeats 3 --engine model --csv hirt_gauss51.csv
papers --table hirt-sv --methods entropy_hmc:gsm:tridiagonal:5 entropy_hmc:gsm:diag:5 hmc:5 --repeats 3 --csv hirt_sv.csv
papers --table hirt-logistic hirt-cox --methods entropy_hmc:gsm:1 entropy_hmc:gsm:10 --repeats 3 --csv hirt_steps.csv
papers --table caravan_unit --methods entropy_hmc:gsm:1 entropy_hmc:gsm:5 entropy_hmc:gsm:10 --repeats 3 --csv hirt_caravan.csv
papers --table ill_conditioned --methods entropy_hmc:gsm:1 entropy_hmc:esjd:1 entropy_hmc:l2hmc:1 entropy_hmc:gsm:5 entropy_hmc:esjd:5 entropy_hmc:l2hmc:5 --repeats 3 --csv hirt_ill.csv
papers --table ill_conditioned --methods entropy_hmc:gsm:10 entropy_hmc:esjd:10 entropy_hmc:l2hmc:10 hmc:1 hmc:5 hmc:10 --repeats 3 --engine model --csv hirt_ill_10.csv
papers --table gauss51 --methods nuts --repeats 3 --scale 0.05 --engine model --csv hirt_gauss51_nuts.csv
papers --table anisotropic_1000 --methods entropy_hmc:gsm:1 entropy_hmc:esjd:1 entropy_hmc:l2hmc:1 hmc:1 --repeats 3 --engine model --csv hirt_anisotropic.csv
papers --table anisotropic_1000 --methods entropy_hmc:gsm:5 entropy_hmc:esjd:5 entropy_hmc:l2hmc:5 --repeats 3 --csv hirt_anisotropic_5.csv
papers --table anisotropic_1000 --methods entropy_hmc:gsm:10 entropy_hmc:esjd:10 entropy_hmc:l2hmc:10 hmc:10 hmc:5 --repeats 3 --engine model --csv hirt_anisotropic_10.csv
papers --table anisotropic_1000 --methods nuts nuts:diag --repeats 3 --scale 0.1 --engine model --csv hirt_anisotropic_nuts.csv
papers --table anisotropic_10000 --methods entropy_hmc:gsm:1 entropy_hmc:gsm:5 entropy_hmc:gsm:10 --repeats 3 --scale 0.05 --engine model --csv hirt_anisotropic_10000.csv
papers --table caravan_unit --methods nuts --repeats 3 --scale 0.05 --csv hirt_caravan_nuts.csv
papers --table banana --methods hmc:5 --repeats 3 --scale 0.2 --csv hirt_banana_hmc.csv
papers --table hirt-banana --repeats 3 --scale 0.05 --csv hirt_banana.csv
papers --table wang-figure2 --methods ahmc nuts --repeats 10 --csv wang_hmc.csv
papers --table wang-figure2 --methods armhmc rmhmc rmhmc:steered --repeats 3 --csv wang_rmhmc.csv
papers --table ripley_wide --methods armhmc rmhmc --repeats 10 --csv wang_ripley.csv # seven repeats of rmhmc
papers --table wang-table1 --methods nuts --repeats 3 --csv wang_nuts.csv
papers --table wang-table1 --methods ahmc --repeats 3 --csv wang_ahmc.csv
papers --table td19-others --methods gad_mala gad_mala_exact gad_rwm am rwm mala hmc:5 hmc:10 hmc:20 nuts --repeats 3 --engine model --csv td19_others.csv
papers --table td19-1 --methods hmc:5 hmc:20 --repeats 3 --csv td19_hmc.csv
papers --table td19:caravan td19:neal100 --methods nuts --repeats 3 --csv td19_nuts.csv
papers --table td19:mnist --methods gad_mala gad_mala_exact gad_rwm am rwm mala --repeats 3 --csv td19_mnist.csv
papers --table td19:mnist --methods hmc:5 hmc:10 hmc:20 --repeats 3 --scale 0.05 --csv td19_mnist_hmc.csv
papers --table cox_joint_64 --methods ahmc nuts hmc:fixed --repeats 3 --csv wang_cox64.csv
papers --table cox_16 --methods rmhmc:steered rmhmc armhmc --repeats 3 --scale 0.05 --csv wang_cox16.csv
papers --table german_wide --methods rmhmc:steered --repeats 3 --csv wang_german.csv
papers --figure td19-1 td19-2 t23-1 t23-2 t23-3 t23-15 wang-1 wang-4 zhu-2 hirt-19 hirt-21 --plots benchmarks/results
papers --figure zhu-3 --scale 0.05 --warmup-scale 1 --plots benchmarks/results
papers --figure zhu-5 --scale 0.03 --warmup-scale 0.6 --chains 4 --plots benchmarks/results
papers --figure zhu-5 --scale 0.03 --warmup-scale 1 --chains 4 --plots benchmarks/results
papers --figure zhu-4 --scale 0.03 --warmup-scale 0.5 --chains 4 --plots benchmarks/results

# The reports of the rows that are stored; the first line of each has its own command.
python benchmarks/summary.py --write
