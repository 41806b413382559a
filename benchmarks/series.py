"""Series of releases: counterfeits, signatures and search times of m-invariant buckets, beside Anatomy.

Run `python benchmarks/series.py` (ten versions of 100,000 made-up persons) or give another number of persons. The first
table shows counterfeits in percent of the published persons, as the mean of all releases after the first, for how many
persons leave and come from version to version; 2 % of the rest move, and a tenth of those who left comes back.
The second compares the search with Anatomy's, on the last version. Targets: below 0.1 % at every m where as many
come as leave, and at m up to 6 where 10 % leave and 2 % come; a search at most 2 times Anatomy's in form buckets, and 5
times in form boxes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sfumato as sf
from measuring import best_of
from sfumato.algorithms.base import Task
from sfumato.coding.codes import CodedColumn, CodedTable
from sfumato.coding.domain import Domain
from sfumato.core.publication import NOT_PUBLISHED, Publication
from sfumato.core.signatures import KnownPersons, Signatures
from sfumato.schema.missing import Missing
from sfumato.schema.scales import Scale

Ints = npt.NDArray[np.int64]
PERSONS, VERSIONS, VALUES = 100_000, 10, 50
FALLS, MOVES, RETURNS = 0.51, 0.02, 0.1
QUASI = {"age": 90, "sex": 2, "zip": 500, "job": 40}  # how many values each has
SETTINGS = [
    *((PERSONS, VALUES, 0.10, 0.10, m) for m in (2, 3, 6, 10)),
    *((PERSONS, VALUES, 0.50, 0.50, m) for m in (2, 3, 6, 10)),
    *((PERSONS, VALUES, 0.10, 0.02, m) for m in (3, 6, 10)),
    *((PERSONS, VALUES, 0.10, 0.00, m) for m in (3, 6, 10)),
    *((persons, 20, 0.10, 0.10, m) for persons in (1000, 300) for m in (2, 3)),
]


@dataclass
class World:
    """Persons who come, move, go and come back; a person's value stays."""

    persons: int
    values: int
    rng: np.random.Generator
    value: Ints = field(init=False)
    quasi: Ints = field(init=False)
    here: npt.NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.value, self.quasi = np.zeros(0, dtype=np.int64), np.zeros((len(QUASI), 0), dtype=np.int64)
        self.here = np.zeros(0, dtype=np.bool_)
        self.come(self.persons)

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """How frequent every value is: falling as a power of its rank, from 8 % if there are fifty of them."""
        falling = 1 / np.arange(1, self.values + 1) ** FALLS
        return falling / falling.sum()

    def come(self, many: int) -> None:
        """Let persons come for the first time."""
        self.value = np.concatenate([self.value, self.rng.choice(self.values, many, p=self.shares)])
        drawn = np.array([self.rng.integers(0, width, many) for width in QUASI.values()])
        self.quasi = np.concatenate([self.quasi, drawn], axis=1)
        self.here = np.append(self.here, np.ones(many, dtype=np.bool_))

    def change(self, leave: float, come: float) -> None:
        """Go to the next version."""
        present, absent = np.flatnonzero(self.here), np.flatnonzero(~self.here)
        self.here[self.rng.choice(present, int(leave * len(present)), replace=False)] = False
        back = min(int(RETURNS * come * self.persons), len(absent))
        self.here[self.rng.choice(absent, back, replace=False)] = True
        moved = np.flatnonzero(self.rng.random(len(self.here)) < MOVES)
        for axis, width in enumerate(QUASI.values()):
            self.quasi[axis, moved] = self.rng.integers(0, width, len(moved))
        self.come(int(come * self.persons) - back)


@dataclass
class Memory:
    """What a ledger would remember: the signature of every person."""

    values: int
    sets: dict[tuple[int, ...], int] = field(default_factory=dict)
    of_person: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def learn(self, persons: Ints, codes: Ints, publication: Publication) -> None:
        """Remember what a publication shows of newcomers."""
        bucket, fakes = publication.buckets["value"].astype(np.int64), publication.counterfeits
        there = bucket != NOT_PUBLISHED
        all_buckets, all_codes = bucket[there], codes[there]
        if fakes is not None:
            all_buckets, all_codes = np.append(all_buckets, fakes.bucket), np.append(all_codes, fakes.code)
        marks = np.random.default_rng(0).integers(0, 2**62, self.values)
        sums = np.zeros(int(all_buckets.max()) + 1, dtype=np.int64)
        np.add.at(sums, all_buckets, marks[all_codes])
        _, first, kind = np.unique(sums, return_index=True, return_inverse=True)
        order = np.argsort(all_buckets, kind="stable")
        starts = np.searchsorted(all_buckets[order], [first, first + 1])
        listed = [tuple(sorted(all_codes[order[a:b]].tolist())) for a, b in starts.T]
        number = np.array([self.sets.setdefault(each, len(self.sets)) for each in listed])
        self.of_person[persons[there]] = number[kind.ravel()[bucket[there]]]

    def known(self, task: Task, persons: Ints) -> KnownPersons:
        """Tell what is known of the persons of a task."""
        of_case, nothing = self.of_person[persons].astype(np.int32), np.zeros(len(persons), dtype=np.bool_)
        domain = task.table.sensitive[0].domain
        sets = [[domain.texts[code] for code in each] for each in self.sets]
        signatures = Signatures.coded(domain, sets, of_case, nothing, nothing)
        return KnownPersons(of_case >= 0, np.zeros(len(persons), dtype=np.int64), {"value": signatures})


