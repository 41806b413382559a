"""What the report shows, in which order, and how its numbers read."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato._number_format import format_percent
from sfumato.report.facts import gather_facts, nearly_unique_texts
from sfumato.report.page import MAX_EXPOSURES, render_report

ROWS = 300


def many_secrets() -> sf.Release:
    """Publish nine sensitive columns, each more common than the last, and a text of its own for everybody."""
    rng = np.random.default_rng(1)
    columns = {f"secret{at}": (rng.random(ROWS) < (at + 1) / 10).astype(int).astype(str) for at in range(9)}
    people = pa.table(
        {
            "age": rng.integers(20, 80, ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
            "notes": [f"note {row}" for row in range(ROWS)],
            **columns,
        }
    )
    schema = sf.Schema(
        quasi_identifiers=["age", "sex"],
        sensitive=list(columns),
        insensitive=["notes"],
        hierarchies={"age": sf.hierarchies.Intervals(20, 40)},
    )
    levels = sf.algorithms.FixedLevels(levels={"age": 1, "sex": 0})
    return sf.anonymize(people, schema, [sf.models.KAnonymity(k=5)], levels, publish_text=["notes"], seed=1)


@pytest.fixture(scope="module")
def secretive() -> sf.Release:
    return many_secrets()


@pytest.fixture
def page(secretive, parts) -> str:
    return render_report(gather_facts(*parts(secretive)))


def test_the_worst_exposures_come_first_and_the_rest_is_folded(page, secretive, parts):
    shown, _, folded = page.partition("less exposed columns</summary>")
    titles = re.findall(r"<h3>(secret\d|Identity)", shown + folded.partition("</details>")[0])
    assert titles[0] == "Identity"
    assert len(titles) == 10
    assert len(re.findall(r"<h3>(?:secret\d|Identity)", shown)) == MAX_EXPOSURES
    everybody = {each["attribute"]: each["everybody"] for each in gather_facts(*parts(secretive))["exposure"]}
    worst = [(everybody[title]["maximum"], everybody[title]["mean"]) for title in titles[1:]]
    assert worst == sorted(worst, reverse=True)
    assert "4 less exposed columns" in page


def test_every_cell_of_the_attacks_is_labelled_for_narrow_screens(page):
    attacks = page.partition('<section id="attacks"')[2].partition("</section>")[0]
    assert '<table class="stacked">' in attacks
    assert attacks.count("<td") == attacks.count('data-label="') > 0


def test_labels_stand_beside_the_values_they_are_spread_over(page, secretive):
    shares = secretive.published["age"].combine_chunks().cast(pa.string()).value_counts()
    counts = {each["values"].as_py(): each["counts"].as_py() for each in shares}
    told = re.search(r"Published as (.*?)</p>", page)[1]
    assert dict(re.findall(r"<code>(.*?)</code> (\d+)", told)) == {label: str(count) for label, count in counts.items()}
    assert page.count("Published as") == 1  # not of columns whose values are published as they are


def test_telling_texts_are_warned_about(page, secretive):
    assert "Column notes holds 300 different texts" in page
    assert "<strong>Telling texts in notes.</strong> 300 different texts stand in 300 records" in page
    assert 'class="verdict amber"' in page
    found = nearly_unique_texts(secretive.evidence)
    assert found == [{"attribute": "notes", "distinct": 300, "records": 300}]


def test_numbers_and_few_texts_tell_nothing(release):
    assert nearly_unique_texts(release.evidence) == []


def test_what_analysts_find_is_shown(page, release, parts):
    told = render_report(gather_facts(*parts(release)))
    section = told.partition('<section id="analysts"')[2].partition("</section>")[0]
    for title in ("Means and deviations", "Correlations", "Cross-tabulations", "Regression of cost"):
        assert f"<h3>{title}</h3>" in section
    assert 'href="#analysts"' in told
    assert "Cross-tabulations" in page
    assert "Correlations" not in page


def test_a_release_without_file_and_date_is_titled_with_its_algorithm(release, parts):
    assert "<title>Release report: mondrian (internal)</title>" in render_report(gather_facts(*parts(release)))
    named = replace(release, recipe=replace(release.recipe, input_file="<b>.csv", input_date="2026-01-31"))
    told = render_report(gather_facts(*parts(named)))
    assert "&lt;b&gt;.csv · 2026-01-31 · mondrian" in told


def test_numbers_are_never_broken_across_lines(page):
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert re.search(r"\.number \{[^}]*white-space: nowrap", style)


@given(st.floats(0, 1))
def test_shares_are_rounded_to_the_nearest(share):
    text = format_percent(share)
    if text.startswith("<"):
        assert 0 < share < 0.0005
    elif text.startswith(">"):
        assert 0.9995 <= share < 1
    else:
        assert abs(float(text.rstrip("%")) / 100 - share) <= 0.0005 + 1e-9
