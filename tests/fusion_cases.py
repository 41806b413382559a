"""Random things to fuse: persons, who knows what of them, how sensitive that is, and what must be kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from hypothesis import strategies as st

import fusion_oracle as oracle
from sfumato.fusion.party import Party
from sfumato.fusion.session import KAnonymityRequirement
from sfumato.hierarchies.taxonomy import Taxonomy

JOBS = {"office": ["clerk", "lawyer"], "outdoors": {"land": ["farmer"], "sea": ["sailor", "diver"]}}
GRADES = ["none", "school", "degree", "doctor"]
LEAVES = ["clerk", "lawyer", "farmer", "sailor", "diver"]
NAMES = ("north", "east", "south")
VALUES: dict[str, tuple[object, ...]] = {
    "age": tuple(range(20, 29)),
    "job": tuple(LEAVES),
    "sex": ("f", "m"),
    "grade": tuple(GRADES),
    "weight": (50.5, 61.25, 70.0),
}
TYPES = {"age": pa.int64(), "weight": pa.float64()}
FACTORS = st.sampled_from([0.1, 0.16, 0.25, 0.5, 0.7, 1.0, 3.0])


@dataclass(frozen=True)
class Case:
    """Persons that all parties have, and persons that only some have.

    `order` shuffles the rows of every party, `strangers` are rows that one party has alone.
    """

    cells: Mapping[str, list[object]]
    classes: list[str]
    owners: Mapping[str, int]
    party_factors: list[float]
    attribute_factors: Mapping[str, float]
    value_factors: Mapping[str, object]
    requirements: list[KAnonymityRequirement]
    orders: list[list[int]]
    strangers: list[int]

    @property
    def persons(self) -> int:
        """How many persons all parties have."""
        return len(self.classes)

    def table(self, names: list[str], order: list[int] | None = None, strangers: int = 0, tag: str = "") -> pa.Table:
        """Put columns together; rows in the given order, strangers last."""
        order = list(range(self.persons)) if order is None else order
        rows = [*order, *([order[0]] * strangers)]
        ids = [*(f"person-{row}" for row in order), *(f"{tag}-{number}" for number in range(strangers))]
        columns = {name: pa.array([self.cells[name][row] for row in rows], TYPES.get(name)) for name in names}
        return pa.table({"id": ids, "class": [self.classes[row] for row in rows], **columns})

    def parties(self) -> list[Party]:
        """Part everything among the parties."""
        made = []
        for number, factor in enumerate(self.party_factors):
            mine = [name for name, owner in self.owners.items() if owner == number]
            table = self.table(mine, self.orders[number], self.strangers[number], NAMES[number])
            made.append(
                self._party(NAMES[number], table, factor, {name: self.attribute_factors[name] for name in mine})
            )
        return made

    def joined(self) -> Party:
        """Let one party have all common persons, and all attributes with the same weights."""
        ordered = self.ordered()
        factors = {name: self.party_factors[self.owners[name]] * self.attribute_factors[name] for name in ordered}
        return self._party("all", self.table(ordered), 1.0, factors)

    def ordered(self) -> list[str]:
        """List attributes by party."""
        return sorted(self.owners, key=lambda name: (self.owners[name], list(self.owners).index(name)))

    def attributes(self, scoring: str = "sensitive") -> list[oracle.Attribute]:
        """Describe the joined table to the oracle."""
        made = []
        for name in self.ordered():
            cells = self.cells[name]
            weight = self.party_factors[self.owners[name]] * self.attribute_factors[name]
            factors = self.value_factors.get(name, 1.0)
            cut = name in {"age", "grade", "weight"}
            if cut:
                known = sorted({cell for cell in cells if cell is not None}) if name != "grade" else GRADES
                root = oracle.Vertex("*", [*map(_plain, known), *([None] if None in cells else [])])
            else:
                groups = JOBS if name == "job" else sorted({cell for cell in cells if cell is not None})
                root = oracle.with_missing(oracle.tree_vertex("*", groups), cells)
            made.append(oracle.Attribute(name, [_plain(cell) for cell in cells], root, weight, factors, cut, scoring))
        return made

    def required(self) -> list[oracle.Requirement]:
        """Give the requirements to the oracle."""
        return [(each.quasi, each.k) for each in self.requirements]

    def _party(self, name: str, table: pa.Table, factor: float, factors: dict[str, float]) -> Party:
        return Party(
            name=name,
            data=table,
            id="id",
            attributes=list(factors),
            hierarchies={"job": Taxonomy(JOBS)},
            orders={"grade": GRADES} if "grade" in factors else {},
            factor=factor,
            attribute_factors=factors,
            value_factors={each: given for each, given in self.value_factors.items() if each in factors},
        )


def _plain(cell: object) -> object:
    """Write whole numbers as the library does."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


@st.composite
def cases(draw: st.DrawFn, *, parties: int = 2, missing: bool = True) -> Case:
    """Draw something to fuse."""
    names = draw(st.lists(st.sampled_from(list(VALUES)), min_size=max(parties, 2), max_size=4, unique=True))
    many = draw(st.integers(4, 24))
    lost = draw(st.sets(st.sampled_from(names))) if missing else set()

    def column(name: str) -> list[object]:
        values = st.sampled_from([*VALUES[name], *([None] if name in lost else [])])
        drawn = draw(st.lists(values, min_size=many, max_size=many))
        return drawn if any(cell is not None for cell in drawn) else [VALUES[name][0], *drawn[1:]]

    required = st.builds(
        KAnonymityRequirement,
        quasi=st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True),
        k=st.integers(1, 4),
    )
    spare = [draw(st.integers(0, parties - 1)) for _ in names[parties:]]

    def factors(name: str) -> st.SearchStrategy[object]:
        named = st.sampled_from([str(_plain(value)) for value in VALUES[name]])
        return st.one_of(FACTORS, st.dictionaries(named, FACTORS))

    return Case(
        cells={name: column(name) for name in names},
        classes=draw(st.lists(st.sampled_from(["yes", "no", "perhaps"]), min_size=many, max_size=many)),
        owners=dict(zip(names, [*range(parties), *spare], strict=True)),
        party_factors=[draw(FACTORS) for _ in range(parties)],
        attribute_factors={name: draw(FACTORS) for name in names},
        value_factors={name: draw(factors(name)) for name in names if draw(st.booleans())},
        requirements=draw(st.lists(required, min_size=1, max_size=3)),
        orders=[draw(st.permutations(range(many))) for _ in range(parties)],
        strangers=[draw(st.integers(0, 3)) for _ in range(parties)],
    )
