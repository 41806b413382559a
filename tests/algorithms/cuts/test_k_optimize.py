"""k-Optimize finds what trying every set of cuts finds, and says how much it checked."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from cut_tasks import OWN, RELATIVE, S, task_of, texts
from drawn_examples import examples
from sfumato.errors import InvalidParameterError
from sfumato.schema.roles import SENSITIVE
from sfumato.tables.algorithms.subtree import k_optimize
from sfumato.tables.algorithms.subtree.k_optimize import SetEnumeration, SplitTable
from sfumato.tables.models._conjunction import find_valid_groups
from sfumato.tables.published.groups import Groups
from sfumato.testing._requests import MaxGroupSize
from strategies import JOBS, described_tables

MOST_PLACES = 9
SHARES = st.sampled_from([0.0, 0.15, 0.4, 1.0])
LOSSES = st.sampled_from(["discernibility", "classification"])


def atoms(column):
    """Give every row the smallest thing it can be published as: a value, a lowest interval, or nothing (None)."""
    domain = column.domain
    lowest = np.arange(len(domain))
    if domain.hierarchy is not None and domain.scale.ordered:
        lowest = domain.hierarchy.levels[1]
    return [None if code == domain.missing else int(lowest[code]) for code in column.codes.tolist()]


def all_recodings(column):
    """Yield the part of every row for every set of cuts; missing cells are apart from the first cut on."""
    rows = atoms(column)
    values = sorted({row for row in rows if row is not None})
    places = [*values[1:], *([None] if None in rows and values else [])]
    for cuts in chain.from_iterable(combinations(places, size) for size in range(len(places) + 1)):
        if not cuts:
            yield [0] * len(rows)
        else:
            yield [None if row is None else sum(cut is not None and cut <= row for cut in cuts) for row in rows]


def places(task):
    return sum(len({*atoms(column)}) - 1 for column in task.table.quasi)


def costs(task, loss):
    """Yield what every set of cuts costs that suppresses few enough records, but not all."""
    n = task.table.rows
    classes = task.table.target_columns[S].codes.tolist() if loss == "classification" else None
    for parts in product(*map(all_recodings, task.table.quasi)):
        keys = list(zip(*parts, strict=True))
        number = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        group = np.array([number[key] for key in keys])
        kept = find_valid_groups(Groups.from_rows(group, len(number), task.table.sensitive, SENSITIVE), task.models)
        groups = [[row for row in range(n) if group[row] == each] for each in range(len(number))]
        lost = sum(len(rows) for rows, good in zip(groups, kept, strict=True) if not good)
        if lost > task.most_suppressed or lost == n:
            continue
        published = [rows for rows, good in zip(groups, kept, strict=True) if good]
        if classes is None:
            yield sum(len(rows) ** 2 for rows in published) + n * lost
        else:
            wrong = [len(rows) - max(Counter(classes[row] for row in rows).values()) for rows in published]
            yield (sum(wrong) + lost) / n


@given(
    drawn=described_tables(most_rows=14),
    models=st.sampled_from([*OWN, *RELATIVE, *OWN[:2] * 4]),
    loss=LOSSES,
    share=SHARES,
)
@examples(150)
def test_it_costs_as_little_as_the_best_of_all_sets_of_cuts(drawn, models, loss, share):
    target = S if loss == "classification" else None
    table, schema = drawn
    assume(table.num_rows and schema.quasi_identifiers and S in table.column_names)
    task = task_of(table, schema, models, int(share * table.num_rows), target)
    assume(places(task) <= MOST_PLACES)
    found = sf.algorithms.KOptimize(loss=loss, target=target).search(task)
    every = list(costs(task, loss))
    if not every:
        assert (found.group < 0).all()
        return
    assert found.proof.found == found.proof.bound == pytest.approx(min(every))
    assert found.proof.optimal
    assert found.proof.candidates >= len(every)
    published = [size for group, size in Counter(found.group.tolist()).items() if group >= 0]
    if loss == "discernibility":
        assert sum(size**2 for size in published) + task.table.rows * found.suppressed(task.table) == found.proof.found


@given(drawn=described_tables(least_rows=4, most_rows=14), loss=LOSSES, most=st.integers(1, 12))
@examples(60)
def test_a_search_that_ends_early_tells_a_bound_that_nothing_beats(drawn, loss, most):
    target = S if loss == "classification" else None
    table, schema = drawn
    assume(schema.quasi_identifiers and S in table.column_names)
    task = task_of(table, schema, OWN[0], table.num_rows // 4, target)
    assume(places(task) <= MOST_PLACES)
    proof = sf.algorithms.KOptimize(loss=loss, target=target, most_checked=most).search(task).proof
    assert proof.bound <= min(costs(task, loss)) <= proof.found


def ages_and_sexes(ages, sexes, **settings):
    schema = sf.Schema(quasi_identifiers=["age", "sex"])
    return task_of(pa.table({"age": ages, "sex": sexes}), schema, **settings)


def test_values_between_two_cuts_are_published_as_an_interval():
    task = ages_and_sexes([20, 21, 40, 41, 43], ["f", "f", "m", "m", "f"])
    found = sf.algorithms.KOptimize().search(task)
    assert texts(found, "age")[:5] == ["[20, 21]", "[20, 21]", "[40, 43]", "[40, 43]", "[40, 43]"]
    assert found.proof.found == 2**2 + 3**2
    assert str(found.proof).startswith("Proven best: discernibility 13; ")
    assert found.proof.candidates == 2**5


def test_one_record_is_suppressed_if_that_is_cheaper():
    """With 61 alone: 3 * 3^2 + 10 records for the one that is left out; without: 3^2 + 3^2 + 4^2."""
    ages = [20, 20, 20, 40, 40, 40, 60, 60, 60, 61]
    task = ages_and_sexes(ages, ["f"] * 10, models=[sf.models.KAnonymity(k=3)], suppressed=1)
    assert sf.algorithms.KOptimize().search(task).proof.found == 34
    ages = [20] * 9 + [61]
    task = ages_and_sexes(ages, ["f"] * 10, models=[sf.models.KAnonymity(k=3)], suppressed=1)
    found = sf.algorithms.KOptimize().search(task)
    assert (found.proof.found, found.suppressed(task.table)) == (9**2 + 10, 1)


def test_cutting_off_one_record_pays_where_its_group_is_large():
    """Cuts before 40 and 61 cost 5^2 + 14^2 + 20, that before 40 alone costs 5^2 + 15^2."""
    ages = [20] * 5 + [40] * 14 + [61]
    task = ages_and_sexes(ages, ["f"] * 20, models=[sf.models.KAnonymity(k=3)], suppressed=1)
    assert sf.algorithms.KOptimize().search(task).proof.found == 241


def test_cutting_off_one_record_pays_where_it_would_break_the_group_that_it_joins():
    """The oldest has the first disease: with her, the second group would have it in two of three records."""
    table = pa.table({"age": [20, 20, 30, 30, 31], S: ["flu", "cold", "flu", "cold", "flu"], "sex": list("ffmmm")})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=[S], insensitive=["sex"])
    task = task_of(table, schema, [sf.models.FrequencyLDiversity(l=2, sensitive=S)], 1, "sex")
    assert sf.algorithms.KOptimize(loss="classification", target="sex").search(task).proof.found == 1 / 5


def test_neighbors_in_a_taxonomy_are_published_as_its_node_or_as_a_set():
    jobs = ["clerk"] * 2 + ["lawyer"] * 2 + ["farmer"] + ["sailor"] + ["diver"]
    schema = sf.Schema(quasi_identifiers=["job"], hierarchies={"job": JOBS})
    found = sf.algorithms.KOptimize().search(task_of(pa.table({"job": jobs}), schema))
    assert texts(found, "job")[:5] == ["clerk", "lawyer", "outdoors", "outdoors", "outdoors"]
    jobs = ["clerk"] * 2 + ["lawyer", "farmer"] + ["sailor"] * 2 + ["diver"] * 2
    found = sf.algorithms.KOptimize().search(task_of(pa.table({"job": jobs}), schema))
    assert texts(found, "job")[:5] == ["clerk", "{lawyer, farmer}", "{lawyer, farmer}", "sailor", "diver"]


def test_intervals_end_at_the_bounds_of_a_hierarchy():
    schema = sf.Schema(quasi_identifiers=["age"], hierarchies={"age": sf.hierarchies.Intervals(10, 20)})
    found = sf.algorithms.KOptimize().search(task_of(pa.table({"age": [21, 22, 31, 33, 45, 47, 61]}), schema))
    assert set(texts(found, "age")[:-1]) == {"[20, 30)", "[30, 40)", "[40, 70)"}


def test_missing_cells_are_apart_or_everything_is_published_alike():
    schema = sf.Schema(quasi_identifiers=["age"])
    apart = sf.algorithms.KOptimize().search(task_of(pa.table({"age": [20, 20, 30, 30, None, None]}), schema))
    assert texts(apart, "age") == ["20", "30", None]
    alike = sf.algorithms.KOptimize().search(task_of(pa.table({"age": [20, 20, 30, 30, None]}), schema))
    assert texts(alike, "age") == ["*", "*", "*"]


def test_pruning_spares_most_sets():
    rng = np.random.default_rng(3)
    ages, sexes = rng.integers(20, 36, 60).tolist(), rng.choice(["f", "m"], 60).tolist()
    found = sf.algorithms.KOptimize().search(ages_and_sexes(ages, sexes, models=[sf.models.KAnonymity(k=5)]))
    assert found.proof.optimal
    assert found.proof.checked < found.proof.candidates / 20


@pytest.mark.parametrize("loss", ["discernibility", "classification"])
def test_what_is_minimized_is_what_the_release_measures(loss):
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "age": rng.integers(20, 30, 80),
            "sex": rng.choice(["f", "m"], 80),
            S: rng.choice(["flu", "ulcer", "asthma"], 80),
        }
    )
    schema = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=[S])
    algorithm = sf.algorithms.KOptimize(loss=loss, target=S if loss == "classification" else None)
    release = sf.anonymize(table, schema, [sf.models.KAnonymity(k=6)], algorithm=algorithm, max_suppressed=0.1)
    measure = {"discernibility": "discernibility", "classification": "classification-metric"}[loss]
    assert release.metrics[measure] == pytest.approx(release.proof.found)


def test_merging_may_break_a_model():
    found = sf.algorithms.KOptimize().search(ages_and_sexes([20, 21, 22, 23], ["f"] * 4, models=[MaxGroupSize(k=3)]))
    assert max(Counter(found.group.tolist()).values()) < 3


def test_nothing_is_published_if_no_set_of_cuts_is_allowed():
    found = sf.algorithms.KOptimize().search(ages_and_sexes([20, 20], ["f"] * 2, models=[MaxGroupSize(k=2)]))
    assert (found.group < 0).all()
    assert found.proof is None


def test_a_table_with_too_many_places_to_cut_is_refused(monkeypatch):
    task = ages_and_sexes([20, 21, 22, 23], ["f", "m", "f", "m"])
    monkeypatch.setattr(k_optimize, "MOST_SPLITS", 4)
    assert sf.algorithms.KOptimize().check(task) is None
    monkeypatch.setattr(k_optimize, "MOST_SPLITS", 3)
    assert sf.algorithms.KOptimize().check(task) == (
        "KOptimize accepts at most 3 places to cut, but the quasi-identifiers have 4; give hierarchies with wider "
        "lowest intervals, or use Optimal or Mondrian."
    )


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"loss": "ncp"}, "KOptimize.loss must be one of discernibility, classification; got 'ncp'."),
        ({"loss": "classification"}, "KOptimize: the loss 'classification' needs a target, the column to predict."),
        ({"target": "sex"}, "KOptimize: the loss 'discernibility' takes no target."),
        ({"most_checked": 0}, "KOptimize.most_checked must be a whole number of at least 1; got 0."),
        ({"most_checked": True}, "KOptimize.most_checked must be a whole number of at least 1; got True."),
    ],
)
def test_wrong_parameters_are_refused(wrong, sentence):
    with pytest.raises(InvalidParameterError) as refused:
        sf.algorithms.KOptimize(**wrong)
    assert str(refused.value) == sentence


def test_a_bound_is_never_above_a_set_that_it_covers():
    """All sets between a head and its finest set, on a table with suppression."""
    rng = np.random.default_rng(5)
    for seed in range(20):
        ages = np.random.default_rng(seed).integers(20, 25, 9).tolist()
        task = ages_and_sexes(ages, rng.choice(["f", "m"], 9).tolist(), suppressed=9)
        table = SplitTable(task, None)
        every = [np.array(bits, dtype=bool) for bits in product([False, True], repeat=len(table))]
        checked = {chosen.tobytes(): table.check(chosen) for chosen in every}
        for head, finest in product(every, every):
            if (head <= finest).all():
                between = [checked[c.tobytes()].cost for c in every if (head <= c).all() and (c <= finest).all()]
                assert table.bound(checked[head.tobytes()], finest) <= min(between)
        walk = SetEnumeration(table, 10_000)
        walk.run()
        assert walk.bound == walk.best.cost
