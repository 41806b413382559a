"""Reports and public pages in Chinese: the same release, told in another language, and nothing left in English."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato._locale.messages import load_messages
from sfumato.cli._application import app
from sfumato.core.writing import read_facts, render
from sfumato.errors import InvalidParameterError
from sfumato.report.page import render_about, render_report

SECRET = "5f" * 32
PEOPLE = sf.datasets.generate_hospital(240, seed=3)
SCHEMA = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=["age", "sex", "height_cm"],
    sensitive=["disease"],
    insensitive=["cost"],
    hierarchies={"age": sf.hierarchies.Intervals(5, 10, 20), "height_cm": sf.hierarchies.Intervals(10, 50)},
)
K = sf.models.KAnonymity(k=4)


def diverse() -> sf.Release:
    models = [
        K,
        sf.models.TCloseness(t=0.9, sensitive="disease"),
        sf.models.BetaLikeness(beta=90, sensitive="disease", enhanced=True),
    ]
    return sf.anonymize(PEOPLE, SCHEMA, models, sf.algorithms.Optimal(), max_suppressed=0.5, seed=1)


def composed() -> sf.Release:
    models = [
        sf.models.PSensitiveKAnonymity(p=2, k=4, sensitive="disease"),
        sf.models.KAnonymity(k=3, quasi=["age", "sex"]),
    ]
    return sf.anonymize(PEOPLE, SCHEMA, models, seed=1)


def unpromised() -> sf.Release:
    numbers = PEOPLE.append_column("note", pa.array([f"n{row}" for row in range(PEOPLE.num_rows)]))
    schema = sf.Schema(quasi_identifiers=["age", "height_cm"], sensitive=["disease"], insensitive=["note"])
    return sf.anonymize(numbers, schema, [K], seed=1)


def in_buckets() -> sf.Release:
    models = [sf.models.FrequencyLDiversity(l=2, sensitive="disease")]
    return sf.anonymize(PEOPLE, SCHEMA, models, sf.algorithms.Anatomy(), max_suppressed=0.5, seed=1, secret=SECRET)


def flagged() -> sf.Release:
    table = PEOPLE.append_column("private", pa.array([row % 3 == 0 for row in range(PEOPLE.num_rows)]))
    schema = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["disease"], flags={"disease": "private"})
    models = [sf.models.FrequencyLDiversity(l=3, sensitive="disease")]
    return sf.anonymize(table, schema, models, sf.algorithms.LocalAnatomy(), seed=1, secret=SECRET)


def centers() -> sf.Release:
    return sf.anonymize(PEOPLE, SCHEMA, [K], sf.algorithms.MDAV(), seed=1)


def masked() -> sf.Release:
    steps = [
        sf.masking.AddNoise(columns=["height_cm", "cost"], share=0.1, low=0),
        sf.masking.PRAM(columns=["sex"], keep=0.9),
        sf.masking.TopCode(column="age", at=89),
    ]
    return sf.anonymize(PEOPLE, SCHEMA, [], sf.algorithms.Identity(), masking=steps, seed=1, secret=SECRET)


def masked_and_generalized() -> sf.Release:
    steps = [
        sf.masking.SwapRanks(columns=["age", "cost"], reach=0.05),
        sf.masking.RoundNumbers(columns=["cost"], base=5),
    ]
    return sf.anonymize(PEOPLE, SCHEMA, [K], masking=steps, seed=1, secret=SECRET)


def recoded() -> sf.tables.TransformedRows:
    levels = sf.algorithms.FixedLevels(levels={"age": 3, "height_cm": 2})
    first = sf.anonymize(PEOPLE, SCHEMA, [K], levels, max_suppressed=0.5, seed=2)
    return sf.transform(sf.datasets.generate_hospital(120, seed=4), first.recoding)


RELEASES = (diverse, composed, unpromised, in_buckets, flagged, centers, masked, masked_and_generalized, recoded)


def told(page: str) -> str:
    """Return what people read of a page: no code, no recipe, no style; labels of narrow screens, too."""
    bare = re.sub(r"<style>.*?</style>|<(code|pre)[ >].*?</\1>", "¦", page, flags=re.DOTALL)
    labels = re.findall(r'(?:data-label|aria-label)="([^"]*)"', bare)
    return html.unescape("¦".join([re.sub(r"<[^>]+>", "¦", bare), *labels]))


def english_in(page: str) -> list[str]:
    """Find three or more Latin words in a row."""
    return re.findall(r"[A-Za-z][\w'-]*(?: [A-Za-z][\w'-]*){2,}", told(page))


@pytest.fixture(scope="module", params=RELEASES, ids=lambda made: made.__name__)
def release(request) -> sf.Release:
    return request.param()


def test_only_the_pages_and_the_recipe_change(release, tmp_path):
    chinese = replace(release, recipe=replace(release.recipe, language="zh"))
    for name, each in (("en", release), ("zh", chinese)):
        each.write(tmp_path / name)
    files = {path.relative_to(tmp_path / "en") for path in (tmp_path / "en").rglob("*") if path.is_file()}
    changed = {
        path.name for path in files if (tmp_path / "en" / path).read_bytes() != (tmp_path / "zh" / path).read_bytes()
    }
    assert changed - {"recoding.toml"} == {"about.html", "report.html", "recipe.toml", "report.json"}
    facts = {
        name: json.loads((tmp_path / name / "internal" / "report.json").read_text("utf-8")) for name in ("en", "zh")
    }
    assert {key for key in facts["en"] if facts["en"][key] != facts["zh"][key]} == {"recipe", "sha256"}
    for page in ("internal/report.html", "public/about.html"):
        text = (tmp_path / "zh" / page).read_text("utf-8")
        assert '<html lang="zh">' in text
        assert english_in(text) == []
        headings = [int(level) for level in re.findall(r"<h(\d)", text)]
        assert all(level <= before + 1 for before, level in pairwise([0, *headings]))
        assert not re.search(r"<th[^>]*></th>", text)
    assert render(read_facts(tmp_path / "zh")) == (tmp_path / "zh" / "internal" / "report.html").read_text("utf-8")
    english = (tmp_path / "en" / "internal" / "report.html").read_text("utf-8")
    assert render(read_facts(tmp_path / "zh"), "en").replace("language = &#34;zh&#34;\n", "") == english
    assert release.report("zh").html == render(read_facts(tmp_path / "en"), "zh")


def test_english_sentences_would_be_found():
    assert english_in("<p>This is left.</p><code>this is code here</code>") == ["This is left"]
    assert english_in('<td data-label="left in English">甲</td>') == ["left in English"]


def test_the_language_changes_nobodys_bucket():
    models = [sf.models.FrequencyLDiversity(l=2, sensitive="disease")]
    asked = {"algorithm": sf.algorithms.Anatomy(), "max_suppressed": 0.5, "seed": 1, "secret": SECRET}
    english, chinese = (sf.anonymize(PEOPLE, SCHEMA, models, language=name, **asked) for name in ("en", "zh"))
    assert chinese.published.equals(english.published)


def test_a_recipe_records_only_another_language():
    recipe = sf.Recipe(schema=SCHEMA, models=[K], algorithm=sf.algorithms.Mondrian())
    assert "language" not in recipe.to_toml()
    chinese = replace(recipe, language="zh")
    assert 'language = "zh"' in chinese.to_toml()
    assert sf.Recipe.from_toml(chinese.to_toml()) == chinese
    assert "language='zh'" in chinese.to_python("patients.csv")
    with pytest.raises(InvalidParameterError, match=r"Recipe\.language must be one of en, zh"):
        replace(recipe, language="de")


def test_commands_take_a_language(tmp_path):
    sf.write(PEOPLE, tmp_path / "people.csv")
    out = tmp_path / "out"
    command = [
        "anonymize",
        str(tmp_path / "people.csv"),
        "--quasi",
        "age,sex",
        "--k",
        "3",
        "--seed",
        "1",
        "--out",
        str(out),
    ]
    done = CliRunner().invoke(app, [*command, "--language", "zh"])
    assert done.exit_code == 0, done.output
    page = (out / "internal" / "report.html").read_text("utf-8")
    assert "<h1>发布报告</h1>" in page
    assert "<h1>关于本表</h1>" in (out / "public" / "about.html").read_text("utf-8")
    again = CliRunner().invoke(app, ["report", str(out), "--language", "en"])
    assert again.exit_code == 0
    assert "<h1>Release report</h1>" in (out / "internal" / "report.html").read_text("utf-8")
    assert CliRunner().invoke(app, ["report", str(out)]).exit_code == 0
    assert (out / "internal" / "report.html").read_text("utf-8") == page
    refused = CliRunner().invoke(app, ["report", str(out), "--language", "de"])
    assert refused.exit_code == 2
    assert "There are no words in the language 'de'" in refused.output


def test_what_only_a_plugin_says_stays_english_and_the_page_says_so(release, tmp_path):
    release.write(tmp_path / "out")
    facts = read_facts(tmp_path / "out")
    promise = json.loads((tmp_path / "out" / "public" / "promise.json").read_text("utf-8"))
    dictionary = json.loads((tmp_path / "out" / "public" / "dictionary.json").read_text("utf-8"))
    say = load_messages("zh")
    assert say("page.of_plugin") not in render_report(facts, say) + render_about(promise, dictionary, say)
    if not facts["promise"]:
        return
    name = facts["promise"][0]["model"]
    for each in (facts, promise):
        each["promise"][0] |= {"model": "caution", "words": "Every record is treated with caution."}
        each["audit"]["models"][0]["model"] = "caution"
        each["words"]["caution"] = {**each["words"][name], "title": "caution"}
    for page in (render_report(facts, say), render_about(promise, dictionary, say)):
        assert "Every record is treated with caution" in page
        assert say("page.of_plugin") in page
    assert say("page.of_plugin") not in render_report({**facts, "measures": {"blur": 0.5}})


def test_the_report_on_synthetic_records_is_told_in_chinese():
    made = sf.synthesis.Condensation(k=10, secret=SECRET).release(PEOPLE, SCHEMA)
    page = made.report("zh")
    assert page.title == "合成记录报告"
    assert english_in(page.html) == []
    assert "Report on synthetic records" in made.report().html


def test_a_comparison_is_told_in_chinese(tmp_path):
    releases = {"甲": composed(), "乙": in_buckets(), "丙": centers(), "丁": masked()}
    drawn = sf.synthesis.Condensation(k=10, secret=SECRET).release(PEOPLE, SCHEMA)
    found = sf.compare({**releases, "戊": drawn}, refused={"己": "不适用。"})
    page = found.page("zh")
    assert page.title == "发布的比较"
    assert english_in(page.html) == []
    assert "每条记录都根据至少 10 人的组" in page.html
    assert found.page().html == found.page("en").html
    releases["甲"].write(tmp_path / "release")
    command = ["compare", str(tmp_path / "release"), "--out", str(tmp_path / "page.html"), "--language"]
    assert CliRunner().invoke(app, [*command, "zh"]).exit_code == 0
    assert '<html lang="zh">' in (tmp_path / "page.html").read_text("utf-8")
    assert CliRunner().invoke(app, [*command, "de", "--force"]).exit_code == 2


def test_texts_are_escaped_in_chinese_as_in_english():
    table = pa.table({"<b>age": list(range(30)), "job & {n}": ["<i>clerk"] * 30})
    schema = sf.Schema(quasi_identifiers=["<b>age"], sensitive=["job & {n}"])
    page = sf.anonymize(table, schema, [K], seed=1).report("zh").html
    assert "<b>" not in page
    assert "<i>" not in page
    assert "job &amp; {n}" in page


def test_chinese_pages_never_call_a_table_anonymous():

    for key, entry in load_messages("zh").entries.items():
        for form in [entry] if isinstance(entry, str) else entry.values():
            assert "匿名" not in re.sub(r"(?:K|\))-匿名", "", form), key


def test_both_languages_have_the_same_markup():
    english, chinese = load_messages("en").entries, load_messages("zh").entries
    for key in english:
        for first, second in zip(forms(english[key]), forms(chinese[key]), strict=True):
            assert sorted(re.findall(r"<[^>]*>", first)) == sorted(re.findall(r"<[^>]*>", second)), key
            allowed = re.sub(r'</?(?:code|strong)>|<a href="#limits">|</a>', "", first)
            assert "<" not in allowed, key


def forms(entry) -> list[str]:
    return [entry] if isinstance(entry, str) else list(entry.values())


def test_the_glossary_lists_terms_that_chinese_pages_use():
    page = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text("utf-8").partition("## In Chinese")[2]
    terms = [
        term
        for _, said in re.findall(r"^\| ([^|]+) \| ([^|]*[\u4e00-\u9fff][^|]*) \|", page, re.MULTILINE)[1:]
        for term in said.split("、")
    ]
    pages = "".join(form for entry in load_messages("zh").entries.values() for form in forms(entry))
    assert len(terms) > 30
    assert [term for term in terms if term not in pages] == []
