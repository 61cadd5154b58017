"""The modelling language: declarations, binding of data, printing, loading."""

from probmodel.model.declarations import data, deterministic, observed, param, potential
from probmodel.model.drawing import to_svg
from probmodel.model.files import read_data
from probmodel.model.loading import load_model
from probmodel.model.model import Model, ModelMeta
from probmodel.model.model_graph import to_dot

__all__ = [
    "Model",
    "ModelMeta",
    "data",
    "deterministic",
    "load_model",
    "observed",
    "param",
    "potential",
    "read_data",
    "to_dot",
    "to_svg",
]
