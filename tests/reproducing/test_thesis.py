"""The thesis on small tables: all figures and findings, repeatable; and tables of users."""

from __future__ import annotations

import re
from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from papers._reproduction import Figure, FigureLine, run_jobs
from papers.thesis import chapter_3, chapter_4, chapter_5
from papers.thesis._measurement import QuerySample, ThesisPoint, measure_release, unbucketed_ncp
from papers.thesis.experiment import reproduce_thesis
from papers.thesis.setting import ThesisGrid, census_schema, census_subject, subject_from_table

import sfumato as sf
from sfumato.datasets.census import generate_census
from sfumato.errors import InvalidParameterError, SchemaError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "reproduce-the-thesis.md"
SMALL = ThesisGrid(
    queries=5,
    diversities=(3, 5),
    group_sizes=(2, 3),
    fixed_diversities=(3, 5),
    generalized_sizes=(2, 3),
    densities=(0.2, 0.4),
)
CHAPTER_5 = replace(SMALL, densities=(0.1, 0.2, 0.3, 0.4))


@pytest.fixture(scope="module")
def found():
    return reproduce_thesis(CHAPTER_5, rows=400)


def test_every_figure_of_the_three_chapters_is_there(found):
    wanted = [f"3.{n}" for n in range(6, 12)] + ["4.3", "4.4", "4.5", "4.6", "4.7", "4.8", "4.10"]
    wanted += [f"5.{n}" for n in range(4, 28)]
    assert sorted(figure.name for figure in found.figures) == sorted(wanted)
    assert all(len(line.xs) == len(line.ys) for figure in found.figures for line in figure.lines)
    assert not any(isnan(y) for figure in found.figures for line in figure.lines for y in line.ys)


def test_figures_of_chapter_5_alternate_between_the_mechanisms(found):
    titles = {figure.name: figure.title for figure in found.figures}
    assert titles["5.4"] == "Discernibility of LAG_1 (cuts), 10% flagged"
    assert titles["5.17"] == "NCP of LAG_2 (seeds), 30% flagged"
    assert titles["5.27"] == "Query error of LAG_2 (seeds), 40% flagged"


def test_every_finding_belongs_to_a_figure_and_says_why(found):
    named = {figure.name for figure in found.figures} | {"5.4-5.11", "5.12-5.19", "5.20-5.27"}
    assert {finding.figure for finding in found.findings} <= named
    assert all(finding.why and finding.why.endswith(".") for finding in found.findings)
    assert len({(finding.figure, finding.claim) for finding in found.findings}) == len(found.findings) == 49


