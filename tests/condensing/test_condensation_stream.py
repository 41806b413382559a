"""Condensation of a stream: against a slow oracle, however it is cut, whatever its length, across restarts."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato._randomness import secret_from_seed as fixed
from sfumato.synthesis import stream as stream_module
from sfumato.synthesis._statistics import GroupStatistics
from sfumato.synthesis.stream import CondensationStream, halve_counts

NAMES = ["a", "b", "c"]


def numbers(rows: int, seed: int = 1, offset: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, 3)) @ [[2.0, 1.0, 0.0], [0.0, 0.5, -0.4], [0.0, 0.0, 0.2]]
    values += rng.integers(0, 4, size=(rows, 1)) * [10, 3, -7]
    return pd.DataFrame(values + offset, columns=NAMES)


def mixed(rows: int, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return numbers(rows, seed).assign(sex=rng.choice(["f", "m"], size=rows), zip=rng.choice([4711, 4712], size=rows))


def condensed(data: pd.DataFrame, cuts: list[int] | None = None, **settings) -> CondensationStream:
    settings = {"k": 5, "columns": list(data.columns), "secret": fixed(1), **settings}
    stream = CondensationStream(**settings)
    for begin, end in zip([0, *(cuts or [])], [*(cuts or []), len(data)], strict=True):
        stream.update(data.iloc[begin:end])
    return stream


def state_arrays(stream: CondensationStream) -> list[np.ndarray]:
    state = stream._state
    return [state.seen, state.center, state.spread, state.sizes, state.means, state.scatter, *state.counts]


def pooled(statistics: GroupStatistics) -> tuple[np.ndarray, np.ndarray]:
    total = statistics.sizes.sum()
    mean = statistics.sums.sum(axis=0) / total
    apart = statistics.means - mean
    between = (statistics.sizes[:, None, None] * apart[:, :, None] * apart[:, None, :]).sum(axis=0)
    return mean, (statistics.scatter.sum(axis=0) + between) / total


def slow(rows: np.ndarray, k: int, most_groups: int) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Condense as printed: r, Sum(i) and Sum(i,j) of every group, in units of the deviations so far."""
    groups = [(0, np.zeros(rows.shape[1]), np.zeros((rows.shape[1],) * 2))]
    for seen, row in enumerate(rows, start=1):
        scales = rows[:seen].std(axis=0)
        scales = np.where(scales > 0, scales, 1.0)
        far = [((row - total / max(size, 1)) / scales) ** 2 for size, total, _ in groups]
        chosen = int(np.argmin([gaps.sum() for gaps in far]))
        size, total, products = groups[chosen]
        size, total, products = size + 1, total + row, products + np.outer(row, row)
        groups[chosen] = (size, total, products)
        if size == 2 * k and len(groups) < most_groups:
            covariance = (products / size - np.outer(total, total) / size**2) / np.outer(scales, scales)
            variances, axes = np.linalg.eigh(covariance)
            step = np.sqrt(12 * variances[-1]) / 4 * axes[:, -1] * scales
            step *= np.sign(axes[np.abs(axes[:, -1]).argmax(), -1])
            variances[-1] /= 4
            covariance = axes @ np.diag(variances) @ axes.T * np.outer(scales, scales)
            halves = [total / size - step, total / size + step]
            first, second = ((k, k * mean, k * (covariance + np.outer(mean, mean))) for mean in halves)
            groups[chosen] = first
            groups.append(second)
    return groups


