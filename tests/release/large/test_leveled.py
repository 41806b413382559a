"""Full-domain recodings by DuckDB where combinations do not fit: the same rows in the same order as in memory."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.drawn_examples import examples
from tests.strategies import described_tables

import sfumato as sf
from sfumato._progress import ignore_progress
from sfumato.core.recipe import Recipe
from sfumato.errors import GuaranteeViolatedError, InfeasibleError, ReadError, SfumatoError
from sfumato.io._columns import strip_metadata
from sfumato.io._dataframes import to_arrow
from sfumato.tables.algorithms.full_domain import optimal
from sfumato.tables.engines._source import ValueMapping
from sfumato.tables.engines.options import EngineSelector
from sfumato.tables.out_of_core._levels import LevelCounts
from sfumato.tables.out_of_core._pipeline import run_recipe_in_engine
from sfumato.tables.out_of_core._run import MemoryLimits

SERVED = [
    sf.algorithms.FixedLevels(),
    sf.algorithms.Datafly(),
    sf.algorithms.Samarati(),
    sf.algorithms.Incognito(),
    sf.algorithms.MinGen(),
    sf.algorithms.Optimal(),
    sf.algorithms.Optimal(loss="discernibility"),
    sf.algorithms.Optimal(loss="average-class-size"),
]
PROMISES = [
    (sf.models.KAnonymity(k=2),),
    (sf.models.KAnonymity(k=3), sf.models.DistinctLDiversity(l=2, sensitive="disease")),
    (sf.models.TCloseness(t=0.4, sensitive="disease"),),
]


def by_levels(recipe: Recipe, data: object, folder: Path, most: int) -> sf.StoredRelease:
    limits = MemoryLimits(combinations=0, groups=10_000, segment_rows=1)
    with (
        pytest.MonkeyPatch.context() as patch,
        EngineSelector(engine="duckdb", memory="100MB").open_source(data, recipe.reading, folder / "release") as source,
    ):
        patch.setattr(LevelCounts, "max_combinations", most)
        return run_recipe_in_engine(
            recipe,
            source,
            folder / "release",
            memory=100_000_000,
            replace_older=False,
            report=True,
            progress=ignore_progress,
            limits=limits,
        )


def rows_of(release: sf.StoredRelease) -> pa.Table:
    return pa.concat_tables([pq.read_table(path) for path in release.paths])


@pytest.mark.parametrize("algorithm", SERVED, ids=lambda each: f"{type(each).__name__} {getattr(each, 'loss', '')}")
@given(
    drawn=described_tables(most_rows=40),
    models=st.sampled_from(PROMISES),
    share=st.sampled_from([0.0, 0.2]),
    most=st.sampled_from([4, 10, 1000]),
)
@examples(10)
def test_rows_and_their_order_are_those_of_memory(algorithm, drawn, models, share, most):
    table, schema = drawn
    recipe = Recipe(schema=schema, models=models, algorithm=algorithm, max_suppressed=share, seed=1)
    try:
        expected = sf.run_recipe(recipe, table)
    except SfumatoError as error:
        refused = error
    else:
        check_equal(recipe, table, most, expected)
        return
    with tempfile.TemporaryDirectory() as folder:
        with pytest.raises(SfumatoError) as told:
            by_levels(recipe, table, Path(folder), most)
        assert str(told.value) == str(refused) or "too many for memory" in str(told.value)
        assert not any(Path(folder).iterdir())


def check_equal(recipe, table, most, expected):
    """Either the release is that of memory, or it is refused because too much is needed at once."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = by_levels(recipe, table, Path(folder), most)
        except InfeasibleError as error:
            refused = str(error)
        else:
            refused = None
        if refused is not None:
            assert "too many for memory" in refused
            assert most < table.num_rows
            assert not any(Path(folder).iterdir())
            return
        assert rows_of(found).equals(strip_metadata(expected.published))
    assert found.passage.way == "leveled"
    assert found.audit.holds
    assert found.audit.truth.holds
    assert found.audit.to_dict()["models"] == expected.audit.to_dict()["models"]
    assert found.audit.to_dict()["levels"] == expected.audit.to_dict()["levels"]
    assert found.metrics == pytest.approx({name: expected.metrics[name] for name in found.metrics})
    assert found.suppressed == expected.suppressed
    assert (found.proof is None) == (expected.proof is None)
    assert found.proof is None or found.proof.found == pytest.approx(expected.proof.found)


def census(rows: int = 3000) -> pa.Table:
    return to_arrow(sf.datasets.generate_census(rows, seed=3))[0]


