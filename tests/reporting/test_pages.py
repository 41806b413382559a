"""Pages load nothing, escape everything, say what holds, and are the same again."""

from __future__ import annotations

import copy
import json
import re
from html.parser import HTMLParser

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.report.facts import gather_facts
from sfumato.report.guarantee import make_guarantee
from sfumato.report.page import render_about, render_report

EVIL = "<script>alert(1)</script>"
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Collect tags and attributes, and check that tags close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        """Note a tag and wait for its end."""
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Note a tag that ends at once."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        """Close the innermost tag."""
        assert self.open.pop() == tag

    def named(self, tag):
        """Give the attributes of all tags of a name."""
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture
def facts(release, parts):
    return gather_facts(*parts(release))


@pytest.fixture
def report(facts):
    return render_report(facts)


@pytest.fixture
def about(release, parts):
    return render_about(make_guarantee(release.recipe.models, release.audit), parts(release)[2])


@pytest.fixture(params=["report", "about"])
def page(request):
    return request.getfixturevalue(request.param)


def test_a_page_loads_nothing_and_runs_nothing(page):
    tags = Page(page).tags
    assert {"script", "link", "img", "iframe", "object", "embed", "use", "base", "form"}.isdisjoint(t for t, _ in tags)
    for _, attributes in tags:
        assert not any(name.startswith("on") for name in attributes)
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert set(re.findall(r"https?://[^\"' ]+", page)) <= {"http://www.w3.org/2000/svg"}


def test_a_page_fits_phones_and_printers(page):
    metas = Page(page).named("meta")
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in metas
    assert "@media print" in page
    assert "@media (max-width" in page


def test_links_inside_the_report_lead_somewhere(report):
    parsed = Page(report)
    ids = {attributes["id"] for _, attributes in parsed.tags if "id" in attributes}
    assert {attributes["href"][1:] for attributes in parsed.named("a")} <= ids


def test_the_report_says_promise_and_verdict_in_plain_words(report):
    text = re.sub(r"<[^>]+>", "", report)
    assert "Every record shares its published quasi-identifiers with at least 4 others: holds (5)" in text
    assert "All 2 promises hold." in text
    assert "Lower is better" in text
    assert "What this does not protect against" in text


def test_the_report_holds_the_recipe_but_not_more_than_some_pages_of_it(facts, report):
    assert "seed = 918273645546372819" in report
    long = render_report({**facts, "recipe": "x = 1\n" * 1000})
    assert "600 more lines" in long


def test_no_page_calls_the_table_anonymous_or_scores_it(page):
    told = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL).lower()
    assert "anonymous" not in told
    assert "anonymized" not in told
    assert "score" not in told


def test_a_report_renders_alike_from_json_and_again(facts, report):
    assert render_report(json.loads(json.dumps(facts))) == report
    assert render_report(facts) == report


def test_a_broken_promise_is_said_at_the_top(facts):
    broken = copy.deepcopy(facts)
    broken["audit"]["holds"] = broken["audit"]["models"][0]["holds"] = False
    broken["audit"]["models"][0].update(level=2, violating_records=14)
    page = re.sub(r"<[^>]+>", "", render_report(broken))
    assert "The release does not keep its promises." in page
    assert "does not hold (2)" in page
    assert "14 records in groups that break it" in page


def test_a_report_without_an_original_to_compare_with_does_not_claim_truth(facts):
    untold = copy.deepcopy(facts)
    del untold["audit"]["truth"]
    assert "covers the original value" not in render_report(untold)


def told(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_the_report_shows_exposure_before_and_after_to_both_adversaries(facts, report):
    page = told(report)
    assert "adversary 1" in page
    assert "A stronger one (adversary 2) knows the quasi-identifiers of everybody" in page
    assert "Highest exposure 100% 20.0% 20.0%" in page
    for kind in facts["exposure"]:
        rows = ", ".join(str(row) for row in kind["riskiest"])
        assert f"Rows of the original that are most exposed by the release, counted from 0: {rows}" in page


def test_a_report_without_exposure_says_why(facts):
    page = render_report({**facts, "exposure": None})
    Page(page)
    assert "not computed, because the table has more than 2,000,000 records" in told(page)
    assert "Highest exposure" not in page


def test_exposure_is_internal(about):
    assert "exposure" not in about.lower()
    assert "adversary" not in about.lower()


def test_the_parts_of_a_promise_are_told_with_their_levels(schema, parts, release):
    models = [sf.models.PSensitiveKAnonymity(p=1, k=5, sensitive="disease")]
    made = sf.anonymize(release.original, schema, models, seed=1)
    taken = parts(made)
    pages = [
        render_report(gather_facts(*taken)),
        render_about(make_guarantee(made.recipe.models, made.audit), taken[2]),
    ]
    for page in pages:
        Page(page)
        assert "✓ k-anonymity · records in the smallest group: 5 (at least 5)" in told(page)
        assert "✓ distinct l-diversity · different values in the least diverse group: 1 (at least 1)" in told(page)
    broken = gather_facts(*taken)
    broken["audit"]["models"][0]["parts"][0].update(holds=False, level=3)
    assert "✗ k-anonymity · records in the smallest group: 3 (at least 5)" in told(render_report(broken))


def test_suppressed_records_are_told_inside(suppressing, parts):
    page = re.sub(r"<[^>]+>", " ", render_report(gather_facts(*parts(suppressing))))
    assert re.search(r"records suppressed\s+37", page)


def test_names_and_values_are_escaped(parts):
    table = pa.table({EVIL: [EVIL, "b"] * 8, "disease": ["flu", EVIL, "cold", "flu"] * 4})
    schema = sf.Schema(quasi_identifiers=[EVIL], sensitive=["disease"])
    release = sf.anonymize(
        table, schema, [sf.models.KAnonymity(k=2), sf.models.DistinctLDiversity(l=1, sensitive="disease")], seed=1
    )
    taken = parts(release)
    pages = [
        render_report(gather_facts(*taken)),
        render_about(make_guarantee(release.recipe.models, release.audit), taken[2]),
    ]
    for page in pages:
        assert "<script" not in page
        assert "&lt;script&gt;" in page
        Page(page)


@pytest.mark.parametrize("missing", ["own-value", "matches-all"])
@pytest.mark.parametrize(
    "models",
    [
        [sf.models.TCloseness(t=1, sensitive="disease")],
        [sf.models.RecursiveLDiversity(c=50.0, l=1, sensitive="disease")],
        [
            sf.models.EntropyLDiversity(l=1, sensitive="disease"),
            sf.models.FrequencyLDiversity(l=1, sensitive="disease"),
        ],
        [sf.models.KLAnonymity(k=2, l=1, sensitive="disease"), sf.models.KMap(k=2, fraction=0.5)],
        [sf.models.XYAnonymity(k=1, y="disease", x=["age"], h=1.0), sf.models.KAnonymity(k=2, quasi=["alive"])],
        [sf.models.HPKAnonymity(h=1, p=1, k=2, sensitive="disease", sensitivity_levels={"flu": "low", "cold": "low"})],
        [sf.models.AlphaKAnonymity(alpha=1.0, k=2, sensitive="disease", values=["flu"])],
        [
            sf.models.ConfidenceBounding(bounds={"flu": 1.0}, sensitive="disease"),
            sf.models.BetaLikeness(beta=9, sensitive="disease"),
        ],
    ],
)
def test_a_report_can_be_made_for_every_model_and_policy(models, missing, parts):
    table = pa.table(
        {
            "age": [30, None, 50, 51, 52, 31],
            "alive": [True, False, None, True, True, False],
            "disease": ["flu", "cold", None, "cold", "flu", "flu"],
            "note": [None] * 6,
        }
    )
    schema = sf.Schema(quasi_identifiers=["age", "alive"], sensitive=["disease"], insensitive=["note"], missing=missing)
    release = sf.anonymize(table, schema, models, seed=1)
    Page(render_report(gather_facts(*parts(release))))


def test_a_table_without_quasi_identifiers_is_one_group(parts):
    table = pa.table({"disease": ["flu", "cold", "flu"]})
    release = sf.anonymize(table, sf.Schema(sensitive=["disease"]), [sf.models.KAnonymity(k=2)], seed=1)
    facts = gather_facts(*parts(release))
    assert facts["risk"]["after"]["groups"] == 1
    Page(render_report(facts))
