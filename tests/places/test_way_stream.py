"""Crowds that stay together: who is in one, what leaves, and what a crash leaves behind."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import InvalidParameterError, ReadError, SchemaError
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.streams import TrajectoryStream, audit_stream

CITY = Area(west=13.2, south=52.4, east=13.6, north=52.6)


def points(*rows):
    person, minute, longitude = zip(*rows, strict=True)
    times = [f"2026-01-05T{8 + each // 60:02}:{each % 60:02}:00Z" for each in minute]
    return pa.table(
        {"person": person, "time": times, "lon": [float(each) for each in longitude], "lat": [52.5] * len(rows)}
    )


@pytest.fixture
def stream(tmp_path):
    return TrajectoryStream(k=2, area=CITY, state=tmp_path / "state")


def test_a_crowd_keeps_its_persons_and_its_key(stream):
    first = stream.update(points(("a", 0, 13.3), ("b", 0, 13.31), ("c", 0, 13.5), ("d", 0, 13.51)))
    assert first["persons"].to_pylist() == [2, 2]
    later = stream.update(points(("a", 5, 13.5), ("b", 5, 13.31)))
    assert later.num_rows == 1
    (key,) = later["key"].to_pylist()
    assert key in first["key"].to_pylist()
    assert later["east"][0].as_py() - later["west"][0].as_py() > 0.18


def test_who_is_alone_waits_and_is_left_out_in_the_end(stream):
    assert stream.update(points(("a", 0, 13.3))).num_rows == 0
    assert stream.waiting == 1
    stream.update(points(("b", 1, 13.4), ("c", 1, 13.4), ("a", 1, 13.3)))
    assert stream.waiting == 0
    assert stream.update(points(("x", 2, 13.3))).num_rows == 0
    stream.update(points(("b", 10, 13.4), ("c", 10, 13.4)))
    assert (stream.waiting, stream.suppressed) == (0, 1)


def test_a_long_batch_is_taken_as_if_it_had_come_in_parts(tmp_path):
    """Everybody meets at her own time; taken at once, only the last would be seen, and nobody would be counted."""
    rows = [(name, minute, 13.3) for minute in (0, 10, 30, 40) for name in (f"{minute}a", f"{minute}b")]
    alone = ("z", 17, 13.4)
    whole, parts = (TrajectoryStream(k=2, area=CITY, state=tmp_path / name) for name in ("whole", "parts"))
    shown = whole.update(points(*rows, alone))
    one_by_one = [parts.update(points(*each)) for each in (rows[:2], rows[2:4], [alone], rows[4:6], rows[6:])]
    assert shown["time"].to_pylist() == pa.concat_tables(one_by_one)["time"].to_pylist()
    assert shown.num_rows == 4
    assert whole.suppressed == parts.suppressed == 1


def test_who_is_silent_while_waiting_is_counted(tmp_path):
    stream = TrajectoryStream(k=2, area=CITY, state=tmp_path / "state", window=300, patience=900)
    stream.update(points(("a", 0, 13.3)))
    stream.update(points(("b", 10, 13.3)))
    assert (stream.waiting, stream.suppressed) == (1, 1)


def test_a_stream_goes_on_as_its_state_says(stream, tmp_path):
    stream.update(points(("a", 0, 13.3), ("b", 0, 13.3)))
    again = TrajectoryStream.load(tmp_path / "state")
    assert (
        repr(again) == repr(stream) == "TrajectoryStream(k=2, 1 crowds, 0 persons wait, 0 left out, 0 points too late)"
    )


def test_a_crowd_that_becomes_too_small_ends(stream):
    (key,) = stream.update(points(("a", 0, 13.3), ("b", 0, 13.3)))["key"].to_pylist()
    assert stream.update(points(("a", 20, 13.3))).num_rows == 0
    (fresh,) = stream.update(points(("a", 21, 13.3), ("c", 21, 13.3)))["key"].to_pylist()
    assert fresh != key


def test_points_that_come_too_late_are_counted(stream):
    stream.update(points(("a", 40, 13.3), ("b", 40, 13.3)))
    assert stream.update(points(("a", 10, 13.3))).num_rows == 0
    assert stream.late == 1


def test_a_new_process_goes_on_with_the_same_crowds(tmp_path):
    options = {"k": 2, "area": CITY, "state": tmp_path / "state"}
    first = TrajectoryStream(**options).update(points(("a", 0, 13.3), ("b", 0, 13.3)))
    later = TrajectoryStream(**options).update(points(("b", 1, 13.4), ("z", 1, 13.3)))
    assert later["key"].to_pylist() == first["key"].to_pylist()
    assert later["persons"].to_pylist() == [2]
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o600


def test_nothing_leaves_and_nothing_changes_if_the_state_cannot_be_written(stream, monkeypatch):
    stream.update(points(("a", 0, 13.3), ("b", 0, 13.3)))

    def fail(*_):
        raise OSError

    monkeypatch.setattr("sfumato.trajectories.streams.write_state", fail)
    with pytest.raises(OSError, match=r"^$"):
        stream.update(points(("c", 1, 13.3), ("d", 1, 13.3)))
    monkeypatch.undo()
    assert stream.update(points(("c", 2, 13.3), ("d", 2, 13.3))).num_rows == 1


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefg"), st.integers(0, 59), st.floats(13.2, 13.59)), min_size=1, max_size=40
    ),
    st.integers(1, 3),
)
@examples(25)
def test_everything_that_leaves_keeps_the_promise(tmp_path_factory, rows, k):
    stream = TrajectoryStream(k=k, area=CITY, state=tmp_path_factory.mktemp("stream") / "state")
    shown, members = [], {}
    for start in range(0, len(rows), 5):
        shown.append(stream.update(points(*rows[start : start + 5])))
        for key, persons in stream._crowds.members().items():
            assert set(persons) <= members.setdefault(key, set(persons))
            members[key] = set(persons)
    everything = pa.concat_tables(shown)
    assert audit_stream(everything, k=k).holds


def test_a_crowd_that_grows_or_is_too_small_breaks_the_promise(stream):
    shown = stream.update(points(("a", 0, 13.3), ("b", 0, 13.3)))
    assert not audit_stream(shown, k=3).holds
    later = shown.set_column(2, "persons", pa.array([3])).set_column(
        1, "time", pa.array(np.array([2**51]), pa.timestamp("us", "UTC"))
    )
    assert not audit_stream(pa.concat_tables([shown, later]), k=2).holds


def test_bad_states_and_tables_are_refused(tmp_path, stream):
    (tmp_path / "other").write_text("a letter")
    with pytest.raises(ReadError, match="not the state of a stream"):
        TrajectoryStream(k=2, area=CITY, state=tmp_path / "other")
    stream.update(points(("a", 0, 13.3)))
    with pytest.raises(InvalidParameterError, match="other settings"):
        TrajectoryStream(k=3, area=CITY, state=tmp_path / "state")
    text = (tmp_path / "state").read_text()
    (tmp_path / "state").write_text(text.replace("suppressed", "suppresses"))
    with pytest.raises(ReadError, match="altered"):
        TrajectoryStream(k=2, area=CITY, state=tmp_path / "state")
    with pytest.raises(SchemaError, match="no stream of regions"):
        audit_stream(points(("a", 0, 13.3)), k=2)
    with pytest.raises(SchemaError, match="outside the area"):
        stream.update(points(("a", 1, 10.0)))