@given(st.integers(0, 10_000), st.integers(1, 39), st.sampled_from([0.0, -300.0, 1e9]))
def test_before_the_first_split_the_statistics_are_those_of_the_batch(seed, rows, offset):
    data = numbers(rows, seed, offset)
    stream = condensed(data, k=20)
    assert stream.groups == 1
    found = stream._state.statistics()
    expected = GroupStatistics.from_rows(data.to_numpy(), np.zeros(rows, dtype=np.int64), 1)
    assert found.sizes.tolist() == expected.sizes.tolist()
    np.testing.assert_allclose(found.means, expected.means, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(found.covariances, expected.covariances, rtol=1e-4 if offset == 1e9 else 1e-9, atol=1e-9)


@pytest.mark.parametrize(("k", "most_groups"), [(3, 1000), (4, 6), (2, 1)])
def test_the_compiled_loop_does_what_the_oracle_does(k, most_groups):
    data = numbers(160, seed=2)
    found = condensed(data, k=k, most_groups=most_groups)._state.statistics()
    expected = slow(data.to_numpy(), k, most_groups)
    assert found.sizes.tolist() == [size for size, _, _ in expected]
    np.testing.assert_allclose(found.sums, [total for _, total, _ in expected], atol=1e-7)
    np.testing.assert_allclose(found.products, [products for _, _, products in expected], atol=1e-5)


@given(st.lists(st.integers(0, 300), max_size=6))
def test_it_does_not_matter_how_the_stream_is_cut(cuts):
    data = mixed(300)
    whole, parts = condensed(data), condensed(data, sorted(cuts))
    for one, other in zip(state_arrays(whole), state_arrays(parts), strict=True):
        np.testing.assert_array_equal(one, other)


def test_splits_keep_the_mean_and_covariance_of_all_records():
    data = numbers(3000, offset=1000.0)
    stream = condensed(data, k=10)
    assert stream.groups > 50
    mean, covariance = pooled(stream._state.statistics())
    np.testing.assert_allclose(mean, data.mean(), rtol=1e-12)
    np.testing.assert_allclose(covariance, np.cov(data.T, bias=True), rtol=1e-9)


def test_drawn_records_have_the_mean_and_covariance_of_the_stream():
    data = numbers(2000)
    drawn = condensed(data, k=10, secret=fixed(4)).sample(4000).to_numpy()
    shifted = drawn - data.to_numpy().mean(axis=0)
    # six and a half standard deviations for each of twelve figures: false alarm below 1e-9
    assert (np.abs(shifted.mean(axis=0)) < 6.5 * shifted.std(axis=0) / np.sqrt(4000)).all()
    products = shifted[:, :, None] * shifted[:, None, :]
    errors = np.abs(products.mean(axis=0) - np.cov(data.T, bias=True))
    assert (errors < 6.5 * products.std(axis=0) / np.sqrt(4000)).all()


def test_groups_have_at_least_k_records_and_their_counts_add_up():
    stream = condensed(mixed(1000), k=7, categorical=["zip"])
    assert stream.sizes.min() >= 7
    assert stream.sizes.max() < 14
    assert stream.sizes.sum() == stream.records == 1000
    for counts in stream._state.counts:
        np.testing.assert_array_equal(counts.sum(axis=1)[: stream.groups], stream.sizes)
        assert counts.min() >= 0


def test_memory_does_not_grow_with_the_stream():
    stream = condensed(mixed(500), k=5, most_groups=20, categorical=["zip"])
    room = stream.nbytes
    assert room > 0
    for seed in range(2, 12):
        stream.update(mixed(500, seed))
    assert stream.nbytes == room
    assert stream.groups == 20
    assert stream.records == 5500
    assert stream.sizes.sum() == 5500
    assert all(array.shape != (500,) for array in state_arrays(stream))


def test_halved_counts_lose_nobody():
    for counts in ([4, 2], [3, 3], [1, 1, 1, 1], [5, 0, 3]):
        first, second = halve_counts(np.array(counts))
        assert (first + second).tolist() == counts
        assert first.sum() == second.sum()
        assert np.abs(first - second).max() <= 1


def test_it_goes_on_after_a_restart_as_if_there_had_been_none(tmp_path):
    file = tmp_path / "stream.state"
    stream = condensed(mixed(400), categorical=["zip"], secret=fixed(11))
    stream.sample(10)
    stream.save(file)
    loaded = CondensationStream.load(file)
    assert repr(loaded) == repr(stream)
    for each in (stream, loaded):
        each.update(mixed(300, seed=5).assign(sex="x"))
    for one, other in zip(state_arrays(stream), state_arrays(loaded), strict=True):
        np.testing.assert_array_equal(one, other)
    pd.testing.assert_frame_equal(stream.sample(200), loaded.sample(200))
    assert set(loaded.sample(2000)["sex"]) == {"f", "m", "x"}


def test_every_draw_of_a_stream_is_another_and_a_secret_repeats_them():
    one, other = (
        condensed(numbers(50), secret=fixed(3)),
        condensed(numbers(50), secret=fixed(3)),
    )
    first = one.sample(20)
    assert first.equals(other.sample(20))
    assert not first.equals(one.sample(20))
    unseeded = condensed(numbers(50), secret=None)
    assert not unseeded.sample(20).equals(condensed(numbers(50), secret=None).sample(20))


def test_a_stream_without_records_survives_a_restart(tmp_path):
    stream = CondensationStream(k=3, columns=["a"])
    stream.save(tmp_path / "stream.state")
    loaded = CondensationStream.load(tmp_path / "stream.state")
    loaded.update(pa.table({"a": [1.5, 2.5, 3.5]}))
    assert (loaded.records, loaded.groups) == (3, 1)


def test_no_record_is_in_the_state(tmp_path):
    rows = numbers(400).round(6)
    stream = condensed(rows, k=10)
    held = {value for array in state_arrays(stream) for value in np.ravel(array).tolist()}
    assert not held & set(np.ravel(rows.to_numpy()).tolist())
    stream.save(tmp_path / "stream.state")
    assert (tmp_path / "stream.state").stat().st_size < 1_000_000


@pytest.mark.parametrize("kept", [0, 10, 60, 120, 500, -1])
def test_a_state_that_is_cut_off_is_refused(tmp_path, kept):
    file = tmp_path / "stream.state"
    condensed(mixed(100)).save(file)
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(sf.errors.ReadError, match=r"truncated|not the state|not have format"):
        CondensationStream.load(file)


def test_a_state_that_was_altered_is_refused(tmp_path):
    file = tmp_path / "stream.state"
    condensed(mixed(100)).save(file)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(sf.errors.ReadError, match="truncated or was altered"):
        CondensationStream.load(file)


def test_files_of_another_kind_or_format_are_refused(tmp_path):
    file = tmp_path / "stream.state"
    condensed(mixed(100)).save(file)
    later = file.read_bytes().replace(b"format 1\n", b"format 2\n", 1)
    file.write_bytes(later)
    with pytest.raises(sf.errors.ReadError, match="not have format 1"):
        CondensationStream.load(file)
    file.write_bytes(b"PK\x03\x04 something else")
    with pytest.raises(sf.errors.ReadError, match="is not the state"):
        CondensationStream.load(file)
    with pytest.raises(sf.errors.ReadError, match="cannot be read"):
        CondensationStream.load(tmp_path / "absent")


class Trap:
    """Leave a mark when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def test_nothing_in_a_state_is_executed(tmp_path):
    content = io.BytesIO()
    np.savez(content, header=np.array([Trap(tmp_path / "mark")], dtype=object))
    checksum = hashlib.sha256(content.getvalue()).hexdigest().encode()
    file = tmp_path / "stream.state"
    file.write_bytes(b"sfumato condensation stream, format 1\n" + checksum + b"\n" + content.getvalue())
    with pytest.raises(sf.errors.ReadError, match="not a complete state"):
        CondensationStream.load(file)
    assert not (tmp_path / "mark").exists()


def test_an_older_state_survives_a_failed_save(tmp_path, monkeypatch):
    file = tmp_path / "stream.state"
    stream = condensed(mixed(100))
    stream.save(file)
    before = file.read_bytes()
    monkeypatch.setattr("pathlib.Path.write_bytes", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(sf.errors.WriteError):
        stream.save(file)
    monkeypatch.undo()
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["stream.state"]


def gap(data: pd.DataFrame) -> pd.DataFrame:
    data.loc[data.index[3], "b"] = np.nan
    return data


WRONG = [
    (numbers(20), "The batch has no column 'sex'"),
    (mixed(20).rename(columns={"zip": "zipp"}), "The batch has no column 'zip'; did you mean 'zipp'"),
    (mixed(20).assign(a="kanarienvogel"), "Column 'a' had values of type number so far but has text"),
    (mixed(20).assign(sex=1), "Column 'sex' had values of type text so far but has whole"),
    (gap(mixed(20)), "Column 'b' has no value in 1 of 20 rows"),
    (mixed(20).assign(c=1e200), "Column 'c' contains numbers beyond"),
    (mixed(20).assign(c=np.inf), "infinite"),
    (mixed(1100).assign(sex=[f"kanarienvogel {i}" for i in range(1100)]), "'sex' has more than 1,000 distinct values"),
    ([1, 2], "pandas, Polars or Arrow"),
]


@pytest.mark.parametrize(("batch", "sentence"), WRONG)
def test_a_batch_that_does_not_fit_is_refused_and_changes_nothing(batch, sentence):
    stream = condensed(mixed(100), categorical=["zip"])
    before = [array.copy() for array in state_arrays(stream)]
    with pytest.raises(sf.errors.SfumatoError, match=sentence) as refused:
        stream.update(batch)
    assert "kanarienvogel" not in str(refused.value)
    assert [sorted(values) for values in vars(stream._state)["values"]] == [["f", "m"], ["4711", "4712"]]
    for one, other in zip(before, state_arrays(stream), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_first_batch_that_is_refused_leaves_an_empty_stream():
    stream = CondensationStream(k=5, columns=["a", "b"])
    with pytest.raises(sf.errors.SchemaError, match="has no value"):
        stream.update(gap(numbers(20)))
    assert (stream.records, stream.groups, stream.nbytes) == (0, 0, 0)
    stream.update(numbers(20))
    assert stream.records == 20


def test_too_many_values_are_counted_over_all_batches(monkeypatch):
    monkeypatch.setattr(stream_module, "MAX_VALUES", 3)
    stream = condensed(mixed(40), categorical=["zip"])
    stream.update(mixed(5).assign(sex="x"))
    with pytest.raises(sf.errors.SchemaError, match="more than 3 distinct values"):
        stream.update(mixed(5).assign(sex="y"))


def test_nothing_is_drawn_from_fewer_than_k_records():
    stream = condensed(numbers(4), k=5)
    with pytest.raises(sf.errors.InfeasibleError, match="4 records have arrived, but a group"):
        stream.sample(1)
    stream.update(numbers(1))
    assert len(stream.sample(3)) == 3
    with pytest.raises(sf.errors.InfeasibleError, match="0 records have arrived"):
        CondensationStream(k=5, columns=["a"]).sample(1)


def test_other_columns_and_empty_batches_leave_no_trace():
    stream = CondensationStream(k=5, columns=["a"])
    stream.update(mixed(0))
    assert stream.records == 0
    stream.update(mixed(30))
    stream.update(mixed(0))
    assert stream.records == 30
    assert list(stream.sample(5).columns) == ["a"]


def test_whole_numbers_become_fractions_when_one_arrives():
    stream = CondensationStream(k=2, columns=["a", "day"], secret=fixed(1))
    days = pd.date_range("2020-01-01", periods=20)
    stream.update(pd.DataFrame({"a": range(20), "day": days}))
    drawn = stream.sample(10)
    assert drawn["a"].dtype == np.int64
    assert (drawn["day"] == drawn["day"].dt.normalize()).all()
    stream.update(pd.DataFrame({"a": [0.5] * 20, "day": days + pd.Timedelta(hours=7)}))
    drawn = stream.sample(10)
    assert drawn["a"].dtype == np.float64
    assert (drawn["day"] != drawn["day"].dt.normalize()).any()
    assert drawn["day"].between("2019-12-01", "2020-02-20").all()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_draws_are_of_the_kind_of_the_first_batch(kind):
    stream = CondensationStream(k=5, columns=["a", "sex", "zip"], categorical=["zip"], secret=fixed(1))
    data = mixed(60)[["a", "sex", "zip"]]
    stream.update(kind({name: data[name].to_list() for name in data.columns}))
    drawn = stream.sample(20)
    assert isinstance(drawn, pa.Table if kind is pa.table else kind)
    assert set(pa.table(drawn)["zip"].to_pylist()) == {4711, 4712}


def test_constant_columns_do_not_decide():
    data = numbers(100).assign(b=7.5)
    stream = condensed(data, k=5)
    assert stream.groups > 5
    assert stream.sample(50)["b"].eq(7.5).all()
    assert CondensationStream(k=2, columns=["b"]).records == 0
    equal = condensed(data[["b"]], k=5)
    assert equal.sample(10)["b"].eq(7.5).all()


BAD = [
    ({"k": 1}, "k must be"),
    ({"columns": "a"}, "columns must be a list"),
    ({"columns": []}, "columns must be at least one"),
    ({"columns": ["a", "a"]}, "different column names"),
    ({"categorical": ["b"]}, "categorical must be a subset of columns"),
    ({"most_groups": 0}, "most_groups must be"),
    ({"secret": "5f"}, "secret must be"),
]


@pytest.mark.parametrize(("settings", "sentence"), BAD)
def test_bad_settings_of_a_stream_are_refused(settings, sentence):
    with pytest.raises(sf.errors.InvalidParameterError, match=sentence):
        CondensationStream(**{"k": 5, "columns": ["a"], **settings})


def test_a_stream_without_numbers_is_refused():
    with pytest.raises(sf.errors.SchemaError, match="needs a column of numbers"):
        condensed(mixed(30)[["sex"]])


def test_a_stream_draws_no_value_that_few_had_so_far():
    stream = CondensationStream(k=3, columns=["n", "value"], secret="5f" * 32)
    stream.update(pa.table({"n": range(10), "value": ["a"] * 8 + ["b"] * 2}))
    assert set(stream.sample(200)["value"].to_pylist()) == {"a", None}
    stream.update(pa.table({"n": [10], "value": ["b"]}))
    assert set(stream.sample(200)["value"].to_pylist()) == {"a", "b"}
