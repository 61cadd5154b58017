"""A walk over a netCDF file that reads all of its structure, to be run in a process of its own.

The HDF5 library can crash or loop for ever in a damaged file, where no exception and no Ctrl-C
gets through. What kills this process shows that the file must not be opened in the user's.
"""

from __future__ import annotations

import faulthandler
import sys
from typing import Any

DAMAGED = 3
PATIENCE = 20  # seconds for one step, none of which takes a hundredth of that in a sound file


def walk(path: str) -> int:
    """Read the names, attributes, types and places of everything in a file.

    Returns the bytes that its arrays take in memory.
    """
    import h5py

    size = 0

    def step(name: str, item: Any) -> None:
        nonlocal size
        for attribute in item.attrs:
            _be_patient()
            item.attrs[attribute]
        if isinstance(item, h5py.Dataset):
            size += item.size * item.dtype.itemsize if item.size else 0
            for dim in item.dims:
                list(dim)
            if item.chunks:
                _be_patient()
                item.id.get_num_chunks()

    with h5py.File(path, "r") as file:
        _be_patient()
        step("/", file)
        file.visititems(step)
    return size


def _be_patient() -> None:
    faulthandler.dump_traceback_later(PATIENCE, exit=True)


if __name__ == "__main__":
    try:
        sys.stdout.write(str(walk(sys.argv[1])))
    except Exception as error:
        sys.stdout.write(str(error))
        sys.exit(DAMAGED)
