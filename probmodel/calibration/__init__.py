"""Simulation-based calibration: whether inference gives back what the model was told."""

from probmodel.calibration.result import Calibration
from probmodel.calibration.run import sbc

__all__ = ["Calibration", "sbc"]
