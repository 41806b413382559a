"""Series of releases: the ledger, exposure, independent releases, search times and counterfeits.

Run `python benchmarks/series.py` (ten versions of 100,000 made-up persons) or give another number of persons. First
comes the ledger: what it costs beside reading the table (target: at most as much; one HMAC-SHA-256 per person by
hashlib alone takes about as long as reading), and how long the exposure of its series takes (target: 10 s); then what
ten independent releases by Anatomy tell together; then the search beside Anatomy's, on the last version (targets: at
most 2 times in form buckets, 5 times in form boxes); then generalized releases of persons who come and never leave, by
atoms beside each made alone. The table at the end shows counterfeits in percent of the published persons, as the mean
of all releases after the first, for how many persons leave and come from version to version, and how many of those who
come were there before; 2 % of the rest move. Where 10 % leave and 2 % come, it is the mean of three populations.
Targets: below 0.1 % at every m where as many come as leave, and at m up to 6 where 10 % leave and 2 % come. Times of
the ledger, of atoms and of exposure are the processor's.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

import sfumato as sf
from measuring import best_of
from sfumato.datasets.hospital_series import generate_hospital_series
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.encoding.domain import Domain
from sfumato.schema.roles import MissingPolicy, Scale
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.published.solution import NOT_PUBLISHED, TableSolution
from sfumato.tables.series._ledger.draft import ReleaseDraft
from sfumato.tables.series._prior_disclosure import KnownIndividuals, Signatures
from sfumato.tables.series._worlds.differencing import subtract_nested_groups
from sfumato.tables.series._worlds.propagation import intersect_candidates, propagate_candidates
from sfumato.tables.series._worlds.system import ConstraintSystem, count_values, single_value
from sfumato.tables.series.disclosure import disclosure_risk_of_history
from sfumato.tables.series.history import GroupedRelease, History

Result = TypeVar("Result")
Ints = npt.NDArray[np.int64]
PERSONS, VERSIONS, VALUES = 100_000, 10, 50
GROWING = 4  # versions in which nobody leaves
MOST_FAKES, FEW, MOST_SECONDS = 0.001, 6, 10.0  # targets
FALLS, MOVES, RETURNS = 0.51, 0.02, 0.1
SEEDS = 3  # populations where figures differ much from one to another
QUASI = {"age": 90, "sex": 2, "zip": 500, "job": 40}  # how many values each has
SETTINGS = [
    *((PERSONS, VALUES, 0.10, 0.10, RETURNS, m) for m in (2, 3, 6, 10)),
    *((PERSONS, VALUES, 0.50, 0.50, RETURNS, m) for m in (2, 3, 6, 10)),
    *((PERSONS, VALUES, 0.10, 0.02, 0.0, m) for m in (3, 6, 10)),
    *((PERSONS, VALUES, 0.10, 0.02, RETURNS, m) for m in (3, 6, 10)),
    *((PERSONS, VALUES, 0.10, 0.00, RETURNS, m) for m in (3, 6, 10)),
    *((persons, 20, 0.10, 0.10, RETURNS, m) for persons in (1000, 300) for m in (2, 3)),
]


@dataclass
class World:
    """Persons who come, move, go and come back; a person's value stays."""

    persons: int
    values: int
    rng: np.random.Generator
    returns: float = RETURNS
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
        back = min(int(self.returns * come * self.persons), len(absent))
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

    def learn(self, persons: Ints, codes: Ints, publication: TableSolution) -> None:
        """Remember what a publication shows of newcomers."""
        bucket = publication.buckets["value"].astype(np.int64)
        there = bucket != NOT_PUBLISHED
        all_buckets, all_codes = bucket[there], codes[there]
        for fakes in publication.counterfeits:
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

    def known(self, task: TableRequest, persons: Ints) -> KnownIndividuals:
        """Tell what is known of the persons of a task."""
        of_case, nothing = self.of_person[persons].astype(np.int32), np.zeros(len(persons), dtype=np.bool_)
        domain = task.table.sensitive[0].domain
        sets = [[domain.texts[code] for code in each] for each in self.sets]
        signatures = Signatures.from_texts(domain, sets, of_case, nothing, nothing)
        return KnownIndividuals(of_case >= 0, np.zeros(len(persons), dtype=np.int64), {"value": signatures})


