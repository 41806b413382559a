"""LKC-privacy of ways: all subsequences as oracle, and a search that keeps it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.trajectories._pipeline import anonymize
from sfumato.trajectories._release import read_published
from sfumato.trajectories.algorithms.lkc_suppression import LKCSuppression
from sfumato.trajectories.models.trajectory_lkc_privacy import TrajectoryLKCPrivacy
from sfumato.trajectories.trajectories import Trajectories


def visiting(ways, values):
    rows = [(person, step, place) for person, way in enumerate(ways) for step, place in enumerate(way)]
    person, step, place = (list(column) for column in zip(*rows, strict=True))
    table = {"person": person, "time": [f"2026-01-05T{8 + each:02}:10Z" for each in step], "place": place}
    return Trajectories(pa.table({**table, "ill": [values[each] for each in person]}), place="place", sensitive="ill")


def oracle(ways, values, model):
    """Return the smallest support, and how many sequences break the promise."""
    owned = [
        {each for size in range(1, model.l + 1) for each in combinations(list(enumerate(way)), size)} for way in ways
    ]
    supports, broken = [], 0
    for sequence in set().union(*owned):
        holders = [number for number, mine in enumerate(owned) if sequence in mine]
        share = max(Counter(values[each] for each in holders).values()) / len(holders)
        supports.append(len(holders))
        broken += len(holders) < model.k or share > model.c
    return min(supports), broken


drawn = st.lists(st.tuples(st.text("ab", min_size=1, max_size=4), st.sampled_from("xy")), min_size=2, max_size=7)
models = st.builds(TrajectoryLKCPrivacy, l=st.integers(1, 3), k=st.integers(1, 3), c=st.sampled_from([0.5, 0.75, 1.0]))


@given(drawn, models)
@examples(40)
def test_verdicts_equal_those_of_all_subsequences(persons, model):
    ways, values = zip(*persons, strict=True)
    verdict = model.evaluate(visiting(ways, values))
    assert (verdict.level, verdict.violations) == oracle(ways, values, model)


@given(drawn, models)
@examples(30)
def test_what_is_found_keeps_the_promise(persons, model):
    ways, values = zip(*persons, strict=True)
    try:
        found = LKCSuppression().search(Request(data=visiting(ways, values), models=[model]))
    except InfeasibleError:
        return
    assert model.evaluate(found).holds


def test_a_release_with_sensitive_values_reads_back(tmp_path):
    ways = visiting(["abab", "abab", "abb", "aba"], "xyxy")
    release = anonymize(ways, models=[TrajectoryLKCPrivacy(l=2, k=2, c=0.67)], algorithm=LKCSuppression())
    release.write(tmp_path / "out")
    read = read_published(tmp_path / "out" / "public" / "ways.csv")
    assert read.points.value_names == ("x", "y")
    assert TrajectoryLKCPrivacy(l=2, k=2, c=0.67).evaluate(read).holds
    assert all(moment.minute == 0 for moment in read.to_frame()["time"].to_pylist())


def test_bad_input_is_refused():
    with pytest.raises(InvalidParameterError, match=r"TrajectoryLKCPrivacy\.c"):
        TrajectoryLKCPrivacy(l=1, k=1, c=1.5)
    plain = visiting(["ab", "ab"], "xy").to_frame().drop_columns(["sensitive"])
    with pytest.raises(SchemaError, match="no sensitive value"):
        TrajectoryLKCPrivacy(l=1, k=1, c=0.5).evaluate(Trajectories(plain, place="place"))
    with pytest.raises(SchemaError, match="more than one sensitive value"):
        Trajectories(
            pa.table(
                {
                    "person": [1, 1],
                    "time": ["2026-01-05T08:00Z", "2026-01-05T09:00Z"],
                    "place": ["a", "b"],
                    "ill": ["x", "y"],
                }
            ),
            place="place",
            sensitive="ill",
        )