def told(task: Task) -> Signatures:
    """Return the signatures that a task knows."""
    assert task.known is not None
    return task.known.signatures["value"]


def tasks(world: World, leave: float, come: float, m: int, form: str = "buckets") -> Iterator[tuple[Task, Publication]]:
    """Release one version after another."""
    memory = Memory(world.values)
    algorithm = sf.MInvariantBuckets(form=form)  # type: ignore[arg-type]  # one of the two
    for version in range(VERSIONS):
        if version:
            world.change(leave, come)
        grown = len(world.here) - len(memory.of_person)
        memory.of_person = np.append(memory.of_person, np.full(grown, -1, dtype=np.int64))
        persons = np.flatnonzero(world.here)
        task = task_of(world, persons, m)
        if version:
            task = replace(task, known=memory.known(task, persons))
        publication = algorithm.search(task)
        memory.learn(persons, world.value[persons], publication)
        yield task, publication


def task_of(world: World, persons: Ints, m: int) -> Task:
    """Code the persons of a version."""
    columns = [
        CodedColumn(Domain(name, Scale.NUMERIC, pa.array(np.arange(width))), codes[persons].astype(np.uint16))
        for (name, width), codes in zip(QUASI.items(), world.quasi, strict=True)
    ]
    value = CodedColumn(
        Domain("value", Scale.NUMERIC, pa.array(np.arange(world.values))), world.value[persons].astype(np.uint8)
    )
    return Task(
        table=CodedTable(len(persons), tuple(columns), (value,)),
        models=[sf.MInvariance(m=m, sensitive="value")],
        most_suppressed=0,
        missing=Missing.OWN_VALUE,
        rng=np.random.default_rng(0),
    )


def main(persons: int) -> None:
    """Print counterfeits and times."""
    print("counterfeits after the first release; those that wait; signatures after the last")
    print(
        f"{'persons':>8}{'values':>8}{'leave':>7}{'come':>6}{'m':>4}{'counterfeits':>14}{'wait':>9}{'signatures':>12}"
    )
    for size, values, leave, come, m in SETTINGS:
        size = persons if size == PERSONS else size  # noqa: PLW2901 - another number was given
        fakes, waits, shown, sets = 0, 0, 0, set[tuple[int, ...]]()
        for at, (task, publication) in enumerate(tasks(World(size, values, np.random.default_rng(m)), leave, come, m)):
            sets = set(told(task).sets) if at else sets
            made = publication.counterfeits
            fakes += 0 if made is None or not at else len(made)
            waits += publication.waiting
            shown += int((publication.group != NOT_PUBLISHED).sum()) if at else 0
        print(
            f"{size:>8,}{values:>8}{leave:>7.0%}{come:>6.0%}{m:>4}{fakes / shown:>14.3%}{waits / shown:>9.3%}"
            f"{len(sets):>12,}",
            flush=True,
        )
    print(f"\n{persons:,} persons, last of {VERSIONS} versions, m = 3: search")
    for form in ("buckets", "boxes"):
        *_, (task, _) = tasks(World(persons, VALUES, np.random.default_rng(1)), 0.1, 0.1, 3, form)
        diverse = replace(task, models=[sf.FrequencyLDiversity(l=3, sensitive="value")], known=None)
        unit, _ = best_of(5, lambda diverse=diverse: sf.Anatomy().search(diverse))
        algorithm = sf.MInvariantBuckets(form=form)  # type: ignore[arg-type]  # one of the two
        took, _ = best_of(5, lambda task=task, algorithm=algorithm: algorithm.search(task))
        first, _ = best_of(5, lambda task=task, algorithm=algorithm: algorithm.search(replace(task, known=None)))
        print(
            f"form {form:<8} {took * 1000:>7.0f} ms, {took / unit:.2f} times Anatomy's {unit * 1000:.0f} ms; "
            f"a first release {first / unit:.2f} times",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PERSONS)
