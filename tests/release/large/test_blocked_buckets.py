"""Values in buckets beyond memory: the same rows as in memory with the same blocks, judged from their files."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.blocked_releases import check_as_in_memory, in_blocks, ordered, rows_of
from tests.drawn_examples import examples
from tests.strategies import described_tables

import sfumato as sf
from sfumato.core.recipe import Recipe
from sfumato.errors import GuaranteeViolatedError, ReadError
from sfumato.io._columns import strip_metadata
from sfumato.io._dataframes import to_arrow
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.out_of_core import _block_parts, _blocks, _segment_results
from sfumato.tables.out_of_core._block_parts import number_buckets

SECRET = "5f" * 32
K = (sf.models.KAnonymity(k=2),)
L = (sf.models.FrequencyLDiversity(l=2, sensitive="disease"),)
T = (sf.models.TCloseness(t=0.5, sensitive="disease"),)
REQUESTS = [
    (sf.algorithms.Anatomy(), L),
    (sf.algorithms.Anatomy(), T),
    (sf.algorithms.LocalAnatomy(), L),
    (sf.algorithms.LocalAnatomyGeneralization(), (*K, *L)),
    (sf.algorithms.CrossBucketGeneralization(), (sf.models.KLAnonymity(k=2, l=2, sensitive="disease"),)),
    (sf.algorithms.CrossBucketGeneralization(), K),
    (sf.algorithms.Slicing(), K),
    (sf.algorithms.Slicing(slices=3), L),
]


@pytest.mark.parametrize(("algorithm", "models"), REQUESTS, ids=repr)
@given(
    drawn=described_tables(most_rows=60),
    asked=st.tuples(st.sampled_from([1, 5, 20, 1000]), st.sampled_from([60, 10_000]), st.sampled_from([0.0, 0.3])),
)
@examples(8)
def test_rows_are_those_of_memory(algorithm, models, drawn, asked):
    (table, schema), (rows, groups, most) = drawn, asked
    recipe = Recipe(
        schema=schema,
        models=models,
        algorithm=algorithm,
        seed=1,
        secret=SECRET,
        block_rows=rows,
        max_suppressed=most,
    )
    loose = schema.missing is MissingPolicy.MATCHES_ALL  # its groups are judged only all together
    check_as_in_memory(recipe, table, groups=10_000 if loose else groups)


def census(rows: int = 400) -> pa.Table:
    return to_arrow(sf.datasets.generate_census(rows, seed=3))[0]


QUASI = ["age", "education", "sex", "hours_per_week"]
SCHEMA = sf.Schema(quasi_identifiers=QUASI, sensitive=["occupation"], insensitive=["salary"])
DIVERSE = (sf.models.FrequencyLDiversity(l=2, sensitive="occupation"),)
RECIPE = Recipe(schema=SCHEMA, models=DIVERSE, algorithm=sf.algorithms.Anatomy(), seed=1, secret=SECRET, block_rows=60)
MANY = [
    RECIPE,
    replace(
        RECIPE,
        algorithm=sf.algorithms.CrossBucketGeneralization(),
        models=(sf.models.KLAnonymity(k=2, l=2, sensitive="occupation"),),
    ),
    replace(RECIPE, algorithm=sf.algorithms.LocalAnatomyGeneralization(), models=(*K, *DIVERSE)),
    replace(RECIPE, algorithm=sf.algorithms.Slicing()),
    replace(RECIPE, algorithm=sf.algorithms.Slicing(slices=3), models=K),
    replace(
        RECIPE,
        schema=sf.Schema(quasi_identifiers=QUASI, sensitive=["occupation", "salary"]),
        models=(*DIVERSE, sf.models.DistinctLDiversity(l=3, sensitive="salary")),
    ),
]


@pytest.mark.parametrize("recipe", MANY, ids=lambda recipe: repr(recipe.algorithm))
@pytest.mark.parametrize("groups", [400, 10_000])
def test_many_blocks_are_those_of_memory_in_however_many_pieces_they_are_judged(recipe, groups):
    check_as_in_memory(recipe, census(), groups=groups)


@pytest.mark.parametrize("recipe", MANY, ids=lambda recipe: repr(recipe.algorithm))
def test_the_folder_is_read_and_judged_like_one_of_memory(recipe, tmp_path):
    found = in_blocks(recipe, census(), tmp_path)
    expected = sf.run_recipe(recipe, census())
    expected.write(tmp_path / "memory", table_format="parquet")
    public, memory = tmp_path / "release" / "public", tmp_path / "memory" / "public"
    assert found.recipe.secret == SECRET
    for name in ("dictionary.json", "promise.json"):
        told, known = (json.loads((folder / name).read_text()) for folder in (public, memory))
        assert told == known
    reported, known = (
        json.loads((tmp_path / each / "internal" / "report.json").read_text()) for each in ("release", "memory")
    )
    assert reported["buckets"] == known["buckets"] != []
    audits = [
        sf.audit(public / "table", recipe.schema, recipe.models, engine=engine, memory="100MB")
        for engine in ("memory", "duckdb")
    ]
    assert audits[0].to_dict() == audits[1].to_dict()
    assert audits[0].to_dict()["levels"] == expected.audit.to_dict()["levels"]
    if "_bucket_occupation" in rows_of(found).column_names:
        records, values = sf.tables.split_bucketized(rows_of(found), recipe.schema)
        again = sf.tables.split_bucketized(strip_metadata(expected.published), recipe.schema)
        assert records.equals(again[0])
        assert all(values[name].equals(again[1][name]) for name in values)


def test_numbers_of_buckets_tell_nothing_of_blocks(tmp_path):
    """Every block has numbers from all over the range."""
    shown = rows_of(in_blocks(RECIPE, census(), tmp_path))
    ages, numbers = shown["age"].to_numpy(), shown["_bucket_occupation"].to_numpy()
    buckets = len(np.unique(numbers))
    assert sorted(set(numbers.tolist())) == list(range(buckets))
    for some in (ages < 30, (ages >= 30) & (ages < 50), ages >= 50):
        assert numbers[some].min() < buckets / 10
        assert numbers[some].max() > buckets * 9 / 10
        assert abs(numbers[some].mean() / buckets - 0.5) < 0.1


def test_another_order_of_rows_gives_the_same_files_and_another_secret_other_buckets(tmp_path):
    table = census()
    found = []
    for name, rows, secret in (("a", range(400), SECRET), ("b", range(399, -1, -1), SECRET), ("c", range(400), None)):
        (tmp_path / name).mkdir()
        release = in_blocks(replace(RECIPE, secret=secret), table.take(pa.array(rows)), tmp_path / name)
        found.append([pq.read_table(path) for path in release.paths])
    assert found[0] == found[1] != found[2]
    assert release.recipe.secret is not None
    (tmp_path / "d").mkdir()
    again = in_blocks(release.recipe, table, tmp_path / "d")
    assert [pq.read_table(path) for path in again.paths] == found[2]


@given(
    blocks=st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=20), min_size=1, max_size=5),
    at_once=st.integers(1, 30),
)
@examples(40)
def test_buckets_are_numbered_by_their_keys_among_those_of_all_blocks(blocks, at_once):
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{at}.npy" for at in range(len(blocks))]
        for file, block in zip(files, blocks, strict=True):
            np.save(file, np.array(sorted(block), dtype=np.uint64))
        found = [np.load(file).tolist() for file in number_buckets(files, at_once)]
    together = sorted((key, at) for at, block in enumerate(blocks) for key in block)
    assert [len(each) for each in found] == [len(block) for block in blocks]
    numbered = {
        number: (key, at)
        for at, block in enumerate(blocks)
        for key, number in zip(sorted(block), found[at], strict=True)
    }
    assert [numbered[number] for number in range(len(together))] == together


@pytest.mark.parametrize("column", ["age", "occupation", "_bucket_occupation", "salary"])
def test_parts_that_are_written_wrong_withhold_the_release(tmp_path, swap_cells, column):
    swap_cells(column)
    with pytest.raises((GuaranteeViolatedError, ReadError)):
        in_blocks(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("column", ["education", "occupation"])
def test_slices_that_are_written_wrong_withhold_the_release(tmp_path, swap_cells, column):
    swap_cells(column)
    with pytest.raises((GuaranteeViolatedError, ReadError)):
        in_blocks(MANY[3], census(), tmp_path)
    assert not any(tmp_path.iterdir())


def test_buckets_that_share_a_number_withhold_the_release(tmp_path, monkeypatch):
    """Two of them as one keep the promise, but are not what was searched for."""
    number = _block_parts.number_buckets

    def shared(blocks):
        files = number(blocks)
        ranks = np.load(files[0])
        ranks[0] = ranks[1]
        np.save(files[0], ranks)
        return files

    monkeypatch.setattr(_blocks, "number_buckets", shared)
    with pytest.raises(GuaranteeViolatedError):
        in_blocks(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_promise_that_files_break_withholds_the_release(tmp_path, monkeypatch):
    """What searches does not judge: a search that hides nothing is found out."""
    search = sf.algorithms.Anatomy.search

    def careless(self, task):
        found = search(self, task)
        alone = np.arange(task.table.rows, dtype=np.int32)
        return replace(found, buckets=dict.fromkeys(found.buckets, alone))

    monkeypatch.setattr(sf.algorithms.Anatomy, "search", careless)
    with pytest.raises(GuaranteeViolatedError):
        in_blocks(RECIPE, census(), tmp_path)
    assert not any(tmp_path.iterdir())


def test_unprotected_columns_are_refused_as_in_memory(tmp_path):
    recipe = replace(RECIPE, schema=sf.Schema(quasi_identifiers=QUASI, sensitive=["occupation", "salary"]))
    check_as_in_memory(recipe, census())
    with pytest.raises(sf.errors.UnsupportedModelError, match="'salary' next to exact quasi-identifiers"):
        in_blocks(recipe, census(), tmp_path)


def test_missing_cells_that_match_all_are_refused_as_in_memory():
    table = census()
    for name in ("education", "occupation"):
        cells = [None if at < 7 else cell for at, cell in enumerate(table[name].to_pylist())]
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(cells))
    schema = replace(SCHEMA, missing="matches-all")
    for recipe in MANY[:5]:
        check_as_in_memory(replace(recipe, schema=schema), table)
        check_as_in_memory(replace(recipe, schema=replace(schema, missing="own-value")), table)


def test_moments_and_dates_are_sliced_as_they_are(tmp_path):
    moments = pa.array([at * 3_600_000_000 for at in range(40)], pa.timestamp("us", "Asia/Tokyo"))
    rng = np.random.default_rng(1)
    table = pa.table({"born": moments, "size": rng.random(40), "ill": rng.random(40) < 0.5, "zip": ["a", None] * 20})
    schema = sf.Schema(quasi_identifiers=["born", "size", "zip"], sensitive=["ill"])
    recipe = replace(
        RECIPE, schema=schema, algorithm=sf.algorithms.Slicing(), models=(sf.models.KAnonymity(k=3),), block_rows=12
    )
    pq.write_table(table, tmp_path / "table.parquet")
    found = in_blocks(recipe, tmp_path / "table.parquet", tmp_path)
    sf.run_recipe(recipe, table).write(tmp_path / "memory", table_format="parquet")
    expected = pq.read_table(tmp_path / "memory" / "public" / "table.parquet")
    assert rows_of(found).equals(ordered(expected))
    assert len(found.paths) > 1
    assert _segment_results.unzoned(expected)["born"].type == pa.timestamp("us")
