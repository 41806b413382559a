"""MAA-SLIE and GreedyPKClustering against plain oracles, and the promises that all their classes keep."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from golden_files import GOLDEN
from microaggregation_oracle import Oracle, Record
from sfumato._progress import Progress, ignore_progress
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError, UnsupportedModelError
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.microaggregation import _class_growth, maa_slie
from sfumato.tables.algorithms.microaggregation._class_growth import class_requirements, weights_by_level
from sfumato.tables.algorithms.microaggregation._space import RecordSpace
from sfumato.tables.algorithms.microaggregation.greedy_pk_clustering import GreedyPKClustering
from sfumato.tables.algorithms.microaggregation.maa_slie import MAASLIE
from sfumato.tables.published.groups import Groups
from strategies import JOBS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sfumato.tables.algorithms.microaggregation._clustering import ClusteringAlgorithm, Shown
    from sfumato.tables.models.base import GroupModel

SEED = 3
ORDER = ["none", "school", "degree", "doctor"]
DISEASES = ["flu", "cold", "ulcer", "HIV", "cancer"]
LEVELS = {"flu": 1, "cold": 1, "ulcer": 2, "HIV": 3, "cancer": 3}
WEIGHTS = {"1": 0.1, "2": 0.4, "3": 0.8}
SCHEMA = sf.Schema(
    quasi_identifiers=["age", "grade", "job", "color"],
    sensitive=["disease"],
    orders={"grade": ORDER},
    hierarchies={"job": JOBS},
)
ROW = st.tuples(
    st.sampled_from([20, 21, 25, 40, 60]),
    st.sampled_from(ORDER),
    st.sampled_from(JOBS.hierarchy.leaves),
    st.sampled_from(["red", "green"]),
    st.sampled_from(DISEASES),
)
NARROW = st.tuples(
    st.sampled_from([20, 60]), st.just("none"), st.just("clerk"), st.just("red"), st.sampled_from(DISEASES)
)
ROWS = st.one_of(st.lists(ROW, min_size=1, max_size=20), st.lists(NARROW, min_size=1, max_size=20))


def table_of(rows: Sequence[tuple[object, ...]]) -> pa.Table:
    names = [*SCHEMA.quasi_identifiers, *SCHEMA.sensitive]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def task_of(
    table: pa.Table,
    models: Sequence[GroupModel],
    missing: MissingPolicy = MissingPolicy.OWN_VALUE,
    *,
    progress: Progress = ignore_progress,
    schema: sf.Schema = SCHEMA,
) -> TableRequest:
    return TableRequest(
        table=encode_table(table, schema),
        models=models,
        max_suppressed=0,
        missing=missing,
        rng=np.random.default_rng(SEED),
        progress=progress,
    )


def hpk(h: int, p: int, k: int) -> sf.models.HPKAnonymity:
    return sf.models.HPKAnonymity(h=h, p=p, k=k, sensitive="disease", sensitivity_levels=LEVELS)


@st.composite
def demands(draw: st.DrawFn) -> tuple[int, int, int]:
    k = draw(st.integers(2, 5))
    p = draw(st.integers(1, k))
    return draw(st.integers(1, p)), p, k


def labels_of(algorithm: ClusteringAlgorithm, task: TableRequest) -> list[int]:
    least = max(model.min_group_size for model in task.models)
    labels = algorithm.cluster(RecordSpace.of(task.table, algorithm.weights), least, task)
    return [int(label) for label in labels]


def classes_of(task: TableRequest, labels: Sequence[int]) -> list[list[Record]]:
    """Give the records of every class."""
    demand, codes = class_requirements(task), [column.codes.tolist() for column in task.table.quasi]
    cells = zip(zip(*codes, strict=True), demand.values.tolist(), demand.levels.tolist(), strict=True)
    groups: list[list[Record]] = [[] for _ in range(max(labels) + 1)]
    for cell, label in zip(cells, labels, strict=True):
        groups[label].append(Record(*cell))
    return [sorted(group) for group in groups]


def expected(algorithm: ClusteringAlgorithm, task: TableRequest) -> list[list[Record]]:
    """Form the same classes by the oracle."""
    demand = class_requirements(task)
    axes = RecordSpace.of(task.table, algorithm.weights).axes
    rng = np.random.default_rng(SEED)
    if isinstance(algorithm, MAASLIE):
        weights = weights_by_level(demand, algorithm.level_weights)
        averaged = algorithm.index == "mean"
        oracle = Oracle(axes, demand.least, algorithm.w1, algorithm.w2, weights, algorithm.base, averaged=averaged)
    else:
        oracle = Oracle(axes, demand.least, 0.0, 1.0, [0.0] * demand.level_count, 10, boxes=True)
    everybody = classes_of(task, [0] * task.table.rows)[0]

    def shuffled(count: int) -> Sequence[int]:
        return rng.permutation(count).tolist() if isinstance(algorithm, MAASLIE) else range(count)

    return [sorted(group) for group in oracle.classes(everybody, shuffled)]


ALGORITHMS = st.sampled_from(
    [
        MAASLIE(level_weights=WEIGHTS),
        MAASLIE(level_weights=WEIGHTS, index="sum"),
        MAASLIE(w1=0.9, w2=0.1, base=2),
        MAASLIE(w1=0.9, w2=0.1, base=2, index="sum"),
        MAASLIE(w1=1.0, w2=0.0),
        MAASLIE(w1=0.0, w2=1.0, weights={"age": 3.0, "job": 0.25}),
        GreedyPKClustering(),
        GreedyPKClustering(weights={"grade": 2.0}),
    ]
)


@given(ROWS, demands(), ALGORITHMS)
def test_whole_runs_are_those_of_the_oracle(
    rows: list[tuple[object, ...]], need: tuple[int, int, int], algorithm: ClusteringAlgorithm
) -> None:
    task = task_of(table_of(rows), [hpk(*need)])
    assert classes_of(task, labels_of(algorithm, task)) == expected(algorithm, task)


@examples(30)
@given(
    ROWS, st.integers(1, 4), st.sampled_from(list(MissingPolicy)), st.sampled_from([MAASLIE(), GreedyPKClustering()])
)
def test_the_form_without_levels_and_with_missing_values_is_that_of_the_oracle(
    rows: list[tuple[object, ...]], p: int, missing: MissingPolicy, algorithm: ClusteringAlgorithm
) -> None:
    lost = [(*row[:-1], None if place % 4 == 0 else row[-1]) for place, row in enumerate(rows)]
    table = table_of(lost)
    if table["disease"].null_count == table.num_rows:
        return
    task = task_of(table, [sf.models.PSensitiveKAnonymity(p=p, k=4, sensitive="disease")], missing)
    assert classes_of(task, labels_of(algorithm, task)) == expected(algorithm, task)


@given(ROWS, demands(), ALGORITHMS, st.sampled_from(["centers", "ranges"]))
def test_every_class_keeps_the_model_or_nothing_can(
    rows: list[tuple[object, ...]], need: tuple[int, int, int], algorithm: ClusteringAlgorithm, publish: Shown
) -> None:
    chosen = replace(algorithm, publish=publish)
    task = task_of(table_of(rows), [hpk(*need)])
    whole = Groups.from_rows(np.zeros(len(rows), dtype=np.int32), 1, task.table.sensitive)
    if not task.models[0].satisfied_by(whole)[0]:
        with pytest.raises(InfeasibleError, match="a single group of all records reaches"):
            chosen.search(task)
        return
    group = chosen.search(task).group
    assert len(group) == len(rows)
    assert task.models[0].satisfied_by(Groups.from_rows(group, int(group.max()) + 1, task.table.sensitive)).all()


@pytest.mark.parametrize("need", [(1, 1, 3), (3, 3, 3), (2, 4, 4), (3, 5, 5)])
@pytest.mark.parametrize("algorithm", [MAASLIE(), GreedyPKClustering()])
def test_equal_records_are_parted_into_classes_by_their_values_alone(
    need: tuple[int, int, int], algorithm: ClusteringAlgorithm
) -> None:
    rows = [(30, "none", "clerk", "red", disease) for disease in DISEASES * 3]
    task = task_of(table_of(rows), [hpk(*need)])
    labels = labels_of(algorithm, task)
    groups = Groups.from_rows(np.array(labels), max(labels) + 1, task.table.sensitive)
    assert max(labels) + 1 > 1
    assert hpk(*need).satisfied_by(groups).all()
    assert classes_of(task, labels) == expected(algorithm, task)


def test_without_loss_the_larger_entropy_counts() -> None:
    rows = [(20, "none", "clerk", "red", d) for d in ("HIV", "cancer", "flu")] + [
        (60, "none", "diver", "red", "flu")
    ] * 2
    task = task_of(table_of(rows), [sf.models.KAnonymity(k=2), hpk(1, 1, 2)])
    first = next(group for group in classes_of(task, labels_of(MAASLIE(), task)) if group[0].codes[0] == 0)
    assert len({record.level for record in first}) == 2


def test_a_frequent_value_is_spread_over_the_classes_that_rare_ones_allow() -> None:
    rows = [(20 + age % 9, "none", "clerk", "red", "flu") for age in range(60)]
    rows += [(20, "school", "diver", "green", "HIV"), (28, "degree", "lawyer", "red", "cancer")]
    task = task_of(table_of(rows), [hpk(2, 2, 3)])
    for algorithm in (MAASLIE(), GreedyPKClustering()):
        sizes = Counter(labels_of(algorithm, task_of(table_of(rows), [hpk(2, 2, 3)])))
        assert len(sizes) == 2
        assert sum(sizes.values()) == 62
    assert classes_of(task, labels_of(MAASLIE(), task)) == expected(MAASLIE(), task)


def printed_classes(original: pa.Table, table: int) -> list[int]:
    """Find the class of every record of table 1 of the paper in another of its tables."""
    printed = pc.read_csv(GOLDEN / f"maa_slie_{table}.csv")
    ages, diseases = np.array(original["age"]), np.array(original["disease"])
    labels = np.full(len(ages), -1)
    for group, shown, disease in zip(*(printed[name].to_pylist() for name in ("group", "age", "disease")), strict=True):
        low, high = (int(end) for end in re.findall(r"\d+", shown))
        fits = (low <= ages) & (ages <= high) & (diseases == disease) & (labels < 0)
        labels[np.flatnonzero(fits)[0]] = group - 1
    return labels.tolist()


def test_the_table_of_the_paper_is_published_as_in_the_paper_or_better() -> None:
    original = pc.read_csv(GOLDEN / "maa_slie_1.csv").select(["age", "zip", "disease"])
    levels = {"HIV": 3, "Cancer": 3, "Diabetes": 2, "Hepatitis": 2, "Flu": 1, "Fever": 1}
    model = sf.models.HPKAnonymity(h=2, p=2, k=2, sensitive="disease", sensitivity_levels=levels)
    schema, theirs = sf.Schema(quasi_identifiers=["age", "zip"], sensitive=["disease"]), printed_classes(original, 3)
    task = task_of(original, [model], schema=schema)
    ours = labels_of(MAASLIE(), task)
    space = RecordSpace.of(task.table)
    assert model.satisfied_by(Groups.from_rows(np.array(ours), max(ours) + 1, task.table.sensitive)).all()
    assert space.losses(np.array(ours), 4).sum() <= space.losses(np.array(theirs), 4).sum()

    texts = original.set_column(1, "zip", original["zip"].cast(pa.string()))
    task = task_of(texts, [model], schema=replace(schema, hierarchies={"zip": sf.hierarchies.Prefixes()}))
    ours = labels_of(MAASLIE(w1=0.7, w2=0.3, index="sum", level_weights={"1": 0.2, "2": 0.4, "3": 0.8}), task)
    assert len(set(zip(ours, theirs, strict=True))) == len(set(ours)) == len(set(theirs)) == 4


def test_greedy_clusters_of_the_table_of_the_paper_are_those_of_its_second_table() -> None:
    original = pc.read_csv(GOLDEN / "maa_slie_1.csv").select(["age", "zip", "disease"])
    texts, theirs = original.set_column(1, "zip", original["zip"].cast(pa.string())), printed_classes(original, 2)
    schema = sf.Schema(
        quasi_identifiers=["age", "zip"], sensitive=["disease"], hierarchies={"zip": sf.hierarchies.Prefixes()}
    )
    task = task_of(texts, [sf.models.PSensitiveKAnonymity(p=2, k=2, sensitive="disease")], schema=schema)
    ours = labels_of(GreedyPKClustering(), task)
    assert len(set(zip(ours, theirs, strict=True))) == len(set(ours)) == len(set(theirs)) == 4


def keeping(told: list[float]) -> Progress:
    """Keep what is told of progress."""

    def keep(done: float, note: str = "") -> None:
        assert isinstance(note, str)
        told.append(done)

    return keep


def many_rows(count: int, seed: int) -> list[tuple[object, ...]]:
    rng = np.random.default_rng(seed)
    picks: list[Sequence[object]] = [
        [20, 21, 25, 40, 60],
        ORDER,
        list(JOBS.hierarchy.leaves),
        ["red", "green"],
        DISEASES,
    ]
    return [tuple(values[int(rng.integers(len(values)))] for values in picks) for _ in range(count)]


def test_the_approximate_mode_forms_classes_inside_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maa_slie, "BLOCK", 40)
    rows = many_rows(400, 5)
    told: list[float] = []
    task = task_of(table_of(rows), [hpk(2, 3, 4)])
    blocks = maa_slie._blocks(RecordSpace.of(task.table), task, 40)
    assert len(blocks) > 3
    assert min(len(block) for block in blocks) >= 40
    assert sorted(np.concatenate(blocks).tolist()) == list(range(400))
    labels = np.array(labels_of(MAASLIE(approximate=True), task_of(table_of(rows), [hpk(2, 3, 4)])))
    again = labels_of(MAASLIE(approximate=True), task_of(table_of(rows), [hpk(2, 3, 4)]))
    assert labels.tolist() == again
    for block, other in pairwise(blocks):
        assert not set(labels[block]) & set(labels[other])
    groups = Groups.from_rows(labels, int(labels.max()) + 1, task.table.sensitive)
    assert hpk(2, 3, 4).satisfied_by(groups).all()
    telling = task_of(table_of(rows), [hpk(2, 3, 4)], progress=keeping(told))
    assert MAASLIE(approximate=True).search(telling).suppressed(telling.table) == 0
    assert told == sorted(told)
    assert told[-1] == 1


def test_small_tables_are_not_cut_into_blocks() -> None:
    rows = many_rows(60, 1)
    exact, blocked = (
        labels_of(MAASLIE(approximate=approximate), task_of(table_of(rows), [hpk(2, 2, 3)]))
        for approximate in (False, True)
    )
    assert exact == blocked


def test_work_in_many_calls_gives_the_same_classes_and_tells_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = many_rows(80, 2)
    at_once = labels_of(MAASLIE(), task_of(table_of(rows), [hpk(2, 5, 5)]))
    monkeypatch.setattr(_class_growth, "STEPS_PER_CALL", 1)
    told: list[float] = []
    telling = task_of(table_of(rows), [hpk(2, 5, 5)], progress=keeping(told))
    assert labels_of(MAASLIE(), telling) == at_once
    assert len(told) > max(at_once)
    assert told == sorted(told)


def test_an_interrupted_search_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maa_slie, "BLOCK", 40)

    def stop(done: float, note: str = "") -> None:
        raise KeyboardInterrupt(done, note)

    stopped = task_of(table_of(many_rows(400, 5)), [hpk(1, 2, 4)], progress=stop)
    for algorithm in (MAASLIE(), MAASLIE(approximate=True), GreedyPKClustering()):
        with pytest.raises(KeyboardInterrupt):
            algorithm.search(stopped)


def test_other_models_are_kept_too() -> None:
    table = table_of(many_rows(120, 8))
    for models in (
        [sf.models.EntropyLDiversity(l=2.5, sensitive="disease")],
        [hpk(2, 2, 3), sf.models.TCloseness(t=0.3, sensitive="disease")],
    ):
        for algorithm in (MAASLIE(), GreedyPKClustering()):
            release = sf.anonymize(table, SCHEMA, models, algorithm, seed=1)
            assert release.audit.holds


def test_levels_without_weights_are_spread_evenly_if_they_are_numbers() -> None:
    numbers = class_requirements(task_of(table_of(many_rows(9, 0)), [hpk(1, 1, 2)]))
    assert dict(zip(numbers.level_names, weights_by_level(numbers, None), strict=True)) == {1: 0.25, 2: 0.5, 3: 0.75}
    texts = {value: f"level {level}" for value, level in LEVELS.items()}
    model = sf.models.HPKAnonymity(h=1, p=1, k=2, sensitive="disease", sensitivity_levels=texts)
    assert weights_by_level(class_requirements(task_of(table_of(many_rows(9, 0)), [model])), None) == [0.5] * 3


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"w1": 0.6}, r"w2 must be 1 - w1 = 0\.4, so that they sum to 1; got 0\.5"),
        ({"w1": -0.1, "w2": 1.1}, "w1 must be a number from 0 to 1"),
        ({"w1": float("nan")}, "w1 must be a number from 0 to 1"),
        ({"index": "median"}, "index must be 'mean' or 'sum'"),
        ({"base": 1}, "base must be a number above 1"),
        ({"level_weights": {"1": 1.0}}, "level_weights must be a mapping from levels to numbers between 0 and 1"),
        ({"level_weights": {"1": 0.0}}, "level_weights must be a mapping from levels to numbers between 0 and 1"),
        ({"level_weights": {1: 0.5}}, "level_weights must be a mapping from levels to numbers between 0 and 1"),
        ({"approximate": 1}, "approximate must be true or false"),
        ({"weights": {"age": -1.0}}, "weights must be a mapping"),
        ({"publish": "nodes"}, "publish must be 'centers' or 'ranges'"),
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(InvalidParameterError, match=sentence):
        MAASLIE(**wrong)  # type: ignore[arg-type]  # wrong on purpose


def refused(
    models: Sequence[GroupModel], algorithm: ClusteringAlgorithm, rows: Sequence[tuple[object, ...]]
) -> Exception:
    with pytest.raises((UnsupportedModelError, InfeasibleError, SchemaError)) as caught:
        sf.anonymize(table_of(rows), SCHEMA, models, algorithm, seed=1)
    return caught.value


def test_impossible_and_unfit_requests_are_refused_in_a_sentence() -> None:
    rows = many_rows(12, 4)
    assert "12 rows" in str(refused([hpk(1, 1, 13)], MAASLIE(), rows))
    few = [(*row[:-1], "flu") for row in rows]
    assert isinstance(refused([hpk(1, 2, 3)], MAASLIE(), few), InfeasibleError)
    assert isinstance(
        refused([hpk(2, 2, 3)], MAASLIE(), [(*row[:-1], d) for row in rows for d in ("flu", "cold")]), InfeasibleError
    )
    short = sf.models.HPKAnonymity(h=1, p=1, k=2, sensitive="disease", sensitivity_levels={"flu": 1})
    assert "assigns no category or level" in str(refused([short], MAASLIE(), rows))
    partly = MAASLIE(level_weights={"1": 0.5, "7": 0.5})
    assert "misses 2 of the model's 3 levels and has 1 others" in str(refused([hpk(1, 1, 2)], partly, rows))
    assert "no model has levels" in str(refused([sf.models.KAnonymity(k=2)], partly, rows))
    assert "not a quasi-identifier" in str(refused([hpk(1, 1, 2)], MAASLIE(weights={"aeg": 2.0}), rows))
    missing = [(None, *rows[0][1:]), *rows[1:]]
    for algorithm in (MAASLIE(), GreedyPKClustering()):
        assert "column 'age' has 1 missing cells" in str(refused([hpk(1, 1, 2)], algorithm, missing))


def test_constant_columns_are_published() -> None:
    rows = [(30, "none", "clerk", "red", disease) for disease in DISEASES]
    for algorithm in (MAASLIE(), MAASLIE(publish="ranges"), GreedyPKClustering()):
        release = sf.anonymize(table_of(rows), SCHEMA, [hpk(2, 2, 2)], algorithm, seed=1)
        assert release.audit.holds