def told(task: TableRequest) -> Signatures:
    """Return the signatures that a task knows."""
    assert task.known is not None
    return task.known.signatures["value"]


def tasks(
    world: World, leave: float, come: float, m: int, form: str = "buckets"
) -> Iterator[tuple[TableRequest, TableSolution]]:
    """Release one version after another."""
    memory = Memory(world.values)
    algorithm = sf.algorithms.MInvariantBuckets(form=form)  # type: ignore[arg-type]  # one of the two
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


def task_of(world: World, persons: Ints, m: int) -> TableRequest:
    """Code the persons of a version."""
    columns = [
        CodedColumn(Domain(name, Scale.NUMERIC, pa.array(np.arange(width))), codes[persons].astype(np.uint16))
        for (name, width), codes in zip(QUASI.items(), world.quasi, strict=True)
    ]
    value = CodedColumn(
        Domain("value", Scale.NUMERIC, pa.array(np.arange(world.values))), world.value[persons].astype(np.uint8)
    )
    return TableRequest(
        table=CodedTable(len(persons), tuple(columns), (value,)),
        models=[sf.models.MInvariance(m=m, sensitive="value")],
        max_suppressed=0,
        missing=MissingPolicy.OWN_VALUE,
        rng=np.random.default_rng(0),
    )


def counterfeits(persons: int) -> None:
    """Print how many counterfeits are made, how many persons wait, and how many signatures there are."""
    print("\ncounterfeits after the first release; those that wait; signatures after the last")
    print(
        f"{'persons':>8}{'values':>8}{'leave':>7}{'come':>6}{'back':>6}{'m':>4}{'counterfeits':>14}{'wait':>9}"
        f"{'signatures':>12}"
    )
    for size, values, leave, come, returns, m in SETTINGS:
        size = persons if size == PERSONS else size  # noqa: PLW2901 - another number was given
        found = [
            made_of(World(size, values, np.random.default_rng(m + 100 * seed), returns), leave, come, m)
            for seed in range(SEEDS if 0 < come < leave else 1)
        ]
        fakes, waits, sets = np.mean(found, axis=0)
        asked = size == persons and (leave == come or (come > 0 and m <= FEW))
        met = f"  target {MOST_FAKES:.1%}: {verdict(fakes < MOST_FAKES)}" if asked else ""
        print(
            f"{size:>8,}{values:>8}{leave:>7.0%}{come:>6.0%}{returns:>6.0%}{m:>4}{fakes:>14.3%}{waits:>9.3%}"
            f"{sets:>12,.0f}{met}",
            flush=True,
        )


def made_of(world: World, leave: float, come: float, m: int) -> tuple[float, float, int]:
    """Return the shares of counterfeits and of those who wait after the first release, and how many signatures are."""
    fakes, waits, shown, sets = 0, 0, 0, set[tuple[int, ...]]()
    for at, (task, publication) in enumerate(tasks(world, leave, come, m)):
        sets = set(told(task).sets) if at else sets
        fakes += sum(len(each) for each in publication.counterfeits) if at else 0
        waits += publication.waiting
        shown += int((publication.group != NOT_PUBLISHED).sum()) if at else 0
    return fakes / shown, waits / shown, len(sets)


