"""Published ways: written, read back, judged, measured and reported."""

from __future__ import annotations

import json
import tomllib

import pytest

import sfumato as sf
from sfumato.errors import GuaranteeViolatedError, InvalidParameterError, ReadError, WriteError
from sfumato.trajectories._release import read_published

P = sf.trajectories

MODEL = sf.trajectories.KDeltaAnonymity(k=3, delta=300)
ALGORITHM = sf.trajectories.NeverWalkAlone(span=43_200, every=3600)
SECRET = "5f" * 32


@pytest.fixture(scope="module")
def original():
    return sf.trajectories.Trajectories(sf.datasets.generate_trajectories(30, 2, seed=3))


@pytest.fixture(scope="module")
def release(original):
    return sf.trajectories.anonymize(original, models=[MODEL], algorithm=ALGORITHM, secret=SECRET)


def test_the_issue_example_works(release, tmp_path):
    assert release.audit.holds
    assert release.audit.level("k-delta") >= 3
    assert release.metrics["ways-kept"] > 0.8
    assert release.trajectories.to_frame().num_rows == len(release.trajectories.points)
    release.write(tmp_path / "out")
    read = read_published(tmp_path / "out" / "public" / "ways.csv")
    assert sf.trajectories.audit(read, models=[MODEL]).holds
    assert "The original" in (tmp_path / "out" / "internal" / "report.html").read_text()
    assert release.report().html == (tmp_path / "out" / "internal" / "report.html").read_text()


def test_parquet_holds_the_same_ways(release, tmp_path):
    release.write(tmp_path / "out", table_format="parquet", report=False)
    assert sf.trajectories.TrajectoriesRelease.read(tmp_path / "out" / "public").equals(release.trajectories)
    with pytest.raises(ReadError, match="holds no ways"):
        sf.trajectories.TrajectoriesRelease.read(tmp_path)


def test_the_same_secret_gives_the_same_ways(original, release):
    again = sf.trajectories.anonymize(original, models=[MODEL], algorithm=ALGORITHM, secret=SECRET)
    other = sf.trajectories.anonymize(original, models=[MODEL], algorithm=ALGORITHM)
    assert again.trajectories.equals(release.trajectories)
    assert not other.trajectories.equals(release.trajectories)
    assert tomllib.loads(again.recipe.to_toml())["input"]["points"] == len(original.points)


def test_numbers_of_persons_say_nothing(release):
    assert sorted(set(release.trajectories.points.individual_of.tolist())) == list(
        range(release.trajectories.points.n_individuals)
    )
    assert release.trajectories.points.origin.tolist() != sorted(release.trajectories.points.origin.tolist())


def test_nothing_inside_stands_in_what_is_public(release, tmp_path):
    release.write(tmp_path / "out")
    public = "".join(path.read_text() for path in (tmp_path / "out" / "public").iterdir())
    assert SECRET not in public
    assert release.recipe.input["sha256"] not in public
    promise = json.loads((tmp_path / "out" / "public" / "promise.json").read_text())
    assert set(promise["audit"]) == {"holds", "persons", "ways", "points", "models"}


def test_a_search_that_breaks_its_promise_is_withheld(original):
    class Careless(sf.trajectories.NeverWalkAlone):
        def search(self, request):
            found = super().search(request)
            found.points.latitudes[: len(found.points) // 2] += 0.01
            return found

    with pytest.raises(GuaranteeViolatedError, match="withheld"):
        sf.trajectories.anonymize(original, models=[MODEL], algorithm=Careless(span=43_200, every=3600))


def test_bad_requests_are_refused(original, release, tmp_path):
    with pytest.raises(InvalidParameterError, match="No promise is given"):
        sf.trajectories.anonymize(original, models=[], algorithm=ALGORITHM)
    with pytest.raises(InvalidParameterError, match="a promise about ways"):
        sf.trajectories.anonymize(original, models=[sf.models.KAnonymity(k=2)], algorithm=ALGORITHM)
    with pytest.raises(InvalidParameterError, match=r"sf\.trajectories\.Trajectories"):
        sf.trajectories.anonymize(original.to_frame(), models=[MODEL], algorithm=ALGORITHM)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("mine")
    with pytest.raises(WriteError):
        release.write(tmp_path / "out")


def test_measures_say_when_nothing_is_lost(original):
    found = sf.trajectories.anonymize(
        original, models=[sf.trajectories.KDeltaAnonymity(k=1, delta=0)], algorithm=ALGORITHM
    ).metrics
    assert found["distance-moved"] < 1
    assert found["ways-kept"] == 1


@pytest.mark.parametrize(
    ("promise", "search"),
    [(P.KDeltaAnonymity(k=2, delta=300), P.NeverWalkAlone()), (P.TrajectoryKAnonymity(k=2), P.SequenceAlignment())],
)
def test_published_ways_become_tables_of_the_kind_that_was_given(promise, search):
    table = sf.datasets.generate_trajectories(12, 1, seed=1).to_pandas()
    release = P.anonymize(P.Trajectories(table), models=[promise], algorithm=search)
    assert type(release.trajectories.to_frame()) is type(table)
