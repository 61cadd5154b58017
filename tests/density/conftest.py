"""Modules of helpers in this folder are made importable for its tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