def by_atoms(persons: int) -> None:
    """Print what releases by atoms lose and tell, beside releases made alone; persons come and none leaves."""
    schema = sf.Schema(identifiers=["patient"], quasi_identifiers=["age", "sex", "zip"], sensitive=["condition"])
    models = [sf.models.KAnonymity(k=5), sf.models.FrequencyLDiversity(l=3, sensitive="condition")]
    kept = [*schema.identifiers, *schema.quasi_identifiers, *schema.sensitive]
    print(f"\n{GROWING} releases by Mondrian of {persons:,} persons at first, k = 5, l = 3; nobody leaves")
    with tempfile.TemporaryDirectory() as name:
        place, before = Path(name), None
        ledger = sf.Series.create(place / "ledger")
        alone, together = list[sf.Release](), list[sf.Release]()
        for version, drawn in enumerate(generate_hospital_series(persons, GROWING, seed=1), start=1):
            table = drawn.select(kept)
            if before is not None:
                gone = pc.invert(pc.is_in(before["patient"], table["patient"]))
                table = pa.concat_tables([table, before.filter(gone)])
            before = table
            single, release = spent_on(lambda table=table: sf.anonymize(table, schema, models))
            alone.append(release)
            took, release = spent_on(lambda table=table: sf.anonymize(table, schema, models, ledger=ledger))
            release.write(place / f"q{version}", report=False)
            together.append(release)
        for words, took_last, found in (("alone", single, alone), ("by atoms", took, together)):
            last, exposed = found[-1], sf.series_disclosure_risk(found)
            print(
                f"{words:<9} {took_last:.2f} s, loss {last.metrics['loss']:.4f}, waiting {last.waiting:,}; over the "
                f"series: maximum {exposed.max():.4g}, {exposed.decided / exposed.individuals:.1%} decided",
                flush=True,
            )


def searches(persons: int) -> None:
    """Print how long a search takes, beside Anatomy's."""
    print(f"\n{persons:,} persons, last of {VERSIONS} versions, m = 3: search")
    for form, most in (("buckets", 2), ("boxes", 5)):
        *_, (task, _) = tasks(World(persons, VALUES, np.random.default_rng(1)), 0.1, 0.1, 3, form)
        diverse = replace(task, models=[sf.models.FrequencyLDiversity(l=3, sensitive="value")], known=None)
        unit, _ = best_of(5, lambda diverse=diverse: sf.algorithms.Anatomy().search(diverse))
        algorithm = sf.algorithms.MInvariantBuckets(form=form)  # type: ignore[arg-type]  # one of the two
        took, _ = best_of(5, lambda task=task, algorithm=algorithm: algorithm.search(task))
        first, _ = best_of(5, lambda task=task, algorithm=algorithm: algorithm.search(replace(task, known=None)))
        print(
            f"form {form:<8} {took * 1000:>7.0f} ms, {took / unit:.2f} times Anatomy's {unit * 1000:.0f} ms, "
            f"target {most}: {verdict(took <= most * unit)}; a first release {first / unit:.2f} times",
            flush=True,
        )


def independent(persons: int) -> None:
    """Print how many persons independent releases by Anatomy decide, by intersection and by all quick steps."""
    print(f"\n{VERSIONS} independent releases by Anatomy of {persons:,} persons: decided among those of the last")
    for l in (3, 6):
        world, shown = World(persons, VALUES, np.random.default_rng(1)), []
        for version in range(VERSIONS):
            if version:
                world.change(0.1, 0.1)
            here = np.flatnonzero(world.here)
            task = replace(task_of(world, here, l), models=[sf.models.FrequencyLDiversity(l=l, sensitive="value")])
            shown.append(
                (here, sf.algorithms.Anatomy().search(task).buckets["value"].astype(np.int64), world.value[here])
            )
        history = history_of(shown, len(world.here))
        started = time.process_time()
        system = ConstraintSystem.of(history)
        first = intersect_candidates(system)
        intersected = time.process_time() - started
        left = subtract_nested_groups(system)
        masks = propagate_candidates(left, intersect_candidates(left, first))
        took = time.process_time() - started
        last, told = shown[-1][0], []
        for found in (first, masks):
            mine = found[system.unit[last]]
            sure = count_values(mine) == 1
            right = single_value(mine)[sure] == world.value[last][sure]
            told.append(f"{sure.mean():.1%} ({right.mean():.1%} of them right)")
        print(
            f"l = {l}: intersection {told[0]} in {intersected:.2f} s, with propagation {told[1]} in {took:.2f} s",
            flush=True,
        )


