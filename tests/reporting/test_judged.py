"""A release is judged part by part: each part is what the report tells, and is kept until the release is written."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.core.writing import read_facts
from sfumato.errors import InvalidParameterError
from sfumato.report import measurements as module
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.risk.disclosure import explain_disclosure_risk

PARTS = ("risk", "attacks", "exposure", "distributions", "utility", "series")
SECTIONS = {"distributions": "attributes"}


def fresh(release):
    """Return the same release, of which nothing was asked yet."""
    return replace(release)


@pytest.mark.parametrize("kind", ["release", "suppressing"])
def test_every_part_is_what_the_report_holds_under_its_name(kind, request, tmp_path):
    release = fresh(request.getfixturevalue(kind))
    parts = {name: getattr(release.judged, name)() for name in PARTS}
    fresh(release).write(tmp_path / "out")
    facts = read_facts(tmp_path / "out")
    for name, part in parts.items():
        assert json.loads(json.dumps(part)) == facts[SECTIONS.get(name, name)], name


def test_what_was_asked_for_is_not_computed_again_and_the_bytes_stay_the_same(release, tmp_path, monkeypatch):
    fresh(release).write(tmp_path / "plain")
    asked = fresh(release)
    for name in PARTS:
        getattr(asked.judged, name)()

    def refuse(*_):
        raise AssertionError("It was computed before.")

    monkeypatch.setattr(module, "PARTS", dict.fromkeys(module.PARTS, refuse))
    asked.write(tmp_path / "asked")
    for path in sorted((tmp_path / "plain").rglob("*.*")):
        assert path.read_bytes() == (tmp_path / "asked" / path.relative_to(tmp_path / "plain")).read_bytes(), path.name


def test_attacks_asked_for_before_are_those_that_releases_are_compared_by(release):
    asked = fresh(release)
    asked.judged.attacks()
    assert sf.compare([asked]).to_dict() == sf.compare([fresh(release)]).to_dict()


@pytest.mark.parametrize("name", PARTS[1:])
def test_progress_begins_at_nothing_and_ends_when_all_is_done(release, name):
    told = []
    getattr(fresh(release).judged, name)(progress=lambda done, *_: told.append(done))
    assert told[0] == 0
    assert told[-1] == 1
    assert told == sorted(told)


def test_who_listens_can_stop_the_work_and_ask_again(release):
    judged = fresh(release).judged

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judged.attacks(progress=stop)
    assert judged.attacks() is not None


def test_without_an_original_nothing_is_compared_with_it(release):
    evidence = AuditContext(release.published, release.recipe.schema)
    judged = module.ReleaseMeasurements(replace(release._handover(), evidence=evidence))
    assert judged.attacks() is None
    assert judged.disclosure_risk() is None
    assert judged.utility() is None
    assert judged.distributions() == []
    assert judged.risk()["before"] is None
    assert judged.risk()["after"]["smallest_group"] >= 5
    assert judged.done == 1


def test_the_most_exposed_row_is_told_with_its_exposure_and_why(suppressing):
    judged = fresh(suppressing).judged
    by_attribute = {each["attribute"]: each for each in judged.exposure()}
    row = by_attribute[None]["riskiest"][0]
    told = judged.reasons(row)
    exposed = {each["attribute"]: each for each in told["exposure"]}
    assert exposed[None]["after"] == by_attribute[None]["after"]["maximum"]
    assert told["published"]
    assert not judged.reasons(612)["published"]
    assert json.loads(json.dumps(told)) == told


@examples(60)
@given(st.data())
def test_reasons_count_the_records_that_agree(data):
    columns = data.draw(st.integers(1, 3))
    rows = data.draw(st.integers(1, 8))
    cell = st.sampled_from(["a", "b", None])
    table = pa.table({f"q{j}": pa.array(data.draw(st.lists(cell, min_size=rows, max_size=rows)), pa.string())
                      for j in range(columns)})  # fmt: skip
    missing = data.draw(st.sampled_from(list(MissingPolicy)))
    schema = sf.Schema(quasi_identifiers=table.column_names, missing=missing)
    row = data.draw(st.integers(0, rows - 1))
    told = explain_disclosure_risk(AuditContext(table, schema, original=table), row)

    def agrees(other, names):
        pairs = [(table[name][row].as_py(), table[name][other].as_py()) for name in names]
        return all(one == two or (missing is MissingPolicy.MATCHES_ALL and None in (one, two)) for one, two in pairs)

    def count(names):
        return sum(agrees(other, names) for other in range(rows))

    assert told.alike == count(table.column_names)
    assert {each.attribute: each.alike for each in told.without} == {
        name: count([other for other in table.column_names if other != name]) for name in table.column_names
    }
    assert [each.alike for each in told.without] == sorted((each.alike for each in told.without), reverse=True)


@pytest.mark.parametrize("row", [-1, 613, 1.5, "3", np.nan])
def test_a_row_that_is_not_there_is_refused(release, row):
    with pytest.raises(InvalidParameterError, match="There is no row"):
        explain_disclosure_risk(release.evidence, row)
    with pytest.raises(InvalidParameterError, match="Without the original"):
        explain_disclosure_risk(AuditContext(release.published, release.recipe.schema), 0)
