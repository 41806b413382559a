"""The result of a fusion: the table, which is the same at all parties, its audit, and what each party learned."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path

import pyarrow as pa

from sfumato.judging.audit.audit import Audit
from sfumato.schema.schema import Schema


@dataclass(frozen=True, kw_only=True)
class Learned:
    """One thing that a party learned from the others, or told them."""

    round: int
    winner: str
    attribute: str
    node: str
    children: tuple[str, ...]
    records: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Fused:
    """One anonymous table with the attributes of all parties.

    `published` is the table, with rows sorted by what they show, the same at all parties. `transcript` lists every
    specialization in order: who won the round, and how many records went to which child. Besides that, a party learns
    the number of common people, which of its own people are common, and the length of the others' lists. `warning`
    names attributes that no requirement names, which are published more finely than readers may expect.
    """

    published: pa.Table = field(repr=False)
    schema: Schema = field(repr=False)
    audit: Audit
    transcript: Sequence[Learned] = field(repr=False)
    lengths: tuple[int, ...]
    warning: str | None = None

    @property
    def rounds(self) -> int:
        """The number of specializations."""
        return len(self.transcript)

    def __repr__(self) -> str:
        return (
            f"Fused: {self.published.num_rows:,} people, {self.published.num_columns} columns, "
            f"{self.rounds:,} rounds\n{self.audit!r}" + (f"\n{self.warning}" if self.warning else "")
        )

    def write(self, folder: str | PathLike[str], *, agreed: Callable[[], None] | None = None) -> None:
        """Write `table.csv` and `audit.json`, which are safe to share, and `transcript.json`, which is not.

        `agreed` is called when all is written and before it is moved into place; if it raises, nothing is there.
        """
        from sfumato.table.atomic import atomic_folder
        from sfumato.table.write import write

        with atomic_folder(Path(folder), replace=False) as made:
            write(self.published, made / "table.csv")
            self._write_json(made / "audit.json", self.audit.to_dict())
            self._write_json(made / "transcript.json", [asdict(each) for each in self.transcript])
            if agreed is not None:
                agreed()

    def _write_json(self, path: Path, content: object) -> None:
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