def history_of(shown: list[tuple[Ints, Ints, Ints]], everybody: int) -> History:
    """Put releases together, given persons, buckets and values of each."""
    releases = []
    for persons, bucket, value in shown:
        there = bucket != NOT_PUBLISHED
        members = np.full(everybody, -1, dtype=np.int64)
        members[persons[there]] = bucket[there]
        groups = int(bucket.max()) + 1
        releases.append(GroupedRelease.from_rows(members, bucket[there], value[there], groups=groups, width=VALUES))
    return History("value", everybody, tuple(releases))


def ledgers(persons: int) -> None:
    """Print what a ledger costs beside reading the table, and how long the exposure of its series takes."""
    schema = sf.Schema(
        identifiers=["patient"], quasi_identifiers=["age", "sex", "zip", "nationality"], sensitive=["condition"]
    )
    models = [sf.models.MInvariance(m=3, sensitive="condition")]
    kept = [*schema.identifiers, *schema.quasi_identifiers, *schema.sensitive]
    print(f"\na ledger of {VERSIONS} releases of {persons:,} persons, m = 3, form buckets")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        ledger = sf.Series.create(place / "ledger")
        for version, table in enumerate(generate_hospital_series(persons, VERSIONS, seed=1), start=1):
            sf.write(table.select(kept), place / "table.csv")
            read, data = spent_on(lambda: sf.read(place / "table.csv"))
            looked, _ = spent_on(lambda data=data: ledger.draft(data, schema))
            release = sf.anonymize(data, schema, models, sf.algorithms.MInvariantBuckets(), ledger=ledger)
            recorded = written_with(release, place / f"q{version}")
        print(
            f"last release: reading the table {read:.2f} s; looking persons up {looked:.2f} s, recording "
            f"{recorded:.2f} s, together {(looked + recorded) / read:.2f} times reading, "
            f"target 1: {verdict(looked + recorded <= read)}",
            flush=True,
        )
        took, history = spent_on(lambda: ledger.history("condition"))
        disclosure_risk_of_history(history.truncate(1))  # compiles
        exposing, exposed = spent_on(lambda: disclosure_risk_of_history(history))
        print(
            f"exposure of the series: history {took:.2f} s, exposure {exposing:.2f} s, target 10 s: "
            f"{verdict(took + exposing <= MOST_SECONDS)}; maximum {exposed.max():.4g}, "
            f"{'exact' if exposed.exact else 'outer'}, {exposed.decided:,} decided, "
            f"{exposed.counterfeits:,} counterfeits, {exposed.equal_pairs:,} pairs proved equal",
            flush=True,
        )


def written_with(release: sf.Release, folder: Path) -> float:
    """Write a release, and return the seconds that its ledger takes: all of the steps around the folder."""
    assert release.draft is not None
    spent, recorded = 0.0, type(release.draft).recorded

    def timed(draft: ReleaseDraft, *given: Any, **named: Any) -> Any:
        @contextmanager
        def around() -> Iterator[Any]:
            nonlocal spent
            started = time.process_time()
            entered = recorded(draft, *given, **named)
            complete = entered.__enter__()
            spent += time.process_time() - started

            def staged(made: Path) -> None:
                nonlocal spent
                began = time.process_time()
                complete(made)
                spent += time.process_time() - began

            yield staged
            started = time.process_time()
            entered.__exit__(None, None, None)
            spent += time.process_time() - started

        return around()

    with patch.object(type(release.draft), "recorded", timed):
        release.write(folder, report=False)
    return spent


def spent_on(work: Callable[[], Result]) -> tuple[float, Result]:
    """Return the seconds of the processor that some work takes, and its result."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def verdict(met: bool) -> str:
    """Say whether a target is met."""
    return "met" if met else "MISSED"


def main(persons: int) -> None:
    """Print all figures."""
    ledgers(persons)
    independent(persons)
    searches(persons)
    by_atoms(persons)
    counterfeits(persons)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PERSONS)
