"""Tiny requests, most of them impossible, end in a release or in one sentence that says what is wrong."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables.algorithms.base import TableAlgorithm
from tiny_requests import SEARCHES, D, request

TRIALS = 25


def said(algorithm: TableAlgorithm, rng: random.Random) -> str:
    """Carry a request out, and return what is said where it is refused as it should be."""
    table, schema, models, share = request(rng)
    try:
        assert sf.anonymize(table, schema, models, algorithm, max_suppressed=share, seed=1).audit.holds
    except (sf.errors.InfeasibleError, sf.errors.SchemaError, sf.errors.UnsupportedModelError) as error:
        return str(error)
    return ""


@pytest.mark.parametrize("algorithm", SEARCHES, ids=repr)
def test_a_tiny_request_ends_in_a_release_or_in_one_sentence(algorithm):
    rng = random.Random(1)
    for _ in range(TRIALS):
        sentence = said(algorithm, rng)
        assert not sentence or sentence.endswith(".")
        assert "\n" not in sentence


@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize("algorithm", SEARCHES[:6], ids=repr)
def test_who_suppresses_nothing_says_so_and_what_is_possible(algorithm, share):
    table = pa.table({"age": [1, 2, 3, 4, 5], "sex": list("fmfmf"), D: ["a", "a", "a", "a", "b"]})
    schema = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=[D])
    models = [sf.models.FrequencyLDiversity(l=2, sensitive=D)]
    with pytest.raises(sf.errors.InfeasibleError, match=r"reaches 1\.25, 2 is needed") as refused:
        sf.anonymize(table, schema, models, algorithm, max_suppressed=share, seed=1)
    assert (f"{type(algorithm).__name__} suppresses nothing" in str(refused.value)) == (share > 0)


def test_anatomy_refuses_identities_that_show_only_after_suppression():
    table = pa.table({"age": [1, 2, 3, 4, 5], D: ["a", "a", "b", "a", "b"]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=[D])
    with pytest.raises(sf.errors.UnsupportedModelError, match="it hides values, not identities"):
        sf.anonymize(
            table, schema, [sf.models.KLAnonymity(k=4, l=2, sensitive=D)], sf.algorithms.Anatomy(), max_suppressed=0.34
        )


@pytest.mark.parametrize(
    "algorithm", [sf.algorithms.LocalAnatomy(), sf.algorithms.LocalAnatomyGeneralization()], ids=repr
)
@pytest.mark.parametrize(
    "hierarchies", [{}, {"age": sf.hierarchies.Intervals(5, 10)}], ids=["plain", "with a hierarchy"]
)
@pytest.mark.parametrize("flags", [[True, True, False, False, False, False], [True, True, True, True, False, False]])
def test_flagged_numbers_are_written_also_where_all_flagged_records_are_suppressed(
    algorithm, hierarchies, flags, tmp_path
):
    table = pa.table({"age": [20, 20, 20, 31, 31, 44], "sex": list("ffmmff"), "flag": flags})
    schema = sf.Schema(quasi_identifiers=["age", "sex"], hierarchies=hierarchies, flags={"age": "flag"})
    models = [sf.models.FrequencyLDiversity(l=2, sensitive="age")]
    release = sf.anonymize(table, schema, models, algorithm, max_suppressed=0.5)
    assert release.audit.holds
    release.write(tmp_path / "out")
    assert (tmp_path / "out/public/table.csv").exists()


@pytest.mark.parametrize("scales", [{}, {"age": "numeric"}, {"age": "categorical"}], ids=str)
def test_flagged_numbers_among_generalized_cells_are_written_where_they_have_a_hierarchy(scales, tmp_path):
    rng = random.Random(3)
    table = pa.table(
        {
            "age": [rng.randint(20, 60) for _ in range(40)],
            "sex": [rng.choice("fm") for _ in range(40)],
            "flag": [rng.random() < 0.5 for _ in range(40)],
        }
    )
    schema = sf.Schema(
        quasi_identifiers=["age", "sex"],
        hierarchies={"age": sf.hierarchies.Intervals(5, 10)},
        flags={"age": "flag"},
        scales=scales,
    )
    models = [sf.models.KAnonymity(k=2), sf.models.DistinctLDiversity(l=2, sensitive="age")]
    release = sf.anonymize(table, schema, models, sf.algorithms.LocalAnatomyGeneralization(), max_suppressed=0.4)
    assert sf.audit(release.frame, schema, models).holds
    release.write(tmp_path / "out")
