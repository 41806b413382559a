"""Prefixes: codes such as postcodes lose their last characters, or their first."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import is_integer, require
from sfumato.errors import HierarchyError
from sfumato.hierarchies.hierarchy import ROOT, Hierarchy, check_settings
from sfumato.io._values import format_values

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CODE_LENGTH = 64


@dataclass(frozen=True, init=False, repr=False)
class Prefixes:
    """Keep fewer and fewer characters of a code: `53715`, `5371*`, `537**`, ..., `*`.

    Codes of different lengths are padded with spaces on the right to the longest, so that all labels of a
    level have the same length: next to `53715`, the code `537` becomes `537 *`, `537**`, `53***`.
    Numbers are read as text.

    Parameters
    ----------
    lengths : how many characters each level keeps, decreasing. By default all lengths from one less than
        the longest code down to 1. A level that keeps as many characters as the longest code repeats the codes.
    keep : which characters are kept, the `"first"` or the `"last"`: `**715`. Codes are padded on the other side.

    Examples
    --------
    >>> Prefixes(3, 1).build(pa.array(["53715", "53703", "90210"])).labels[1:]
    (('537**', '902**'), ('5****', '9****'), ('*',))
    >>> Prefixes(3, keep="last").build(pa.array(["53715", "24715"])).labels[1]
    ('**715',)
    """

    kind: ClassVar[str] = "prefixes"
    scale: ClassVar[str] = "categorical"

    lengths: tuple[int, ...]
    keep: Literal["first", "last"]

    def __init__(self, *lengths: int, keep: Literal["first", "last"] = "first") -> None:
        require(
            all(is_integer(n) and n >= 1 for n in lengths),
            self,
            "lengths",
            "whole numbers of at least 1",
            lengths,
        )
        falling = all(below > above for below, above in itertools.pairwise(lengths))
        require(falling, self, "lengths", "decreasing, since each level keeps less than the one below", lengths)
        require(keep in ("first", "last"), self, "keep", "'first' or 'last'", keep)
        object.__setattr__(self, "lengths", lengths)
        object.__setattr__(self, "keep", keep)

    def __repr__(self) -> str:
        keep = [] if self.keep == "first" else [f"keep={self.keep!r}"]
        return f"Prefixes({', '.join([*map(str, self.lengths), *keep])})"

    def build(self, values: pa.Array) -> Hierarchy:
        """Build the hierarchy over the distinct, nonmissing values of a column."""
        codes: list[str] = [self._reverse(code) for code in format_values(values).to_pylist()]
        longest = max(map(len, codes), default=0)
        if longest > MAX_CODE_LENGTH and not self.lengths:
            raise HierarchyError(
                f"Prefixes needs codes of at most {MAX_CODE_LENGTH} characters, but the longest has {longest}; "
                "give the lengths to keep, as in Prefixes(8, 4)."
            )
        codes.sort(key=lambda code: (code.ljust(longest), code))
        lengths = self.lengths or range(longest - 1, 0, -1)
        widest = max((length for length in lengths if length < longest), default=0)
        fronts = [code[:widest].ljust(widest) for code in codes]
        shared = _shared_with_previous(fronts, widest)
        leaves = [self._reverse(code) for code in codes]
        columns = [self._mask(fronts, shared, length, longest) if length < longest else leaves for length in lengths]
        return Hierarchy.from_levels(leaves, [leaves, *columns, [ROOT] * len(leaves)], ordered=True)

    def find_uncovered(self, values: pa.Array) -> pa.Array:
        """Return no texts: every code has a prefix."""
        return format_values(values.slice(0, 0))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain numbers, strings, lists and dictionaries."""
        lengths = {"lengths": list(self.lengths)} if self.lengths else {}
        return {"kind": self.kind, **lengths, **({} if self.keep == "first" else {"keep": self.keep})}

    @classmethod
    def from_dict(cls, settings: Mapping[str, object]) -> Self:
        """Rebuild the prefixes from the settings returned by `to_dict`."""
        check_settings(cls.kind, settings, {"lengths", "keep"})
        lengths = settings.get("lengths", [])
        require(isinstance(lengths, list), cls.__name__, "lengths", "a list", lengths)
        return cls(*cast("list[int]", lengths), keep=cast("Literal['first']", settings.get("keep", "first")))

    def _reverse(self, code: str) -> str:
        """Turn a code around if its end is kept, so that what is kept always comes first."""
        return code if self.keep == "first" else code[::-1]

    def _mask(self, fronts: list[str], shared: npt.NDArray[np.intp], length: int, longest: int) -> pa.Array:
        starts = np.append(True, shared < length)[: len(fronts)]
        stars = "*" * (longest - length)
        labels = [self._reverse(fronts[leaf][:length] + stars) for leaf in np.flatnonzero(starts).tolist()]
        nodes = np.cumsum(starts, dtype=np.int32) - 1
        return pa.DictionaryArray.from_arrays(pa.array(nodes, pa.int32()), pa.array(labels, pa.string()))


def _shared_with_previous(fronts: list[str], width: int) -> npt.NDArray[np.intp]:
    if not fronts or not width:
        return np.zeros(max(len(fronts) - 1, 0), dtype=np.intp)
    letters = np.array(fronts, dtype=f"U{width}").view(np.uint32).reshape(len(fronts), width)
    same = letters[1:] == letters[:-1]
    return np.where(same.all(axis=1), width, same.argmin(axis=1))
