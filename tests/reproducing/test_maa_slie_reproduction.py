"""The experiments on MAA-SLIE on small tables: all figures and findings, repeatable; and tables of users."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from math import isnan, nan

import numpy as np
import pyarrow as pa
import pytest
from papers import _reproduction
from papers.__main__ import app
from papers._claims import Claim
from papers._reproduction import Figure, FigureLine
from papers.maa_slie._findings import (
    BLOCKS,
    GPKC,
    MAA_SLIE,
    LineParameters,
    MaaSliePoint,
    average_line,
    check_everywhere_above,
    check_findings,
    check_mostly_above,
    check_within_factor_two,
)
from papers.maa_slie.experiment import measure_partition, reproduce_maa_slie
from papers.maa_slie.setting import ADULT_QUASI, LEVEL_WEIGHTS, MaaSlieGrid, generate_ranked_census, ranked_adult
from typer.testing import CliRunner

import sfumato as sf
from sfumato.errors import InvalidParameterError, SchemaError, SfumatoError

SMALL = MaaSlieGrid(rows=150, large_rows=300, repetitions=2, values=(3, 5))
CLAIM = Claim("2", "more is more")


@pytest.fixture(scope="module")
def found():
    return reproduce_maa_slie(SMALL)


def test_every_part_of_figures_2_to_4_is_drawn_at_both_sizes(found):
    parts = [f"{number}{part}" for number in "234" for part in "abc"]
    assert [figure.name for figure in found.figures] == [*parts, *(f"{name}-large" for name in parts)]
    assert found.figures[0].title == "Entropy privacy protection, H=2, k=8, 150 records"
    assert found.figures[-1].title == "Running time, H=3, k=8, 300 records"


def test_lines_are_those_of_the_paper_and_at_the_larger_size_also_the_approximate_mode(found):
    paper = ["(H,p,k)-MAA-SLIE", "(p,k)-MAA-SLIE", "(H,p,k)-GPKC", "(p,k)-GPKC"]
    for figure in found.figures:
        extra = ["(H,p,k)-MAA-SLIE in blocks"] if figure.name.endswith("-large") else []
        assert [each.label for each in figure.lines] == [*paper, *extra]
        assert all(each.xs == (3, 5) and not any(map(isnan, each.ys)) for each in figure.lines)


def test_repetitions_differ_and_their_spread_is_told(found):
    for figure in found.figures:
        if figure.name[0] in "23":
            assert all(each.spread is not None and min(each.spread) > 0 for each in figure.lines)


def test_the_form_without_levels_is_the_same_in_parts_with_equal_k(found):
    first, third = found.figures[0], found.figures[2]
    assert first.line("(p,k)-GPKC") == third.line("(p,k)-GPKC")
    assert first.line("(H,p,k)-GPKC") != third.line("(H,p,k)-GPKC")


def test_every_finding_says_why(found):
    assert {finding.figure for finding in found.findings} == {"2", "3", "4", "2-large", "3-large", "4-large"}
    assert len({(finding.figure, finding.claim) for finding in found.findings}) == len(found.findings) == 34
    assert all(finding.why.endswith(".") for finding in found.findings)


def test_the_same_seed_gives_the_same_numbers_and_another_one_others(found):
    grid = replace(SMALL, large_rows=0)
    again, other = (reproduce_maa_slie(replace(grid, seed=seed)) for seed in (0, 1))
    measured = [figure for figure in found.figures if figure.name in {"2a", "3c"}]
    assert [figure for figure in again.figures if figure.name in {"2a", "3c"}] == measured
    assert [figure for figure in other.figures if figure.name in {"2a", "3c"}] != measured
    assert len(other.findings) == 17


def test_a_point_measures_what_the_release_has():
    subject = generate_ranked_census()
    table = subject.sample(200, 0, 0)
    point = measure_partition(subject, table, LineParameters(200, MAA_SLIE, 2, 8), 4, seed=5)
    model = sf.models.HPKAnonymity(h=2, p=4, k=8, sensitive="occupation", sensitivity_levels=subject.levels)
    algorithm = sf.algorithms.MAASLIE(level_weights={str(level): weight for level, weight in LEVEL_WEIGHTS.items()})
    release = sf.anonymize(table, subject.schema, [model], algorithm, seed=5)
    frame = (
        release.published.select(subject.schema.quasi_identifiers)
        .to_pandas()
        .assign(job=release.published["occupation"])
    )
    entropies = []
    for _, group in frame.groupby(list(subject.schema.quasi_identifiers), observed=True):
        shares = group["job"].map(subject.levels).value_counts(normalize=True)
        entropies.append(-sum(LEVEL_WEIGHTS[level] * share * np.log10(share) for level, share in shares.items()))
    assert point.epp == pytest.approx(np.mean(entropies))
    assert point.middle_epp == pytest.approx(np.median(entropies))
    assert point.loss > 0
    assert 0 < point.middle_loss < 2 * point.loss
    assert point.seconds >= 0


def test_the_printed_index_is_measured_by_name():
    subject = generate_ranked_census()
    table, series = subject.sample(300, 0, 0), LineParameters(300, MAA_SLIE, 2, 8)
    mean, printed = (measure_partition(subject, table, series, 4, seed=5, index=index) for index in ("mean", "sum"))
    assert printed.loss > mean.loss
    assert printed.epp > mean.epp
    other = LineParameters(300, GPKC, 2, 8)
    same = [
        replace(measure_partition(subject, table, other, 4, seed=5, index=index), seconds=0)
        for index in ("mean", "sum")
    ]
    assert same[0] == same[1]


@pytest.mark.parametrize(("h", "p", "k"), [(3, 2, 8), (2, 9, 8), (2, 8, 400)])
def test_what_cannot_be_kept_is_not_measured(h, p, k):
    subject = generate_ranked_census()
    assert isnan(measure_partition(subject, subject.sample(200, 0, 0), LineParameters(200, GPKC, h, k), p, seed=0).epp)


def test_averages_leave_out_what_was_not_measured():
    series = LineParameters(10, GPKC, 2, 8)
    points = {3: [MaaSliePoint(epp=1.0), MaaSliePoint(epp=3.0), MaaSliePoint()], 4: [MaaSliePoint(), MaaSliePoint()]}
    drawn = average_line({series: points}, series, lambda point: point.epp, "a")
    assert drawn.ys[0] == 2
    assert isnan(drawn.ys[1])
    assert drawn.spread == (pytest.approx(np.sqrt(2)), 0)
    times = {3: [MaaSliePoint(seconds=each) for each in (1.0, 2.0, 9.0)]}
    assert average_line({series: times}, series, lambda point: point.seconds, "a", median=True).ys == (2.0,)


def lines(low: tuple[float, ...], high: tuple[float, ...]) -> list[tuple[FigureLine, FigureLine]]:
    return [(FigureLine("low", (3, 4, 5), low), FigureLine("high", (3, 4, 5), high))]


def test_everywhere_needs_every_point():
    assert check_everywhere_above(CLAIM, lines((1, 2, 3), (2, 3, 6))).seen
    one = check_everywhere_above(CLAIM, lines((1, 2, 3), (2, 2, 6)))
    assert not one.seen
    assert one.why == "At 2 of 3 points: high is 1 to 2 times low; not at high, p=4."
    assert check_everywhere_above(CLAIM, lines((1, nan, 3), (2, 0, 6))).seen
    assert not check_everywhere_above(CLAIM, lines((nan, nan, nan), (2, 0, 6))).seen


def test_mostly_needs_more_than_half():
    assert check_mostly_above(CLAIM, lines((1, 2, 3), (2, 3, 1))).seen
    assert not check_mostly_above(CLAIM, lines((1, 2, 3), (2, 1, 1))).seen
    assert not check_mostly_above(CLAIM, lines((1, 2, nan), (2, 1, 1))).seen
    assert not check_mostly_above(CLAIM, []).seen


def test_alike_is_at_most_twice_either_way():
    assert check_within_factor_two(CLAIM, lines((1, 2, 4), (2, 1, 4))).seen
    assert not check_within_factor_two(CLAIM, lines((1, 2, 4), (2.1, 1, 4))).seen
    assert not check_within_factor_two(CLAIM, lines((1, 2, 4), (1, 0.9, 4))).seen
    assert not check_within_factor_two(CLAIM, []).seen


def made_up(better: float) -> dict[LineParameters, dict[int, list[MaaSliePoint]]]:
    """Let everything grow with H, p and k; a number above 1 makes MAA-SLIE better and a little slower."""
    measured = {}
    for h, k in ((2, 8), (2, 12), (3, 8), (1, 8), (1, 12)):
        for method, gain in ((MAA_SLIE, better), (GPKC, 1.0), (BLOCKS, 1.0)):
            points = {}
            for p in (3, 4):
                size = float(h * k * p)
                one = MaaSliePoint(size * gain, size / gain, size * gain, size * gain, 2 * size / gain)
                points[p] = [one, one]
            measured[LineParameters(10, method, h, k)] = points
    return measured


def test_all_findings_are_seen_in_numbers_as_the_paper_has_them():
    judged = check_findings(made_up(1.1), MaaSlieGrid(rows=10), 10, "")
    assert [finding.claim for finding in judged if not finding.seen] == []


def test_what_the_median_class_says_is_told_beside_the_means():
    measured = made_up(1.1)
    measured[LineParameters(10, MAA_SLIE, 3, 8)] = {
        p: [replace(each, middle_epp=1.0) for each in points]
        for p, points in measured[LineParameters(10, MAA_SLIE, 3, 8)].items()
    }
    judged = {each.claim: each for each in check_findings(measured, MaaSlieGrid(rows=10), 10, "")}
    said = judged["EPP is higher for a larger H, MAA-SLIE"]
    assert said.seen
    assert "At 2 of 2 points: " in said.why
    assert " The median class: at 0 of 2 points, " in said.why
    assert "median class" not in judged["Running time is longer for a larger H, MAA-SLIE"].why


def test_a_larger_k_is_judged_where_p_is_at_most_half_of_the_smaller():
    measured = made_up(1.1)
    for series, points in measured.items():
        points[5] = [replace(points[4][0], loss=100.0 - series.k)] * 2
    judged = {each.claim: each for each in check_findings(measured, MaaSlieGrid(rows=10), 10, "")}
    said = judged["Information loss is higher for a larger k, GPKC, where p is at most half of it"]
    assert said.seen
    assert "At 2 of 2 points: " in said.why


def test_findings_are_not_seen_in_numbers_that_say_otherwise():
    worse = {
        finding.claim for finding in check_findings(made_up(0.4), MaaSlieGrid(rows=10), 10, "") if not finding.seen
    }
    assert worse == {
        "EPP is higher for MAA-SLIE than for GPKC, (H,p,k)",
        "EPP is higher for MAA-SLIE than for GPKC, (p,k)",
        "Information loss is lower for MAA-SLIE than for GPKC, (H,p,k)",
        "Information loss is lower for MAA-SLIE than for GPKC, (p,k)",
        "MAA-SLIE takes more time than GPKC in most cases",
        "MAA-SLIE and GPKC differ little in running time",
    }
    backwards = {
        series._replace(h={2: 3, 3: 2}.get(series.h, 1)): {7 - p: found for p, found in points.items()}
        for series, points in made_up(1.1).items()
    }
    backwards = {series: dict(sorted(points.items())) for series, points in backwards.items()}
    unseen = {finding.claim for finding in check_findings(backwards, MaaSlieGrid(rows=10), 10, "") if not finding.seen}
    assert {"EPP grows with p", "Information loss grows with p", "Running time grows with p"} <= unseen
    assert "EPP is higher for a larger H, GPKC" in unseen


def adult_like(rows: int, **columns: list[str]) -> pa.Table:
    rng = np.random.default_rng(3)
    values = {
        "age": rng.integers(17, 90, rows),
        "Gender": rng.choice(["Male", "Female"], rows),
        "race": rng.choice(["White", "Black"], rows),
        "education": rng.choice(["HS-grad", "Bachelors", "Masters"], rows),
        "marital_status": rng.choice(["Divorced", "Widowed"], rows),
        "native.country": rng.choice(["Cuba", "Peru", "Atlantis"], rows),
        "workclass": rng.choice(["Private", "State-gov"], rows),
        "occupation": rng.choice([f"o{n}" for n in range(9)], rows),
    }
    return pa.table(values | columns)


def test_similar_occupations_share_a_level_and_others_are_dealt_as_neighbors():
    assert ranked_adult(adult_like(100)).levels == dict(
        zip([f"o{n}" for n in range(9)], [1, 1, 2, 2, 3, 3, 4, 4, 5], strict=True)
    )
    known = ["Sales", "Tech-support", "Armed-Forces", "Handlers-cleaners", "Craft-repair"]
    mixed = ranked_adult(adult_like(100, occupation=[*known, "Astronaut"] * 16 + ["Sales"] * 4)).levels
    assert mixed == dict(zip(sorted([*known, "Astronaut"]), [5, 1, 1, 1, 3, 3], strict=True))
    assert Counter(generate_ranked_census().levels.values()) == {1: 3, 2: 3, 3: 3, 4: 3, 5: 2}


def test_columns_of_adult_are_found_however_they_are_spelled():
    subject = ranked_adult(adult_like(100))
    assert subject.schema.quasi_identifiers == ADULT_QUASI
    assert subject.max_level(30) == 30
    assert subject.max_level(3000) == 100
    assert subject.schema.hierarchies["native-country"].hierarchy.labels[1][-1] == "other"


def test_incomplete_records_are_left_out():
    table = adult_like(50, race=[" ?", *["White"] * 49], workclass=[None, None, *["Private"] * 48])
    assert ranked_adult(table).max_level(100) == 48
    with pytest.raises(SchemaError, match="Every record"):
        ranked_adult(adult_like(5, race=["?"] * 5))


def test_a_table_with_other_columns_is_refused():
    with pytest.raises(SchemaError, match="no column 'sex', 'occupation'"):
        ranked_adult(adult_like(5).drop_columns(["Gender", "occupation"]))


def test_a_small_table_is_used_whole_and_only_at_one_size():
    found = reproduce_maa_slie(replace(SMALL, rows=400, large_rows=500), subject=ranked_adult(adult_like(60)))
    assert {figure.title.rsplit(", ", 1)[1] for figure in found.figures} == {"60 records"}
    assert len(found.figures) == 9


def test_samples_are_without_replacement_and_differ_by_repetition():
    subject = ranked_adult(adult_like(60).set_column(0, "age", pa.array(range(60))))
    first, second = (subject.sample(30, 0, repetition)["age"].to_pylist() for repetition in (0, 1))
    assert len(set(first)) == 30
    assert first != second


@pytest.mark.parametrize(
    "setting", [{"index": "median"}, {"rows": 0}, {"large_rows": -1}, {"repetitions": 0}, {"seed": -1}]
)
def test_bad_parameters_are_refused(setting):
    with pytest.raises(InvalidParameterError):
        MaaSlieGrid(**setting)


def test_bars_of_spread_stay_inside_of_the_picture():
    from matplotlib.figure import Figure as Picture

    axes = Picture().add_subplot()
    _reproduction._scale(axes, Figure("4a", "Time", "p", "seconds", (FigureLine("a", (3, 4), (1, nan), (2, 0)),)))
    assert axes.get_ylim()[1] > 3


def command(*arguments: object):
    return CliRunner().invoke(app, ["maa-slie", *map(str, arguments)])


@pytest.fixture
def _one_process(monkeypatch):
    monkeypatch.setattr("sfumato._threads.count_workers", lambda: 1)


@pytest.mark.usefixtures("_one_process")
@pytest.mark.parametrize("given", [False, True])
def test_the_command_prints_findings_and_writes_figures(tmp_path, given):
    out = tmp_path / "m"
    sf.write(adult_like(120), tmp_path / "mine.csv")
    table = ["--table", tmp_path / "mine.csv"] if given else []
    done = command(*table, "--index", "sum", "--rows", 120, "--large-rows", 0, "--repetitions", 1, "--out", out)
    assert done.exit_code == 0, done.exception
    with (out / "findings.csv").open(encoding="utf-8", newline="") as file:
        judged = list(csv.DictReader(file))
    seen = sum(finding["seen"] == "yes" for finding in judged)
    assert f"{seen} of {len(judged)} findings were seen." in done.stdout
    assert len(judged) == 17
    assert sorted(path.suffix for path in out.glob("figure-2a.*")) == [".csv", ".png", ".svg"]
    assert "120 records" in (out / "figure-4c.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--rows", 0], "rows"), (["--repetitions", 0], "repetitions"), (["--table", "a"], "file a")],
)
def test_bad_requests_are_refused_before_anything_is_measured(tmp_path, arguments, said):
    done = command(*arguments, "--out", tmp_path / "m")
    assert isinstance(done.exception, SfumatoError)
    assert said in str(done.exception)
    assert not (tmp_path / "m").exists()
