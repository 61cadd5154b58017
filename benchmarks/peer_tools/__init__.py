"""The tools of `peers`, a file each, and the posteriors that all of them sample.

The file of a tool has

- ``PACKAGES`` : those whose versions are told
- ``prepare(case, data)`` : returns ``run(seed, more)``, which gives draws of every parameter of
  `Case.names`, (chains, draws, ...); ``more`` multiplies the number of draws that the tool makes
  by default. What the tool can compile once for several runs is kept by ``run``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Draws = dict[str, Any]
Run = Callable[[int, float], Draws]
TOOLS = {
    "probmodel": "peer_tools.ours",
    "numpyro": "peer_tools.numpyro_nuts",
    "nutpie": "peer_tools.nutpie_nuts",
    "blackjax": "peer_tools.blackjax_chees",
}
OURS = "probmodel"
