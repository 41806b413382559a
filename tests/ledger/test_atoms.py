"""Series by atoms: everybody stays with those she came with, so that releases tell nothing more together."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from series_oracle import chances
from sfumato.errors import InfeasibleError, InvalidParameterError, UnsupportedModelError

D = "disease"
SCHEMA = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=["age"],
    sensitive=[D],
    hierarchies={"age": sf.hierarchies.Intervals(5, 10, 40)},
)
DIVERSE = [sf.models.FrequencyLDiversity(l=2, sensitive=D)]
ALGORITHMS = [
    sf.algorithms.Mondrian(),
    sf.algorithms.Mondrian(strict=False, bounds="exact"),
    sf.algorithms.Optimal(),
    sf.algorithms.Samarati(),
    sf.algorithms.Datafly(),
    sf.algorithms.Incognito(),
    sf.algorithms.MinGen(),
    sf.algorithms.KOptimize(),
    sf.algorithms.SABRE(),
    sf.algorithms.TopDownSpecialization(),
    sf.algorithms.BottomUpGeneralization(),
    sf.algorithms.LocalRecoding(),
    sf.algorithms.TopDownNCP(),
    sf.algorithms.MDAV(publish="ranges"),
]


def table(persons: dict[str, tuple[int, str]]) -> pa.Table:
    """Make a table of persons with their ages and diseases."""
    ages, diseases = zip(*persons.values(), strict=True)
    return pa.table({"name": list(persons), "age": list(ages), D: list(diseases)})


class Quarters:
    """Releases of one ledger, and who was in which group of each."""

    def __init__(self, place: Path, algorithm: sf.algorithms.TableAlgorithm | None = None, models=DIVERSE) -> None:
        self.place, self.algorithm, self.models = place, algorithm, models
        self.ledger = sf.Series.create(place / "ledger")
        self.releases: list[sf.Release] = []

    def publish(self, persons: dict[str, tuple[int, str]], **options) -> sf.Release:
        """Publish the next quarter, and record it."""
        options = {"ledger": self.ledger} | options
        release = sf.anonymize(table(persons), SCHEMA, self.models, self.algorithm, **options)
        release.write(self.place / f"q{len(self.releases) + 1}", report=False)
        self.releases.append(release)
        return release

    def groups(self) -> list[dict[str, str]]:
        """Return the label of everybody who is published, release by release."""
        found = []
        for release in self.releases:
            rows = release.aligned()
            shown = np.zeros(rows.num_rows, dtype=bool)
            shown[release.correspondence] = True
            names, labels = rows["age"].to_pylist(), release.original["name"].to_pylist()
            found.append({name: str(age) for name, age, there in zip(labels, names, shown, strict=True) if there})
        return found

    def atoms(self) -> list[set[str]]:
        """Find by their histories who was never told apart."""
        told = self.groups()
        cells: dict[tuple[str | None, ...], set[str]] = {}
        for name in {name for release in told for name in release}:
            cells.setdefault(tuple(release.get(name) for release in told), set()).add(name)
        return list(cells.values())


def assert_by_atoms(series: Quarters, value: dict[str, str], most: float = 0.5) -> None:
    """Check the rule by its words: atoms are good alone, groups are unions of them with at most one that is new."""
    atoms, told = series.atoms(), series.groups()
    for atom in atoms:
        assert max(Counter(value[name] for name in atom).values()) <= most * len(atom)
    before: set[str] = set()
    for release in told:
        for label in set(release.values()):
            group = {name for name, mine in release.items() if mine == label}
            inside = [atom for atom in atoms if atom & group]
            assert all(atom <= group for atom in inside)
            assert sum(not atom & before for atom in inside) <= 1
        before |= release.keys()


def drawn(seed: int, persons: int, quarters: int) -> list[dict[str, tuple[int, str]]]:
    """Draw quarters in which persons come and some move; nobody leaves."""
    rng, here, found = np.random.default_rng(seed), {}, []
    for number in range(quarters):
        for at in range(persons if number == 0 else int(rng.integers(0, persons // 2 + 1))):
            here[f"{number} {at}"] = (int(rng.integers(0, 40)), str(rng.choice(list("xyz"))))
        for name in rng.choice(sorted(here), len(here) // 10, replace=False).tolist():
            here[name] = (int(rng.integers(0, 40)), here[name][1])
        found.append(dict(here))
    return found


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda each: repr(each)[:30])
def test_groups_of_all_releases_are_unions_of_atoms_that_keep_the_promise_alone(algorithm, tmp_path):
    series, quarters = Quarters(tmp_path, algorithm), drawn(1, 20, 3)
    for persons in quarters:
        series.publish(persons)
    value = {name: disease for name, (_, disease) in quarters[-1].items()}
    assert_by_atoms(series, value)
    models = [sf.models.BoundedSeriesDisclosure(limit=0.5, sensitive=D), *DIVERSE]
    for audit in (sf.audit_series(series.releases, models=models), sf.audit_series(series.ledger, models=models[:1])):
        assert audit.holds
        assert audit.disclosure_risk().exact


def test_the_same_releases_made_without_a_ledger_tell_more():
    quarters = drawn(1, 30, 4)
    alone = [sf.anonymize(table(persons), SCHEMA, DIVERSE) for persons in quarters]
    assert sf.audit_series(alone).disclosure_risk().max() > 0.5


@examples(10)
@given(st.integers(0, 10**6))
def test_in_all_worlds_of_tiny_series_nobody_is_more_exposed_than_in_her_atom(tmp_path_factory, seed):
    series, quarters = Quarters(tmp_path_factory.mktemp("series")), drawn(seed, 5, 3)
    try:
        for persons in quarters:
            series.publish(persons)
    except InfeasibleError:  # of the first five, too many have one value
        assert not series.releases
        return
    value = {name: disease for name, (_, disease) in quarters[-1].items()}
    assert_by_atoms(series, value)
    names = sorted({name for release in series.groups() for name in release})
    worst = dict.fromkeys(names, 0.0)
    for atom in series.atoms():
        share = max(Counter(value[name] for name in atom).values()) / len(atom)
        worst |= dict.fromkeys(atom, share)
    found = sorted(float(max(each.values())) for each in chances(series.ledger.history(D)) if each)
    assert found == pytest.approx(sorted(worst.values()))


FIRST = {"a": (20, "x"), "b": (21, "y"), "c": (30, "x"), "d": (31, "z")}


def test_newcomers_are_groups_of_their_own_and_a_group_that_moves_is_covered(tmp_path):
    series = Quarters(tmp_path)
    series.publish(FIRST)
    second = series.publish(FIRST | {"b": (2, "y"), "e": (30, "y"), "f": (31, "x")})
    assert series.groups()[0] == {"a": "[20, 25)", "b": "[20, 25)", "c": "[30, 35)", "d": "[30, 35)"}
    assert series.groups()[1] == {"a": "[0, 25)", "b": "[0, 25)", **dict.fromkeys("cdef", "[30, 35)")}
    assert sorted(map(sorted, series.atoms())) == [["a", "b"], ["c", "d"], ["e", "f"]]
    assert (second.waiting, second.suppressed) == (0, 0)


def test_the_cells_are_shown_as_the_algorithm_shows_them(tmp_path):
    series = Quarters(tmp_path, sf.algorithms.Mondrian(bounds="exact"))
    series.publish(FIRST)
    series.publish(FIRST | {"b": (24, "y")})
    assert series.groups()[1]["a"] == "[20, 24]"


def test_who_fits_no_group_waits_and_comes_first_in_the_next_release(tmp_path):
    series = Quarters(tmp_path)
    series.publish(FIRST)
    crowd = {f"x{at}": (20 + at, "x") for at in range(3)}
    second = series.publish(FIRST | crowd)
    assert second.waiting == second.suppressed == 3
    assert series.ledger.releases()[-1].waiting == 3
    later = FIRST | crowd | {"y": (20, "y")} | {f"late{at}": (20 + at, "x") for at in range(9)}
    third = series.publish(later)
    (came,) = [name for name in series.groups()[2] if name not in FIRST and name != "y"]
    assert came in crowd
    assert third.waiting == 11
    assert third.recipe.secret is not None
    assert_by_atoms(series, {name: disease for name, (_, disease) in later.items()})


def test_one_value_too_frequent_for_its_own_limit_waits_alone(tmp_path):
    series = Quarters(tmp_path, models=[sf.models.ConfidenceBounding(bounds={"z": 0.25}, sensitive=D)])
    first = FIRST | {"g": (32, "x")}
    series.publish(first)
    third = series.publish(first | {f"{value}{at}": (at, value) for at in range(6) for value in "xz"})
    assert third.waiting == 4
    assert sum(name[0] == "x" and len(name) > 1 for name in series.groups()[1]) == 6


def test_a_person_who_leaves_breaks_her_atom_and_a_whole_atom_may_leave_and_return(tmp_path):
    series = Quarters(tmp_path)
    series.publish(FIRST)
    without_a = {name: each for name, each in FIRST.items() if name != "a"}
    with pytest.raises(
        InfeasibleError, match=r"^1 persons left .*set max_suppressed=0\.3334 to leave the 1 others out"
    ):
        series.publish(without_a)
    assert len(series.ledger.releases()) == 1
    series.publish({name: FIRST[name] for name in "cd"})
    with pytest.raises(InfeasibleError, match=r"1 persons left"):
        series.publish(without_a)
    series.publish(FIRST)
    fourth = series.publish(without_a, max_suppressed=0.34)
    assert series.groups()[-1].keys() == {"c", "d"}
    assert (fourth.suppressed, fourth.waiting) == (1, 0)
    assert_by_atoms(series, {name: disease for name, (_, disease) in FIRST.items()})


def test_what_is_left_of_an_atom_is_not_published_though_it_keeps_the_promise(tmp_path):
    series, first = Quarters(tmp_path, models=[sf.models.KAnonymity(k=2)]), dict.fromkeys("abcd", (20, "x"))
    series.publish(first)
    with pytest.raises(InfeasibleError, match=r"1 persons left .* leave the 3 others out"):
        series.publish({name: first[name] for name in "abc"})


def test_a_forgotten_person_has_left(tmp_path):
    series = Quarters(tmp_path)
    series.publish(FIRST)
    series.ledger.forget("a")
    with pytest.raises(InfeasibleError, match=r"1 persons left"):
        series.publish(FIRST)


def test_a_stricter_promise_is_refused_where_old_groups_break_it(tmp_path):
    series = Quarters(tmp_path)
    series.publish(FIRST)
    series.models = [sf.models.KAnonymity(k=3)]
    with pytest.raises(InfeasibleError, match=r"^4 persons were published in groups that do not keep KAnonymity\(k=3"):
        series.publish(FIRST)
    with pytest.raises(InfeasibleError, match=r"^Nobody can be published: none of the 4 persons"):
        series.publish(FIRST, max_suppressed=1.0)


def test_releases_that_told_persons_apart_cannot_be_continued(tmp_path):
    series = Quarters(tmp_path, sf.algorithms.Anatomy())
    series.publish(FIRST)
    series.algorithm = sf.algorithms.Mondrian()
    series.publish(FIRST)
    series.algorithm = sf.algorithms.Anatomy()
    for _ in range(10):
        series.publish({**FIRST, "e": (1, "x"), "f": (2, "y")})
    series.algorithm = sf.algorithms.Mondrian()
    with pytest.raises(InfeasibleError, match="releases told these persons apart"):
        series.publish({**FIRST, "e": (1, "x"), "f": (2, "y")})


@pytest.mark.parametrize(
    ("models", "algorithm", "sentence"),
    [
        ([sf.models.TCloseness(t=0.9, sensitive=D)], sf.algorithms.Mondrian(), "compares groups with the whole table"),
        ([sf.models.MInvariance(m=2, sensitive=D)], sf.algorithms.Optimal(), "combine to unions, which can break it"),
    ],
)
def test_models_that_unions_break_or_that_look_at_the_whole_table_are_refused(tmp_path, models, algorithm, sentence):
    series = Quarters(tmp_path, algorithm, models)
    with pytest.raises(UnsupportedModelError, match=sentence):
        series.publish(FIRST)


def test_cells_of_single_persons_are_not_hidden_in_a_series(tmp_path):
    step = sf.masking.SuppressCells(columns=["age"], k=2)
    with pytest.raises(InvalidParameterError, match="parts them from those they were published with"):
        Quarters(tmp_path).publish(FIRST, masking=[step])


def test_newcomers_are_searched_in_blocks_if_asked_for(tmp_path):
    series, quarters = Quarters(tmp_path, sf.algorithms.LocalRecoding()), drawn(2, 60, 2)
    for persons in quarters:
        series.publish(persons, block_rows=10)
    assert_by_atoms(series, {name: disease for name, (_, disease) in quarters[-1].items()})


def test_the_order_of_rows_does_not_matter(tmp_path):
    series = Quarters(tmp_path)
    series.publish(FIRST)
    later = FIRST | {f"n{at}": (at, "xxy"[at % 3]) for at in range(9)}
    turned = dict(reversed(later.items()))
    options = {"secret": "ab" * 32, "seed": 1, "ledger": series.ledger}
    one, other = (sf.anonymize(table(each), SCHEMA, DIVERSE, **options) for each in (later, turned))
    assert one.waiting == 3
    came = [sorted(each.original["name"].take(each.correspondence).to_pylist()) for each in (one, other)]
    assert came[0] == came[1]
