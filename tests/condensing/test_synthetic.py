"""Synthetic records as a release: what was drawn, the sizes of groups, the comparison, the recipe and the folders."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import pandas as pd
import pytest

import sfumato as sf
from sfumato.io._dataframes import to_arrow
from sfumato.synthesis import release as writing
from sfumato.synthesis.release import GroupSizes

SCHEMA = sf.Schema(identifiers=["name"], quasi_identifiers=["age", "sex", "height_cm"], sensitive=["disease"])
PEOPLE = sf.datasets.generate_hospital(130, seed=2)
CONDENSATION = sf.synthesis.Condensation(k=10, secret="5f" * 32)


@pytest.fixture(scope="module")
def release():
    return CONDENSATION.release(PEOPLE, SCHEMA)


def test_release_draws_what_a_sample_draws(release):
    assert release.published.equals(CONDENSATION.fit(PEOPLE, SCHEMA).sample())
    assert release.published.column_names == ["age", "sex", "height_cm", "disease"]


def test_frame_is_of_the_kind_that_was_given():
    made = CONDENSATION.release(PEOPLE.to_pandas(), SCHEMA, 40)
    assert isinstance(made.frame, pd.DataFrame)
    assert len(made.frame) == made.audit.drawn == made.recipe.rows == 40


def test_groups_take_the_place_of_an_audit(release):
    sizes = CONDENSATION.fit(PEOPLE, SCHEMA).sizes
    assert release.audit == GroupSizes(
        k=10,
        records=130,
        groups=len(sizes),
        smallest=int(sizes.min()),
        largest=int(sizes.max()),
        drawn=130,
    )
    assert release.audit.holds
    small = replace(release.audit, smallest=9)
    assert not small.holds
    assert small.to_dict()["holds"] is False
    assert "DOES NOT HOLD" in repr(small)


def test_measures_are_those_of_the_comparisons(release):
    columns = ["age", "height_cm"]
    moments = sf.metrics.compare_moments(PEOPLE, release.published, columns=columns)
    nearest = sf.metrics.distance_to_closest_record(PEOPLE, release.published, columns=columns)
    assert (release.moments, release.nearest) == (moments, nearest)
    assert release.metrics == {
        "mean-shift": moments.mean_shift,
        "covariance-error": moments.covariance_error,
        "correlation-difference": moments.largest_correlation_difference,
        "copies": nearest.copies,
        "nearest-original": nearest.distances[0.5],
        "originals-nearest-original": nearest.baseline[0.5],
    }


def test_one_number_has_no_correlations():
    made = CONDENSATION.release(PEOPLE, sf.Schema(quasi_identifiers=["age"]))
    assert "correlation-difference" not in made.metrics


def test_recipe_tells_what_was_drawn(release):
    written = tomllib.loads(release.recipe.to_toml())
    assert written["condensation"] == {"k": 10, "rows": 130, "secret": "5f" * 32}
    assert written["input"]["rows"] == 130
    assert {name: entry["role"] for name, entry in written["attributes"].items()} == {
        name: SCHEMA.role(name).value for name in SCHEMA.attributes
    }
    by = sf.synthesis.Condensation(k=10, by="sex").release(PEOPLE, SCHEMA).recipe.to_toml()
    assert tomllib.loads(by)["condensation"] == {"k": 10, "by": "sex", "rows": 130}


def test_sizes_of_groups_and_comparisons_stay_inside(release, tmp_path):
    release.write(tmp_path / "out")
    promise = json.loads((tmp_path / "out/public/promise.json").read_text("utf-8"))
    assert promise["promise"][0]["parameters"] == {"k": 10}
    assert promise["audit"] == {"holds": True, "records": 130, "models": []}
    facts = json.loads((tmp_path / "out/internal/report.json").read_text("utf-8"))
    assert facts["audit"] == release.audit.to_dict()
    assert facts["moments"] == json.loads(json.dumps(release.moments.to_dict()))
    page = (tmp_path / "out/internal/report.html").read_text("utf-8")
    for said in ("Every group has at least 10 persons.", "Nearest originals", "No privacy model holds of the rows"):
        assert said in page
    about = (tmp_path / "out/public/about.html").read_text("utf-8")
    assert "no row is about a person" in about
    assert "Nearest originals" not in about


def test_a_file_that_reads_otherwise_is_not_put_in_place(release, tmp_path, monkeypatch):
    def wrong(path, *, excel_safe):  # noqa: ARG001 - as read_back
        table = to_arrow(sf.read(path))[0]
        return table.set_column(0, "age", table["age"].take([*range(1, 130), 0]))

    monkeypatch.setattr(writing, "read_back", wrong)
    with pytest.raises(sf.errors.GuaranteeViolatedError, match="Column 'age' reads otherwise"):
        release.write(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_repr_says_what_was_drawn_and_from_which_groups(release):
    assert repr(release).startswith("SyntheticRecords: 130 records, mean-shift ")
    assert "Groups of at least 10: holds; 130 records drawn from 13 groups" in repr(release)
