"""Why a figure differs from the published one, where the reason is known."""

from __future__ import annotations

# (paper, target, method, statistic) -> sentence printed beside the number; the statistic "*" stands
# for all of them
EXPLAINED: dict[tuple[str, str, str, str], str] = {
    ("t23", "heart", "mmala", "*"): (
        "The published spread is larger than the mean: some of the paper's repeats failed."
    ),
    ("t23", "caravan", "mmala", "*"): (
        "The paper gives neither the drift nor the first step of its mMALA, and reports a spread "
        "of a third to a half of the mean."
    ),
    ("t23", "mnist", "mmala", "*"): (
        "The paper gives neither the drift nor the first step of its mMALA."
    ),
}


def explanation(paper: str, target: str, method: str, statistic: str) -> str:
    """Return the sentence for a figure, empty if there is none."""
    for key in (statistic, "*"):
        if sentence := EXPLAINED.get((paper, target, method, key)):
            return sentence
    return ""
