"""The state of a stream as a file: arrays and JSON under a checksum, nothing executable."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.condensing.columns import ColumnType, SynthesizedColumn
from sfumato.condensing.stream_state import StreamState
from sfumato.exceptions import ReadError
from sfumato.table.atomic import atomic_path

TITLE = b"sfumato condensation stream, format "
FORMAT = 1
ARRAYS = ("seen", "center", "spread", "sizes", "means", "scatter")


def write_stream_state(path: Path, header: dict[str, Any], state: StreamState | None) -> None:
    """Write a header and, if there is one, a state."""
    arrays: dict[str, Any] = {}
    if state is not None:
        arrays = {name: getattr(state, name) for name in ARRAYS}
        arrays |= {f"counts_{place}": counts for place, counts in enumerate(state.counts)}
        header = header | {
            "groups": state.groups,
            "held": [[column.name, column.kind.value, column.numeric] for column in state.columns],
            "values": state.values,
        }
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    content = buffer.getvalue()
    with atomic_path(path) as temporary:
        temporary.write_bytes(TITLE + f"{FORMAT}\n{hashlib.sha256(content).hexdigest()}\n".encode() + content)


def read_stream_state(path: Path) -> tuple[dict[str, Any], StreamState | None]:
    """Read what `write_state` wrote; refuse files that are something else, truncated or altered."""
    try:
        written = path.read_bytes()
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}.") from None
    title, _, rest = written.partition(b"\n")
    if not title.startswith(TITLE):
        raise ReadError(f"{path} is not the state of a condensation stream.")
    version = title.removeprefix(TITLE)
    if version != str(FORMAT).encode():
        raise ReadError(f"{path} does not have format {FORMAT}; read it with the version of Sfumato that wrote it.")
    checksum, _, content = rest.partition(b"\n")
    if checksum != hashlib.sha256(content).hexdigest().encode():
        raise ReadError(f"{path} is truncated or was altered; go back to an earlier copy.")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return _parse_arrays({name: arrays[name] for name in arrays.files})
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        raise ReadError(f"{path} is not a complete state of a condensation stream.") from None


def _parse_arrays(arrays: dict[str, Any]) -> tuple[dict[str, Any], StreamState | None]:
    header = json.loads(arrays["header"].tobytes())
    if "held" not in header:
        return header, None
    columns = tuple(SynthesizedColumn(name, ColumnType(kind), numeric) for name, kind, numeric in header["held"])
    state = StreamState(
        columns=columns,
        groups=header["groups"],
        values=header["values"],
        counts=[arrays[f"counts_{place}"] for place in range(len(header["values"]))],
        **{name: arrays[name] for name in ARRAYS},
    )
    empty = StreamState.empty(columns, header["settings"]["most_groups"])
    fitting = all(getattr(state, name).shape == getattr(empty, name).shape for name in ARRAYS)
    room = len(state.sizes)
    fitting &= all(each.shape == (room, len(found)) for each, found in zip(state.counts, state.values, strict=True))
    if not fitting or not 1 <= state.groups <= room:
        raise ValueError
    return header, state
