"""Names of classes in other spellings."""

from __future__ import annotations

import re

# Between a small letter or a digit and a capital one, and before the last capital of several.
_BORDER = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake_case(name: str) -> str:
    """Return ``mv_normal`` for ``MvNormal``, and ``lkj_cholesky`` for ``LKJCholesky``."""
    return _BORDER.sub("_", name).lower()
