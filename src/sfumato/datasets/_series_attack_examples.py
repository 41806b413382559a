"""Six made-up patients who are published twice, for every attack on a series: so that it succeeds, and so that not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from sfumato.datasets._attack_examples import ANYTHING, EXACT
from sfumato.schema.schema import Schema

NAMES: Final = dict(zip("abcdef", ("Ann", "Bob", "Cara", "Dan", "Eve", "Fred"), strict=True))
DISEASES: Final = {
    "u": "asthma",
    "v": "gastritis",
    "w": "influenza",
    "x": "lung cancer",
    "y": "migraine",
    "z": "stomach ulcer",
}
COUNTERFEIT: Final = "*"
SHOWN: Final = "="
_GROUP: Final = re.compile(r"([a-f*]+)([:=])([u-z]+)(?:/([0-9]+))?")

Pairs = tuple[tuple[pa.Table, pa.Table], ...]


@dataclass(frozen=True, kw_only=True)
class SeriesAttackExample:
    """One attack on two releases about at most six patients, Ann to Fred, who are called a to f.

    Releases are written down by groups: `abc:xyz` says that a, b and c are in one group, which shows x, y and z. A star
    is a counterfeit, `b=y` is a cell that is shown, and digits after a slash are the wards beside the values.

    Parameters
    ----------
    name : the name of the attack.
    truth : the value of every patient, in their order.
    present : who is in each version.
    broken : the releases that the attack succeeds on.
    kept : releases of the same versions that it fails on.
    """

    name: str
    truth: str
    present: tuple[str, ...]
    broken: tuple[str, ...]
    kept: tuple[str, ...]

    @property
    def schema(self) -> Schema:
        """The roles of the columns."""
        return Schema(identifiers=["name"], quasi_identifiers=["age", "sex"], sensitive=["disease"])

    @property
    def before(self) -> Pairs:
        """The releases that the attack succeeds on, each with its original."""
        return self._tables(self.broken)

    @property
    def after(self) -> Pairs:
        """Releases that it fails on, each with its original."""
        return self._tables(self.kept)

    def _tables(self, releases: Sequence[str]) -> Pairs:
        return tuple(
            (_published_table(release), self._original(persons))
            for release, persons in zip(releases, self.present, strict=True)
        )

    def _original(self, persons: str) -> pa.Table:
        values = dict(zip(NAMES, self.truth, strict=True))
        return pa.table(
            {
                "name": [NAMES[person] for person in persons],
                "age": [_external_value(person, "age") for person in persons],
                "sex": [_external_value(person, "sex") for person in persons],
                "disease": [DISEASES[values[person]] for person in persons],
            }
        )


@dataclass(frozen=True)
class _Row:
    person: str
    bucket: int | None
    disease: str
    ward: str | None


def _parse_release(release: str) -> Iterator[_Row]:
    """Read a release: persons stand in their order, values in theirs, so that rows do not tell who has which."""
    for number, group in enumerate(release.split()):
        found = _GROUP.fullmatch(group)
        assert found is not None  # noqa: S101 - written below
        persons, kind, values, wards = found.groups()
        for place, (person, value) in enumerate(zip(persons, values, strict=True)):
            bucket = None if kind == SHOWN else number
            yield _Row(person, bucket, DISEASES[value], None if wards is None else wards[place])


def _published_table(release: str) -> pa.Table:
    rows = list(_parse_release(release))
    shown = [row.person != COUNTERFEIT for row in rows]
    columns: dict[str, list[object]] = {
        name: [_external_value(row.person, name) if real else ANYTHING for row, real in zip(rows, shown, strict=True)]
        for name in EXACT
    }
    columns["age"] = [str(age) for age in columns["age"]]
    columns["disease"] = [row.disease for row in rows]
    together = "disease"
    if all(row.ward is not None for row in rows):
        columns["ward"] = [row.ward for row in rows]
        together = "disease+ward"
    columns[f"_bucket_{together}"] = [row.bucket for row in rows]
    return pa.table(columns)


def _external_value(person: str, name: str) -> object:
    return EXACT[name]["abcdef".index(person)]


_EXAMPLES: Final = (
    SeriesAttackExample(
        name="intersection",
        truth="xyzuvw",
        present=("abcdef", "abcdef"),
        broken=("abc:xyz def:uvw", "ade:uvx bcf:wyz"),
        kept=("abc:xyz def:uvw", "abc:xyz def:uvw"),
    ),
    SeriesAttackExample(
        name="difference",
        truth="xyzxuv",
        present=("abcef", "abcdef"),
        broken=("abc:xyz ef:uv", "abcd:xxyz ef:uv"),
        kept=("abc:xyz ef:uv", "abc:xyz ef:uv"),
    ),
    SeriesAttackExample(
        name="forward-comparison",
        truth="xyzuvw",
        present=("abc", "abcdef"),
        broken=("abc:xyz", "ade:uvx bcf:wyz"),
        kept=("abc:xyz", "abc:xyz def:uvw"),
    ),
    SeriesAttackExample(
        name="cross-comparison",
        truth="xxyzuw",
        present=("abc", "abcdef"),
        broken=("abc:xxy", "ade:uxz bcf:wxy"),
        kept=("abc:xxy", "abc:xxy def:uwz"),
    ),
    SeriesAttackExample(
        name="backward-comparison",
        truth="xyxzzw",
        present=("abcd", "abcdef"),
        broken=("ab:xy cd:xz", "abe:xyz cdf:wxz"),
        kept=("ab:xy cd:xz", "ab:xy cd:xz ef:wz"),
    ),
    SeriesAttackExample(
        name="critical-absence",
        truth="xyxzzu",
        present=("abcdef", "acdef"),
        broken=("ab:xy cd:xz ef:uz", "adf:uxz ce:xz"),
        kept=("ab:xy cd:xz ef:uz", "a*:xy cd:xz ef:uz"),
    ),
    SeriesAttackExample(
        name="value-equivalence",
        truth="xyyxzw",
        present=("abcdef", "abcdef"),
        broken=("ab:xy cd:xy ef:wz", "ac:xy bd:xy ef:wz"),
        kept=("ab:xy cd:xy ef:wz", "ab:xy cd:xy ef:wz"),
    ),
    SeriesAttackExample(
        name="row-linking",
        truth="xyyxzw",
        present=("abef", "abcdef"),
        broken=("ab:xy/71 ef:wz/56", "ac:xy/72 bd:xy/31 ef:wz/56"),
        kept=("ab:xy ef:wz", "ac:xy bd:xy ef:wz"),
    ),
    SeriesAttackExample(
        name="un-flagging",
        truth="xyzuvw",
        present=("abcdef", "abcdef"),
        broken=("abc:xyz def:uvw", "b=y c=z adef:uvwx"),
        kept=("abc:xyz def:uvw", "abc:xyz d=u ef:vw"),
    ),
)


def series_attack_examples() -> tuple[SeriesAttackExample, ...]:
    """Return an example of two releases about six patients for every attack on a series.

    >>> first = series_attack_examples()[0]
    >>> first.name, first.broken
    ('intersection', ('abc:xyz def:uvw', 'ade:uvx bcf:wyz'))
    """
    return _EXAMPLES
