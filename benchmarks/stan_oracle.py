"""Stan's own log densities, for `stan_corpus`. Runs in an environment with httpstan alone.

Standard input is a JSON object with the ``code`` of a program, its ``data`` and ``points``, each an
object of the values of all parameters. Printed is a JSON object: of each point, the unconstrained
``coordinates``, the log density ``value`` without the logarithms of Jacobians, and its
``gradient``; or, where there is none, an ``error``.
"""

import asyncio
import json
import os
import sys
from typing import Any

FLAGS = ["-O1", "-std=c++14", "-Wno-sign-compare"]  # what is compiled runs a few times


def compiled(code: str) -> Any:
    """Return the module of a program, compiled unless it has been before."""
    import httpstan.models as models

    name = models.calculate_model_name(code)
    try:
        return models.import_services_extension_module(name)
    except (KeyError, ImportError):
        asyncio.run(models.build_services_extension_module(code, FLAGS))
        return models.import_services_extension_module(name)


def evaluated(module: Any, data: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return what Stan says of a point."""
    try:
        x = module.transform_inits(data, values)
        value = module.log_prob(data, x, False)
        gradient = module.log_prob_grad(data, x, False)
    except Exception as error:  # whatever its C++ raises
        return {"error": str(error)}
    return {"coordinates": list(x), "value": value, "gradient": list(gradient)}


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
    rows = [evaluated(module, data, arrays(point)) for point in asked["points"]]
    with os.fdopen(printed, "w") as file:
        json.dump(rows, file)


if __name__ == "__main__":
    main()
