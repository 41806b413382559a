"""Files of positions, one per person, and of the regions in place of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.exceptions import SchemaError
from sfumato.places.columns import NAMES
from sfumato.places.earth import Floats
from sfumato.places.planar_laplace import degrees_of
from sfumato.places.squares import Regions
from sfumato.table.read import read
from sfumato.table.write import write


def read_positions(path: Path) -> tuple[Floats, Floats]:
    """Read longitudes and latitudes from a file."""
    table = read(path)
    names = [next((each for each in known if each in table.column_names), None) for known in NAMES.values()]
    if None in names:
        raise SchemaError("The table of places has no columns 'longitude' and 'latitude'; rename its columns.")
    return degrees_of(np.column_stack([table[str(name)].cast(pa.float64()).to_numpy() for name in names]))


def write_regions(regions: Regions, path: Path) -> None:
    """Write the sides of every person's region, in degrees."""
    write(pa.table(regions.to_degrees()), path)
