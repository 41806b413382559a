"""Scores of classes with a newcomer, kept up record by record, against definitions from scratch."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microaggregation_oracle import Record, axis_loss, box_loss, entropy
from sfumato.encoding.coded_table import CodedTable, encode_table
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.microaggregation._class_growth import AdmissionRule, ClassRequirements, _ClassGrowth
from sfumato.tables.algorithms.microaggregation._kernels import class_growing
from sfumato.tables.algorithms.microaggregation._kernels import class_growing as microaggregating
from sfumato.tables.algorithms.microaggregation._space import RecordSpace
from strategies import JOBS

ORDER = ["none", "school", "degree", "doctor"]
NAMES = ("income", "grade", "job", "color")
WEIGHTS = [0.1, 0.4, 0.8]
ROW = st.tuples(
    st.sampled_from([1.5, 2.25, 7.0, 30.1]),
    st.sampled_from(ORDER),
    st.sampled_from(JOBS.hierarchy.leaves),
    st.sampled_from(["red", "green", "blue"]),
    st.integers(-1, 2),
)
CLOSE = 1e-8


def grown(
    rows: list[tuple[object, ...]], members: int
) -> tuple[CodedTable, RecordSpace, _ClassGrowth, npt.NDArray[np.int32]]:
    """Put the first rows of a table into one class, one by one; give the flat codes of all rows."""
    columns = list(zip(*rows, strict=True))
    table = pa.table({name: list(column) for name, column in zip(NAMES, columns, strict=False)})
    coded = encode_table(
        table, Schema(quasi_identifiers=list(NAMES), hierarchies={"job": JOBS}, orders={"grade": ORDER})
    )
    space = RecordSpace.of(coded, {"income": 0.5, "job": 3.0})
    levels = np.array(columns[4], dtype=np.int32)
    demand = ClassRequirements((0, 0, len(rows)), levels, levels, (), len(WEIGHTS))
    growth = _ClassGrowth(space, np.arange(len(rows)), demand, AdmissionRule(0.5, 0.5, WEIGHTS, 10.0))
    codes = growth.records[0][growth.name_of]
    for row in range(members):
        class_growing.add_record(codes[row], levels[row], 0, growth.axes, growth.classes, growth.entries)
    return coded, space, growth, codes


@given(st.lists(ROW, min_size=2, max_size=14), st.data())
def test_the_loss_with_every_newcomer_is_that_from_scratch(rows: list[tuple[object, ...]], data: st.DataObject) -> None:
    members = data.draw(st.integers(1, len(rows) - 1))
    coded, space, growth, codes = grown(rows, members)
    table = np.zeros(len(growth.axes[4]))
    microaggregating.fill_losses(0, 0, growth.axes, growth.classes, growth.entries, table)
    widths = np.zeros_like(table)
    microaggregating.fill_losses(0, 1, growth.axes, growth.classes, growth.entries, widths)
    for j, axis in enumerate(space.axes):
        inside = coded.quasi[j].codes[:members].tolist()
        for row in range(members, len(rows)):
            together = [*inside, int(coded.quasi[j].codes[row])]
            code_of = codes[row, j]
            wanted = axis.weight * float(axis_loss(axis, together))
            assert table[code_of] == pytest.approx(wanted, abs=CLOSE)
            alone = microaggregating.loss_with(j, code_of, 0, growth.axes, growth.classes, growth.entries)
            assert alone == table[code_of]
            box = box_loss([axis], [Record((each,), 0, 0) for each in together]) / len(together)
            assert widths[code_of] == pytest.approx(float(box), abs=CLOSE)


@given(st.lists(ROW, min_size=1, max_size=14), st.integers(-1, 2))
def test_the_entropy_with_a_newcomer_is_that_from_scratch(rows: list[tuple[object, ...]], level: int) -> None:
    _, _, growth, _ = grown([*rows, rows[0]], len(rows))
    before = microaggregating.entropy_before(0, growth.classes, growth.rule)
    found = microaggregating.entropy_with(level, before, 0, growth.classes, growth.rule)
    together = [Record((), 0, int(str(row[4]))) for row in rows] + [Record((), 0, level)]
    assert found == pytest.approx(float(entropy(together, WEIGHTS, 10.0)), abs=CLOSE)


def test_an_index_without_loss_is_beyond_all_others_and_never_infinite() -> None:
    rule = AdmissionRule(0.25, 0.75, WEIGHTS, 10.0).arrays(1)
    free, some = (
        microaggregating.privacy_safety_index(0.0, 0.1, 4, rule),
        microaggregating.privacy_safety_index(1e-9, 0.9, 4, rule),
    )
    assert free > some
    assert microaggregating.privacy_safety_index(0.0, 0.2, 4, rule) > free
    assert all(math.isfinite(part) for part in (*free, *some))
    assert some[1] == pytest.approx(0.25 * 0.9 + 0.75e9)
    only_entropy = AdmissionRule(1.0, 0.0, WEIGHTS, 10.0).arrays(1)
    assert microaggregating.privacy_safety_index(0.0, 0.1, 4, only_entropy) < microaggregating.privacy_safety_index(
        5.0, 0.2, 4, only_entropy
    )
    assert microaggregating.privacy_safety_index(2.0, 0.1, 4, only_entropy) > microaggregating.privacy_safety_index(
        5.0, 0.1, 4, only_entropy
    )


def test_an_index_of_mean_losses_is_the_same_for_classes_of_all_sizes() -> None:
    """Twice as many records with twice the loss are as safe; by the sum of losses they are less safe."""
    averaged = AdmissionRule(0.5, 0.5, WEIGHTS, 10.0, averaged=True).arrays(1)
    summed = AdmissionRule(0.5, 0.5, WEIGHTS, 10.0).arrays(1)
    assert microaggregating.privacy_safety_index(2.0, 0.3, 8, averaged) == microaggregating.privacy_safety_index(
        4.0, 0.3, 16, averaged
    )
    assert microaggregating.privacy_safety_index(2.0, 0.3, 8, averaged)[1] == pytest.approx(0.5 * 0.3 + 0.5 * 8 / 2.0)
    assert microaggregating.privacy_safety_index(2.0, 0.3, 8, summed) > microaggregating.privacy_safety_index(
        4.0, 0.3, 16, summed
    )


def test_classes_move_to_more_room_when_they_are_full() -> None:
    rows: list[tuple[object, ...]] = [(float(i), ORDER[0], "clerk", "red", 0) for i in range(6)]
    _, _, growth, codes = grown(rows, 6)
    growth.classes[1][0] = 6
    longer = tuple(np.concatenate([part, np.zeros((4, 20), dtype=part.dtype)], axis=1) for part in growth.entries)
    end = np.array([growth.most * growth.room])
    class_growing.enlarge_class(0, growth.classes, longer, end)
    first, room = growth.classes[0][0], growth.classes[1][0]
    assert (first, room, end[0]) == (8, 12, 20)
    assert longer[0][0, first : first + 6].tolist() == codes[:, 0].tolist()


@pytest.mark.slow
def test_loops_stay_inside_their_arrays() -> None:
    script = """
import numpy as np, sfumato as sf
from sfumato.algorithms.microaggregation.greedy_pk_clustering import GreedyPKClustering
from sfumato.algorithms.microaggregation.maa_slie import MAASLIE
schema = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["disease"])
for rows, k in ((2, 2), (9, 2), (40, 3), (40, 20)):
    rng = np.random.default_rng(rows)
    picks = {"age": rng.integers(0, 30, rows), "sex": rng.choice(["f", "m"], rows), "disease": ["a", "b"] * 20}
    table = {name: list(values)[:rows] for name, values in picks.items()}
    model = sf.models.HPKAnonymity(h=2, p=2, k=k, sensitive="disease", levels={"a": 1, "b": 2})
    for algorithm in (MAASLIE(), GreedyPKClustering()):
        assert sf.anonymize(__import__("pyarrow").table(table), schema, [model], algorithm, seed=1).audit.holds
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    ended = subprocess.run(  # noqa: S603 - the script above
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
