"""Equal records that are only counted are searched and published as if they came one by one."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from cut_tasks import OWN, RELATIVE
from drawn_examples import examples
from sfumato._progress import ignore_progress
from sfumato.core.recipe import Recipe
from sfumato.errors import SfumatoError
from sfumato.tables._catalogue import ALGORITHMS
from sfumato.tables._pipeline.request import build_request
from sfumato.tables.algorithms._segments import cuts
from sfumato.testing._trials import labels_by_record
from strategies import described_tables

S = "disease"
TOP_DOWN, BOTTOM_UP = sf.algorithms.TopDownSpecialization, sf.algorithms.BottomUpGeneralization
SUBJECTS = [
    sf.algorithms.Mondrian(),
    sf.algorithms.Mondrian(publish="sets", bounds="exact"),
    sf.algorithms.Identity(),
    sf.algorithms.FixedLevels(),
    sf.algorithms.Datafly(),
    sf.algorithms.Datafly(refine=True),
    sf.algorithms.Samarati(),
    sf.algorithms.Incognito(),
    sf.algorithms.MinGen(),
    *(
        sf.algorithms.Optimal(loss=loss)
        for loss in ("loss", "precision", "discernibility", "average-class-size", "entropy")
    ),
    sf.algorithms.Optimal(loss="classification", target=S),
    sf.algorithms.Optimal(refine=True, suppression_factor=0.1),
    TOP_DOWN(),
    TOP_DOWN(target=S, scheme="sibling"),
    TOP_DOWN(refine=True),
    BOTTOM_UP(),
    BOTTOM_UP(target=S),
    BOTTOM_UP(refine=True, scheme="sibling"),
    sf.algorithms.KOptimize(most_checked=60),
    sf.algorithms.KOptimize(loss="classification", target=S, most_checked=60),
]
SKEWED = st.sampled_from([1, 1, 1, 2, 3, 7, 40])


@st.composite
def weighted_tables(draw):
    """Draw a table of cases, some of them equal, their weights, its schema, and the cases of records in any order."""
    table, schema = draw(described_tables(most_rows=14))
    rows = table.num_rows
    weights = np.array(draw(st.lists(SKEWED, min_size=rows, max_size=rows)))
    return table, weights, schema, draw(st.permutations(np.repeat(np.arange(rows), weights).tolist()))


def told(recipe, table, case_of, weights=None):
    """Tell what is published about every record, or why nothing is."""
    try:
        task = build_request(recipe, table, ignore_progress, weights=weights)
        return labels_by_record(recipe.algorithm, task, np.array(case_of))
    except SfumatoError as error:
        return type(error), str(error)


@pytest.mark.parametrize("algorithm", SUBJECTS, ids=repr)
@examples(25)
@given(
    drawn=weighted_tables(),
    models=st.sampled_from([*OWN, *RELATIVE]),
    share=st.sampled_from([0.0, 0.05, 0.3, 1.0]),
)
def test_cases_are_published_like_their_records(algorithm, drawn, models, share):
    table, weights, schema, case_of = drawn
    recipe = Recipe(schema=schema, models=models, algorithm=algorithm, max_suppressed=share)
    records = table.take(pa.array(case_of))
    assert told(recipe, table, case_of, weights) == told(recipe, records, range(len(case_of)))


@examples(25)
@given(drawn=weighted_tables(), models=st.sampled_from([*OWN, *RELATIVE]))
def test_compiled_cuts_see_weights(drawn, models):
    table, weights, schema, case_of = drawn
    recipe = Recipe(schema=schema, models=models, algorithm=sf.algorithms.Mondrian())
    with patch.object(cuts, "COMPILED_ROWS", 0):
        found = told(recipe, table, case_of, weights)
    assert found == told(recipe, table.take(pa.array(case_of)), range(len(case_of)))


def test_every_algorithm_that_supports_weights_is_tried():
    assert {each.name for each in SUBJECTS} == {name for name, kind in ALGORITHMS.items() if kind().supports_weights}


def test_an_algorithm_that_needs_every_record_refuses_cases():
    recipe = Recipe(
        schema=sf.Schema(quasi_identifiers=["age"]),
        models=[sf.models.KAnonymity(k=2)],
        algorithm=sf.algorithms.Mondrian(strict=False),
    )
    with pytest.raises(
        sf.errors.UnsupportedModelError, match="Mondrian needs every record, but equal records are only count"
    ):
        build_request(recipe, pa.table({"age": [1, 2]}), ignore_progress, weights=np.array([5, 5]))


def test_limits_and_refusals_count_records():
    schema, model = sf.Schema(quasi_identifiers=["age"], sensitive=[S]), sf.models.DistinctLDiversity(l=2, sensitive=S)
    table, weights = pa.table({"age": [1, 2], S: ["flu", "flu"]}), np.array([5, 2_000_000_000])
    recipe = Recipe(
        schema=schema, models=[sf.models.KAnonymity(k=6)], algorithm=sf.algorithms.Identity(), max_suppressed=0.1
    )
    task = build_request(recipe, table, ignore_progress, weights=weights)
    assert (task.table.rows, task.table.n_weighted_records, task.max_suppressed) == (2_000_000_005, 2, 200_000_000)
    assert sf.algorithms.Identity().search(task).suppressed(task.table) == 5
    with pytest.raises(
        sf.errors.InfeasibleError, match=r"No release of these 2,000,000,005 rows can keep .* reaches 1, 2 is"
    ):
        build_request(
            Recipe(schema=schema, models=[model], algorithm=sf.algorithms.Identity()),
            table,
            ignore_progress,
            weights=weights,
        )


def test_flagged_cells_are_counted_by_their_weights():
    schema = sf.Schema(quasi_identifiers=["age"], flags={"age": "flag"})
    table = pa.table({"age": [1, 2, 3], "flag": [True, False, True]})
    models = [sf.models.DistinctLDiversity(l=3, sensitive="age")]
    recipe = Recipe(schema=schema, models=models, algorithm=sf.algorithms.LocalAnatomyGeneralization())
    with pytest.raises(sf.errors.InfeasibleError, match="these 40 flagged cells of 'age' can keep"):
        build_request(recipe, table, ignore_progress, weights=np.array([10, 20, 30]))
