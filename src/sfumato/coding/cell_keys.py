"""Keys of many combinations, made block by block, so that they stay in the fastest memory while they are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.threads import count_workers

Result = TypeVar("Result")
Keys = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.unsignedinteger]
BLOCK = 1 << 14


@dataclass(frozen=True, eq=False)
class CombinationKeys:
    """The keys of combinations: for every pack, its codes and what each code adds to the key.

    Parameters
    ----------
    codes : the codes of every pack.
    addends : what each of its codes adds.
    span : a number that all keys are below.
    """

    codes: Sequence[Numbers]
    addends: Sequence[Keys]
    span: int

    def count(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Sum the weights in every cell; whole numbers, so that their order does not matter."""
        from sfumato.coding.kernels import cell_counting as kernel

        def of_part(start: int, stop: int) -> npt.NDArray[np.float64]:
            cells = np.zeros(self.span)
            for first, keys in self._blocks(start, stop):
                kernel.add_weights(keys, weights[first : first + len(keys)], cells)
            return cells

        parts = self._map_in_threads(of_part, len(weights))
        for other in parts[1:]:
            parts[0] += other
        return parts[0]

    def last_places(self, rows: int) -> npt.NDArray[np.int32]:
        """Find the last combination of every cell; anything where there is none."""
        from sfumato.coding.kernels import cell_counting as kernel

        places = np.zeros(self.span, dtype=np.int32)
        for first, keys in self._blocks(0, rows):
            kernel.record_positions(keys, first, places)
        return places

    def all(self, rows: int) -> npt.NDArray[np.integer]:
        """Return the keys of all combinations."""
        small = self.span <= np.iinfo(np.int32).max
        keys: npt.NDArray[np.integer] = np.empty(rows, dtype=np.int32 if small else np.int64)

        def of_part(start: int, stop: int) -> None:
            for first, own in self._blocks(start, stop):
                keys[first : first + len(own)] = own

        self._map_in_threads(of_part, rows)
        return keys

    def _blocks(self, start: int, stop: int) -> Iterator[tuple[int, Keys]]:
        """Yield keys block by block, each with the place of its first; a block is gone when the next one comes."""
        from sfumato.coding.kernels import cell_counting as kernel

        room = np.empty(min(BLOCK, stop - start), dtype=np.int64)
        for first in range(start, stop, BLOCK):
            keys = room[: min(BLOCK, stop - first)]
            keys[:] = 0
            for codes, addends in zip(self.codes, self.addends, strict=True):
                kernel.add_to_keys(codes[first : first + len(keys)], addends, keys)
            yield first, keys

    @staticmethod
    def _map_in_threads(work: Callable[[int, int], Result], rows: int) -> list[Result]:
        edges = np.linspace(0, rows, count_workers() + 1).astype(int).tolist()
        with ThreadPoolExecutor(len(edges) - 1) as pool:
            return [job.result() for job in [pool.submit(work, *edge) for edge in pairwise(edges)]]
