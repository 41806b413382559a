"""Releases side by side: the same figures from memory and from folders, told as text, JSON and a page."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.report.charts.scatter import CLOSE, TradeoffPoint, draw_tradeoff, sort_points
from sfumato.report.comparison import ComparedRelease, ReleaseComparison, compare
from sfumato.report.texts import ENGLISH

SHARES = st.integers(0, 5).map(lambda part: part / 5)


def candidate(name, risk=0.1, loss=0.2, **given) -> ComparedRelease:
    exposure = None if risk is None else {None: (risk, 1.0)}
    measures = {} if loss is None else {"loss": loss}
    plain = {"made_by": "mondrian", "holds": True, "promises": ("k-anonymity: 5 (at least 5)",), "records": 10}
    return ComparedRelease(**{"name": name, "exposure": exposure, "measures": measures, **plain, **given})


@pytest.fixture(scope="module")
def found(release, suppressing) -> ReleaseComparison:
    return compare({"all": release, "some": suppressing}, refused={"mdav": "Mdav needs complete columns."})


def test_promises_exposure_attacks_losses_and_utility_stand_side_by_side(found, release):
    everyone, some = found.candidates
    assert everyone.metrics == release.metrics
    assert (everyone.suppressed, some.suppressed) == (0, 37)
    assert everyone.exposure[None][1] == pytest.approx(1 / release.audit.level("k-anonymity"))
    assert {attack.attack for attack in everyone.attacks} >= {"linkage", "homogeneity"}
    assert {"mean-shift", "tabulation-distance", "regression-overlap"} <= set(everyone.utility)
    titles = [section.title.split(",")[0] for section in found.sections()]
    assert titles == ["Promises", "Exposure", "Attacks", "Losses", "For analysts"]


def test_the_text_has_a_row_for_every_candidate_and_says_who_was_refused(found):
    text = repr(found)
    assert len(re.findall(r"^  all +", text, re.MULTILINE)) == 5
    assert "  mdav: Mdav needs complete columns." in text


def test_everything_fits_into_json(found):
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [each["name"] for each in told["candidates"]] == ["all", "some"]
    assert told["refused"] == {"mdav": "Mdav needs complete columns."}
    assert told["candidates"][0]["risk"] == found.candidates[0].risk


def test_the_page_stands_alone_and_escapes_names(release, tmp_path):
    page = compare({"<b>&": release}, refused={"<i>": "<u>"}).page()
    assert "<script" not in page.html
    assert not re.search(r"""(?:src|href)=["'](?!#)""", page.html)
    assert "<b>&" not in page.html
    assert "<i>" not in page.html
    assert "&lt;b&gt;&amp;" in page.html
    assert page.html.count("<svg") == 1
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == page.html
    assert "srcdoc=" in page._repr_html_()
    assert "<script" not in page._repr_html_()
    assert "kB" in repr(page)


def test_a_candidate_without_risk_is_told_but_not_drawn():
    found = ReleaseComparison(candidates=(candidate("known"), candidate("unknown", risk=None)))
    assert "Not in the picture, because a figure is not known: unknown." in found.page().html
    nothing = ReleaseComparison(candidates=(candidate("unknown", risk=None, loss=None),))
    assert "<svg" not in nothing.page().html
    assert nothing.loss is None
    assert nothing.pareto_front == ()


def test_releases_of_other_tables_are_told_apart():
    same = ReleaseComparison(candidates=(candidate("a", input="x"), candidate("b", input="x"), candidate("c")))
    other = ReleaseComparison(candidates=(candidate("a", input="x"), candidate("b", input="y")))
    assert same.note is None
    assert other.note == ENGLISH("comparison.other_tables")
    assert ENGLISH("comparison.other_tables") in repr(other)
    assert ENGLISH("comparison.other_tables") in other.page().html


