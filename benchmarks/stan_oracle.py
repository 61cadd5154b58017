"""Stan's own log densities, for `stan_corpus`. Runs in an environment with httpstan alone.

Standard input is a JSON object with the ``code`` of a program, its ``data`` and ``points``, each an
object of the values of all parameters. Printed is a JSON object: of each point, the unconstrained
``coordinates``, the log density ``value`` without the logarithms of Jacobians, and its
``gradient``; or, where there is none, an ``error``. Every point has what is ``derived``, too: by
name, parameters, transformed parameters and, if asked for, generated ``quantities``.
"""

import asyncio
import json
import math
import os
import sys
from typing import Any

FLAGS = ["-O0", "-std=c++14", "-Wno-sign-compare"]  # what is compiled runs a few times


def compiled(code: str) -> Any:
    """Return the module of a program, compiled unless it has been before."""
    import httpstan.models as models

    name = models.calculate_model_name(code)
    try:
        return models.import_services_extension_module(name)
    except (KeyError, ImportError):
        asyncio.run(models.build_services_extension_module(code, FLAGS))
        return models.import_services_extension_module(name)


def evaluated(module: Any, data: Any, values: Any, quantities: bool) -> dict[str, Any]:
    """Return what Stan says of a point."""
    try:
        x = module.transform_inits(data, values)
        value = module.log_prob(data, x, False)
        gradient = module.log_prob_grad(data, x, False)
        flat = module.write_array(data, x, True, quantities)
    except Exception as error:  # whatever its C++ raises
        return {"error": str(error)}
    named = zip(module.get_param_names(data), module.get_dims(data), strict=True)
    derived, start = {}, 0
    for name, shape in named:
        size = math.prod(shape)
        if start + size > len(flat):
            break
        derived[name] = {"values": list(flat[start : start + size]), "shape": list(shape)}
        start += size
    return {
        "coordinates": list(x), "value": value, "gradient": list(gradient), "derived": derived
    }  # fmt: skip


def arrays(given: dict[str, Any]) -> dict[str, Any]:
    """Return nested lists, with whether they are whole numbers, as arrays."""
    import numpy as np

    kinds = {"int": np.int64, "real": float}
    return {
        name: np.asarray(entry["values"], dtype=kinds[entry["kind"]]).reshape(entry["shape"])
        for name, entry in given.items()
    }


def main() -> None:
    """Read, compile, print."""
    asked = json.load(sys.stdin)
    printed = os.dup(1)
    os.dup2(2, 1)  # what compiler and program print is no result
    module = compiled(asked["code"])
    data = arrays(asked["data"])
    quantities = asked["quantities"]
    rows = [evaluated(module, data, arrays(point), quantities) for point in asked["points"]]
    with os.fdopen(printed, "w") as file:
        json.dump(rows, file)


if __name__ == "__main__":
    main()
