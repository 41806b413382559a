"""A fused table is a release: frame, measures, agreement as recipe, and folders without an original."""

from __future__ import annotations

import json
import tomllib

import pandas as pd
import pytest

import sfumato as sf
from party_folders import contents
from sfumato.fusion.session import SessionParameters
from sfumato.tables._catalogue import METRICS
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.metrics.base import MetricInput

PEOPLE = sf.datasets.generate_hospital(90, seed=5).to_pandas().assign(person=[f"canary-{row}" for row in range(90)])


@pytest.fixture(scope="module")
def fused():
    parties = [
        sf.fusion.Party(name=name, data=PEOPLE[["person", "disease", column]], id="person", attributes=[column])
        for name, column in (("clinic", "age"), ("agency", "sex"))
    ]
    return sf.fusion.fuse(
        parties, target="disease", requirements=[sf.fusion.KAnonymityRequirement(quasi=("age", "sex"), k=5)]
    )


def test_frame_is_of_the_kind_that_the_party_gave(fused):
    assert isinstance(fused.frame, pd.DataFrame)
    assert fused.frame.to_dict("list") == fused.published.to_pydict()


def test_measures_are_those_that_need_no_original(fused):
    measured = MetricInput.of(AuditContext(fused.published, fused.schema).table, 0)
    assert fused.metrics == {
        name: METRICS[name].compute(measured) for name in ("discernibility", "average-class-size", "suppressed-share")
    }


def test_recipe_is_the_agreement(fused):
    agreed = tomllib.loads(fused.recipe.to_toml())["agreement"]
    assert agreed == {
        "parties": ["clinic", "agency"],
        "target": "disease",
        "scoring": "sensitive",
        "requirements": [{"quasi": ["age", "sex"], "k": 5}],
    }
    requirements = tuple(
        sf.fusion.KAnonymityRequirement(quasi=tuple(each["quasi"]), k=each["k"]) for each in agreed.pop("requirements")
    )
    assert (
        SessionParameters(**{**agreed, "parties": tuple(agreed["parties"])}, requirements=requirements) == fused.recipe
    )


def test_transcript_stays_inside_and_persons_stay_out(fused, tmp_path):
    fused.write(tmp_path / "out")
    written = contents(tmp_path / "out")
    assert {name for name in written if name.startswith("internal/")} == {
        "internal/recipe.toml",
        "internal/report.html",
        "internal/report.json",
        "internal/transcript.json",
    }
    transcript = json.loads(written["internal/transcript.json"])
    assert [each["round"] for each in transcript] == [each.round for each in fused.transcript]
    assert transcript
    assert all(b"canary" not in content for content in written.values())


def test_report_says_that_the_original_is_not_known(fused, tmp_path):
    fused.write(tmp_path / "out")
    facts = json.loads((tmp_path / "out/internal/report.json").read_text("utf-8"))
    assert facts["rows"] == {"original": None, "published": 90, "suppressed": None}
    assert (facts["exposure"], facts["attacks"], facts["attributes"], facts["risk"]["before"]) == (None, None, [], None)
    assert facts["risk"]["after"]["smallest_group"] >= 5
    assert sum(size["records"]["after"] for size in facts["group_sizes"]) == 90
    assert {size["records"]["before"] for size in facts["group_sizes"]} == {None}
    page = (tmp_path / "out/internal/report.html").read_text("utf-8")
    assert "The original table is not at hand here, so this page shows the published one alone." in page
    for said in ("records in the original", "values before", "Distributions", "before and after", "seed", "None"):
        assert said not in page
    for said in ("Records in the smallest group", "Sizes of groups", "[agreement]", "Discernibility"):
        assert said in page
