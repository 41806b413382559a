"""Maps of ways: nobody's way unless it is asked for, the same scale on both sides, and signs that say what is what."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InvalidParameterError
from sfumato.trajectories._figures import density_maps, trajectory_maps, unicity_curve

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def original():
    return sf.trajectories.Trajectories(sf.datasets.generate_trajectories(24, 2, seed=3))


@pytest.fixture(scope="module")
def releases(original):
    moved = sf.trajectories.anonymize(
        original,
        models=[sf.trajectories.KDeltaAnonymity(k=2, delta=300)],
        algorithm=sf.trajectories.NeverWalkAlone(span=43_200, every=3600),
    )
    boxed = sf.trajectories.anonymize(
        original, models=[sf.trajectories.TrajectoryKAnonymity(k=2)], algorithm=sf.trajectories.SequenceAlignment()
    )
    return {"points": moved, "regions": boxed}


@pytest.mark.parametrize("form", ["points", "regions"])
def test_a_way_is_drawn_only_if_it_is_asked_for(releases, form, tmp_path):
    release = releases[form]
    assert "The chosen way" not in release.report().html
    shown = release.with_example("3")
    assert "The chosen way" in shown.report().html
    shown.write(tmp_path / "out")
    public = "".join(path.read_text() for path in (tmp_path / "out" / "public").iterdir())
    assert "chosen" not in public
    assert "<svg" not in public
    with pytest.raises(InvalidParameterError, match="Nobody in these ways has that key"):
        release.with_example("nobody")


@pytest.mark.parametrize("form", ["points", "regions"])
def test_maps_have_a_scale_north_and_a_legend(releases, original, form):
    for drawn in (
        density_maps(original, releases[form].trajectories),
        trajectory_maps(original, releases[form].trajectories, 3),
    ):
        texts = [text.text for text in ET.fromstring(drawn).iter(f"{SVG}text")]  # noqa: S314 - our own picture
        assert texts.count("N") == 2
        assert sum(bool(re.fullmatch(r"[125]0*(\.\d)? k?m", text)) for text in texts) == 2
        assert {"Original", "Published"} <= set(texts)
        assert any("of the points, in a square of" in text or "steps" in text for text in texts)


def test_the_scale_is_that_of_the_squares(releases, original):
    drawn = ET.fromstring(density_maps(original, releases["points"].trajectories))  # noqa: S314 - our own picture
    side = drawn.find(f"{SVG}g")
    length = next(text.text for text in side.iter(f"{SVG}text") if re.fullmatch(r"\d+ km", text.text))
    scale = next(each for each in side.iter(f"{SVG}line") if each.get("stroke-width") == "2")
    pixels = float(scale.get("x2")) / (1000 * int(length.split()[0]))
    squares = [each for each in side.iter(f"{SVG}rect") if each.find(f"{SVG}title") is not None]
    area = original.area
    assert float(squares[0].get("width")) / pixels == pytest.approx(max(area.width, area.height) / 40, rel=1e-2)
    assert max(float(each.get("x")) + float(each.get("width")) for each in squares) <= 360.01
    shares = [float(each.find(f"{SVG}title").text.split("%")[0]) for each in squares]
    assert sum(shares) == pytest.approx(100, abs=1)


def test_a_way_that_is_not_published_and_places_nowhere_are_told(original):
    table = pa.table({"person": ["a", "a", "b", "b"], "order": [1, 2, 1, 2], "place": ["x", "y", "x", "y"]})
    named = sf.trajectories.Trajectories(table, order="order", place="place")
    release = sf.trajectories.anonymize(
        named,
        models=[sf.trajectories.TrajectoryKmAnonymity(k=2, m=2)],
        algorithm=sf.trajectories.SeqAnon(rare="suppress"),
    ).with_example("a")
    assert "It is not known where its places are." in release.report().html
    moved = sf.trajectories.anonymize(
        original,
        models=[sf.trajectories.KDeltaAnonymity(k=2, delta=300)],
        algorithm=sf.trajectories.NeverWalkAlone(span=43_200, every=3600),
    )
    moved.trajectories.points.origin[:] = np.where(
        moved.trajectories.points.origin == 2, 1, moved.trajectories.points.origin
    )
    assert "is not published." in moved.with_example("3").report().html


def test_names_of_curves_do_not_cover_each_other():
    drawn = ET.fromstring(unicity_curve({"original": [0.5, 1.0], "published": [0.4, 0.99]}))  # noqa: S314 - our own
    heights = {text.text: float(text.get("y")) for text in drawn.iter(f"{SVG}text")}
    assert heights["published"] - heights["original"] >= 15