def test_the_page_has_the_findings_of_the_command(found):
    rows = [line.split(" | ") for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| [345]\.\d", line)]
    shown = [(row[0].removeprefix("| "), row[1].replace("\\_", "_")) for row in rows]
    assert shown == [(finding.figure, finding.claim) for finding in found.findings]
    verdicts = [row[2] for row in rows]
    seen, missed = verdicts.count("yes"), verdicts.count("**no**")
    assert f"{seen} of {seen + missed} findings are confirmed" in PAGE.read_text("utf-8")
    assert (
        verdicts.count("not said") == sum(not finding.said for finding in found.findings) == len(rows) - seen - missed
    )


def test_the_same_seed_gives_the_same_numbers_in_other_processes():
    again = run_jobs([(chapter_3.measure_over_l, _mondrian(seed)) for seed in (0, 0, 1)], workers=2)
    assert again[0] == again[1] != again[2]


def _mondrian(seed: int) -> tuple:
    subject = census_subject(3, rows=300, seed=seed)
    return (subject, replace(SMALL, seed=seed), chapter_3.MONDRIAN, 1, (3,))


def test_an_error_of_a_task_is_raised():
    with pytest.raises(InvalidParameterError):
        run_jobs([(sf.datasets.generate_census, (-1,)), (sf.datasets.generate_census, (5,))], workers=2)


def test_what_no_release_can_keep_is_not_measured():
    subject = census_subject(3, rows=50, seed=0)
    questions = QuerySample.draw(subject, SMALL)
    point = measure_release(
        questions, [sf.models.FrequencyLDiversity(l=49, sensitive="salary")], sf.algorithms.Anatomy(), 0
    )
    assert isnan(point.error)
    assert isnan(point.discernibility)


def test_errors_are_those_of_the_workload_with_rounded_bounds():
    subject = census_subject(3, rows=400, seed=0)
    grid = replace(SMALL, queries=30)
    models = [sf.models.KLAnonymity(k=2, l=3, sensitive="salary")]
    point = measure_release(QuerySample.draw(subject, grid), models, sf.algorithms.CrossBucketGeneralization(), 0)
    release = sf.anonymize(subject.table, subject.schema, models, sf.algorithms.CrossBucketGeneralization(), seed=0)
    workload = sf.queries.Workload(queries=30, bounds="rounded", seed=grid.seed)
    said = sf.queries.relative_errors(release.frame, subject.table, subject.schema, workload).summary()
    assert point.error == pytest.approx(said["mean_bound_error"])
    assert point.median_error == pytest.approx(said["median_bound_error"])


def test_cells_in_buckets_have_no_penalty():
    subject = census_subject(4, rows=400, seed=0).sensitive_cells(["age", "occupation"], 0.3, 0)
    models = [sf.models.FrequencyLDiversity(l=3, sensitive=name) for name in ("age", "occupation", "salary")]
    release = sf.anonymize(subject.table, subject.schema, models, sf.algorithms.LocalAnatomy(), seed=0)
    assert unbucketed_ncp(release) == pytest.approx(0, abs=1e-6)


def test_flags_have_the_density_asked_for_and_lower_ones_are_among_them():
    subject = census_subject(4, rows=1000, seed=0)
    low, high = (subject.sensitive_cells(["age", "sex"], density, 7).table for density in (0.1, 0.4))
    for name in ("age__sensitive", "sex__sensitive"):
        few, many = low[name].to_numpy(), high[name].to_numpy()
        assert (few.sum(), many.sum()) == (100, 400)
        assert not (few & ~many).any()
    assert low["age__sensitive"] != low["sex__sensitive"]


def points(**by_l: float) -> dict[int, ThesisPoint]:
    return {int(l[1:]): ThesisPoint(error=y, median_error=y, discernibility=y, ncp=y) for l, y in by_l.items()}


def test_findings_of_chapter_5_follow_the_numbers():
    grid = replace(SMALL, densities=(0.1, 0.4))
    local = {("t-close", density): points(l3=1, l5=1) for density in grid.densities}
    subject = census_subject(5, rows=100, seed=0)

    def judged(cuts: float, flagged: float) -> dict[str, bool]:
        measured = {
            (mechanism, density, k): points(
                l3=k * (cuts if mechanism == "cuts" else 10) + flagged * density,
                l5=k * (cuts if mechanism == "cuts" else 10) + flagged * density,
            )
            for mechanism in ("cuts", "seeds")
            for density in grid.densities
            for k in grid.generalized_sizes
        }
        found = chapter_5.make_figures(subject, measured, grid, local).findings
        return {finding.claim: finding.seen for finding in found}

    one, other = judged(9, 5), judged(11, -5)
    assert one["LAG_1 has the lower discernibility"]
    assert one["LAG_1 has the lower query error"]
    assert not one["LAG_2 has the lower NCP"]
    assert one["Discernibility grows with the share of flagged cells"]
    assert not one["NCP of LAG_1 falls as more cells are flagged"]
    assert not other["LAG_1 has the lower discernibility"]
    assert other["LAG_2 has the lower NCP"]
    assert not other["Discernibility grows with the share of flagged cells"]
    assert other["NCP of LAG_1 falls as more cells are flagged"]


@pytest.mark.parametrize(
    ("local", "plain", "anatomy", "seen"),
    [
        ((1, 1.1, 2.9, 2.95), (3, 3, 3, 3), (2, 2, 2, 2), (True, True, True, True)),
        ((1, 2.5, 2.9, 3.1), (3, 3, 3, 3), (2, 2, 2, 2), (True, False, True, False)),
        ((1, 1.1, 2.0, 2.1), (3, 3, 1, 3), (2, 2, 2, 2), (False, True, True, True)),
        ((1, 3.5, 3.6, 3.7), (3, 3, 3, 3), (2, 2, 2, 2), (True, False, False, False)),
        ((1, 1.1, 2.5, 2.6), (3, 3, 3, 3), (2, 2, 2, 2), (True, True, True, False)),
    ],
)
def test_findings_on_the_heuristic_follow_the_numbers(local, plain, anatomy, seen):
    names = (chapter_4.HEURISTIC, chapter_4.PLAIN, chapter_4.ANATOMY)
    lines = [line(name, ys) for name, ys in zip(names, (local, plain, anatomy), strict=True)]
    found = chapter_4._heuristic_findings(Figure("4.6", "", "l", "", tuple(lines)))
    assert tuple(finding.seen for finding in found) == seen


def line(name: str, ys: tuple[float, ...]):
    return FigureLine(name, (12.0, 15.0, 18.0, 20.0), ys)


def test_a_table_of_the_user_is_taken():
    table = generate_census(300, seed=1).append_column("name", pa.array(map(str, range(300))))
    quasi = (*census_schema().quasi_identifiers[:4], "occupation")
    schema = sf.Schema(identifiers=["name"], sensitive=["race", "salary"], quasi_identifiers=quasi)
    subject = subject_from_table(table, schema)
    assert subject.summed == "salary"
    assert subject.semi_sensitive == ("age", "occupation")
    assert subject.narrow == "sex"
    assert subject.schema.sensitive == ("salary",)


def test_flags_of_the_schema_say_what_is_semi_sensitive():
    table = generate_census(100).append_column("hide", pa.array([True, False] * 50))
    subject = subject_from_table(table, replace(census_schema(), flags={"race": "hide"}))
    assert subject.semi_sensitive == ("race",)
    assert subject.schema.flags == {}


def test_records_with_missing_values_are_left_out():
    table = generate_census(100)
    ages = np.where(np.arange(100) < 10, None, table["age"].to_pylist())
    table = table.set_column(table.column_names.index("age"), "age", pa.array(ages.tolist(), pa.int64()))
    assert subject_from_table(table, census_schema()).table.num_rows == 90


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (
            sf.Schema(quasi_identifiers=["sex", "age", "race", "education"], sensitive=["occupation"]),
            "is numeric",
        ),
        (sf.Schema(quasi_identifiers=["sex", "age"], sensitive=["salary"]), "quasi-identifiers at once"),
        (sf.Schema(quasi_identifiers=["sex", "agee", "race", "education"], sensitive=["salary"]), "agee"),
    ],
)
def test_tables_that_do_not_serve_are_refused(schema, said):
    with pytest.raises(SchemaError, match=said):
        subject_from_table(generate_census(100), schema)


@pytest.mark.parametrize("bad", [{"queries": 0}, {"seed": -1}, {"queries": 1.5}])
def test_bad_grids_are_refused(bad):
    with pytest.raises(InvalidParameterError, match=next(iter(bad))):
        ThesisGrid(**bad)