SCHEMA = sf.Schema(
    quasi_identifiers=["age", "hours_per_week", "sex", "race"],
    sensitive=["occupation"],
    insensitive=["salary"],
    hierarchies={"age": sf.hierarchies.Intervals(5, 10, 20), "hours_per_week": sf.hierarchies.Intervals(10, 20)},
)
RECIPE = Recipe(
    schema=SCHEMA, models=(sf.models.KAnonymity(k=5),), algorithm=sf.algorithms.Optimal(), max_suppressed=0.05, seed=1
)


@pytest.mark.parametrize("most", [150, 400, 1200])
def test_the_optimum_is_found_on_sets_that_fit(tmp_path, most):
    table = census()
    expected = sf.run_recipe(RECIPE, table)
    found = by_levels(RECIPE, table, tmp_path, most)
    assert rows_of(found).equals(strip_metadata(expected.published))
    assert found.proof.optimal
    assert found.suppressed == expected.suppressed > 0
    assert "level by level" in str(found.passage)
    assert found.recoding is not None
    assert (tmp_path / "release" / "internal" / "report.html").exists()


def test_sensitive_values_are_counted_along(tmp_path):
    models = (sf.models.KAnonymity(k=5), sf.models.TCloseness(t=0.3, sensitive="occupation"))
    recipe = replace(RECIPE, models=models)
    expected = sf.run_recipe(recipe, census())
    found = by_levels(recipe, census(), tmp_path, 2000)
    assert rows_of(found).equals(strip_metadata(expected.published))


def test_a_recoding_that_sizes_do_not_rule_out_and_that_does_not_fit_is_refused(tmp_path):
    recipe = replace(RECIPE, models=(sf.models.KAnonymity(k=2),), max_suppressed=1.0)
    with pytest.raises(InfeasibleError, match="must judge a recoding of more than 20 groups, too many for memory"):
        by_levels(recipe, census(), tmp_path, 20)
    assert not any(tmp_path.iterdir())


def test_more_recodings_than_are_searched_with_proof_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(optimal, "DENSE_NODES", 10)
    with pytest.raises(InfeasibleError, match="at most 10 recodings of a table whose combinations do not fit"):
        by_levels(RECIPE, census(), tmp_path, 1000)


def test_levels_that_do_not_fit_are_refused(tmp_path):
    levels = {"age": 0, "hours_per_week": 0, "sex": 0, "race": 0}
    recipe = replace(RECIPE, algorithm=sf.algorithms.FixedLevels(levels=levels), max_suppressed=1.0)
    with pytest.raises(InfeasibleError, match="FixedLevels chose have more than 20 groups, too many for memory"):
        by_levels(recipe, census(), tmp_path, 20)


@pytest.mark.parametrize(
    "algorithm",
    [
        sf.algorithms.Optimal(refine=True),
        sf.algorithms.Optimal(loss="classification", target="salary"),
        sf.algorithms.TopDownSpecialization(),
    ],
    ids=["refine", "target", "top-down"],
)
def test_what_looks_at_more_than_levels_is_refused(tmp_path, algorithm):
    with (
        EngineSelector(engine="duckdb", memory="100MB").open_source(
            census(), RECIPE.reading, tmp_path / "release"
        ) as source,
        pytest.raises(InfeasibleError, match="too many for memory"),
    ):
        run_recipe_in_engine(
            replace(RECIPE, algorithm=algorithm),
            source,
            tmp_path / "release",
            memory=100_000_000,
            replace_older=False,
            report=False,
            progress=ignore_progress,
            limits=MemoryLimits(combinations=5, groups=10_000, segment_rows=1),
        )


def test_a_value_that_stands_for_one_of_another_node_is_found_out(tmp_path, monkeypatch):
    """The oldest people are published with the youngest."""
    plain = LevelCounts.look_ups

    def wrong(self, levels):
        found = plain(self, levels)
        age = found["age"]
        others = age.others.to_pylist()
        others[-2] = others[0]
        return {**found, "age": ValueMapping(age.values, pa.array(others, age.others.type))}

    levels = {"age": 2, "sex": 0}
    recipe = replace(RECIPE, algorithm=sf.algorithms.FixedLevels(levels=levels), max_suppressed=1.0)
    monkeypatch.setattr(LevelCounts, "look_ups", wrong)
    with pytest.raises(GuaranteeViolatedError):
        by_levels(recipe, census(), tmp_path, 1000)
    assert not any(tmp_path.iterdir())


def test_a_value_that_appears_between_two_passes_stops_the_run(tmp_path, monkeypatch):
    plain = LevelCounts.look_ups

    def shorter(self, levels):
        found = plain(self, levels)
        return {name: ValueMapping(each.values[1:], each.others[1:]) for name, each in found.items()}

    monkeypatch.setattr(LevelCounts, "look_ups", shorter)
    with pytest.raises(ReadError, match="changed while it was read"):
        by_levels(RECIPE, census(), tmp_path, 1000)