def test_candidates_are_compared_by_the_loss_that_most_of_them_have():
    centers = candidate("mdav", loss=None, utility={"covariance-error": 0.3})
    cover = candidate("mondrian", utility={"covariance-error": 0.1})
    assert ReleaseComparison(candidates=(cover, cover)).loss == "loss"
    assert ReleaseComparison(candidates=(cover, centers)).loss == "covariance-error"


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=8))
def test_the_front_is_what_no_other_beats(places):
    found = ReleaseComparison(candidates=tuple(candidate(str(at), *place) for at, place in enumerate(places)))
    beaten = {
        str(at)
        for at, (risk, loss) in enumerate(places)
        for other in places
        if other != (risk, loss) and other[0] <= risk and other[1] <= loss
    }
    assert set(found.pareto_front) == {str(at) for at in range(len(places))} - beaten
    assert found.pareto_front


def test_a_table_of_nothing_but_stars_is_not_named_among_the_best():
    stars = candidate("fixed-levels", risk=0.01, loss=None, utility={}, measures={"ncp": 1.0, "lost-precision": 1.0})
    found = ReleaseComparison(candidates=(candidate("mondrian", utility={"covariance-error": 0.1}), stars))
    assert "fixed-levels" not in found.pareto_front
    assert "Every quasi-identifier is * in these" in repr(found)
    assert "Every quasi-identifier is * in these" in found.page().html
    assert found.to_dict()["emptied"] == ["fixed-levels"]
    assert "Every quasi-identifier is *" not in repr(ReleaseComparison(candidates=found.candidates[:1]))


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=12))
def test_every_dot_stands_where_its_figures_say_and_every_number_is_shown_once(places):
    placed = [TradeoffPoint(str(at), *place, front=False) for at, place in enumerate(places)]
    drawn = draw_tradeoff(placed, risk="r", loss="l")
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    assert len(dots) == len(places)
    for (x, y), each in zip(dots, sort_points(placed), strict=True):
        for other, (other_x, other_y) in zip(sort_points(placed), dots, strict=True):
            assert (x < other_x - 0.01) == (each.risk < other.risk)
            assert (y > other_y + 0.01) == (each.loss < other.loss)
    labels = re.findall(r'paint-order="stroke">([^<]*)<', drawn)
    at = [(float(x), float(y)) for x, y in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*paint-order', drawn)]
    for number, (x, y) in enumerate(at):
        assert all(abs(x - other) > CLOSE[0] - 17 or abs(y - high) >= CLOSE[1] for other, high in at[:number])
    shown = []
    for label in labels:
        for part in label.split(", "):
            first, _, last = part.partition("-")
            shown += range(int(first), int(last or first) + 1)
    assert sorted(shown) == list(range(1, len(places) + 1))


def test_dots_that_are_close_share_a_label():
    near = [TradeoffPoint(str(at), 0.5 + at / 100, 0.5, front=False) for at in range(4)]
    drawn = draw_tradeoff([*near, TradeoffPoint("far", 1.0, 0.1, front=True)], risk="r", loss="l")
    assert re.findall(r'paint-order="stroke">([^<]*)<', drawn) == ["1-4", "5"]


def test_releases_are_called_by_their_algorithm_or_folder(release, tmp_path):
    release.write(tmp_path / "mine")
    found = sf.compare([release, release, tmp_path / "mine", str(tmp_path / "mine")])
    assert [each.name for each in found.candidates] == ["mondrian", "mondrian (2)", "mine", "mine (2)"]
    assert found.candidates[0].made_by == "mondrian"


def test_what_is_no_release_is_refused(release, tmp_path):
    with pytest.raises(sf.errors.InvalidParameterError, match="nothing to compare"):
        compare([])
    with pytest.raises(sf.errors.InvalidParameterError, match="neither a release nor a folder"):
        compare([release.frame])
    release.write(tmp_path / "bare", report=False)
    with pytest.raises(sf.errors.ReadError, match="give the folder of a release"):
        compare([tmp_path / "bare"])
