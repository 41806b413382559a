# ruff: noqa: D101, D102 - the name of a wrong release says what is wrong with it
"""Each check of the release suite is seen to fail on a release that breaks its law."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.core import writing
from sfumato.tables._pipeline.release import Release
from sfumato.testing import releases as suite

SCHEMA = sf.Schema(identifiers=["name"], quasi_identifiers=["age", "sex"], sensitive=["disease"])


@pytest.fixture(scope="module")
def good() -> Release:
    return sf.anonymize(sf.datasets.generate_hospital(60, seed=1), SCHEMA, [sf.models.KAnonymity(k=3)], seed=1)


def test_a_good_release_passes(good, tmp_path):
    suite.check_release(good, tmp_path)


class Unmeasured(Release):
    def __init__(self, **given: object) -> None:
        super().__init__(**{**given, "measures": {"loss": float("nan")}})


class Talkative(Release):
    def write(self, folder, **options):
        super().write(folder, **options)
        (Path(folder) / "public" / "seed.txt").write_text("1", "utf-8")


class Open(Release):
    def write(self, folder, **options):
        super().write(folder, **options)
        (Path(folder) / "internal").chmod(0o755)


class Leaking(Release):
    def write(self, folder, **options):
        super().write(folder, **options)
        with (Path(folder) / "public" / "about.html").open("a", encoding="utf-8") as page:
            page.write(self.recipe.to_toml())


class OtherFrame(Release):
    @cached_property
    def frame(self):
        return self.kind.restore(self.published.slice(1))


class Boastful(Release):
    def write(self, folder, **options):
        super().write(folder, **options)
        path = Path(folder) / "public" / "promise.json"
        told = json.loads(path.read_text("utf-8"))
        told["audit"]["models"][0]["level"] += 1
        path.write_text(json.dumps(told), "utf-8")


class Ruthless(Release):
    def write(self, folder, *, replace=False, **options):  # noqa: ARG002 - it replaces always
        super().write(folder, replace=True, **options)


class Tenacious(Release):
    def write(self, folder, *, progress=None, **options):  # noqa: ARG002 - it never stops
        super().write(folder, **options)


class Halfway(Release):
    def write(self, folder, **options):
        Path(folder).mkdir(exist_ok=True)
        super().write(folder, **options)


class AlwaysReporting(Release):
    def write(self, folder, *, report=True, **options):  # noqa: ARG002 - it reports always
        super().write(folder, **options)


class Retouched(Release):
    def write(self, folder, **options):
        super().write(folder, **options)
        path = Path(folder) / "internal" / "report.html"
        if path.exists():
            path.write_text(path.read_text("utf-8") + "<!-- by hand -->", "utf-8")


class Fickle(Release):
    def _bundle_content(self, **options):
        return replace(super()._bundle_content(**options), internal={"token.txt": secrets.token_hex()})


class Prettified(Release):
    def report(self):
        page = super().report()
        return replace(page, html=page.html.replace("Internal", "Public"))


class Flattering(Release):
    def figures(self):
        return {**super().figures(), "measures": {"loss": 0.0}}


BROKEN = [
    (suite.check_release_interface, Unmeasured),
    (suite.check_folder_contents, Talkative),
    (suite.check_folder_contents, Open),
    (suite.check_recipe_is_recorded, Leaking),
    (suite.check_every_format_holds_the_table, OtherFrame),
    (suite.check_guarantee_matches_file, Boastful),
    (suite.check_occupied_folders_are_rejected, Ruthless),
    (suite.check_interrupted_write_leaves_nothing, Tenacious),
    (suite.check_interrupted_write_leaves_nothing, Halfway),
    (suite.check_report_can_be_left_out, AlwaysReporting),
    (suite.check_report_can_be_rendered_again, Retouched),
    (suite.check_report_can_be_rendered_again, Prettified),
    (suite.check_metrics_match_report, Flattering),
    (suite.check_same_release_gives_same_bytes, Fickle),
]


@pytest.mark.parametrize(("check", "kind"), BROKEN, ids=lambda case: case.__name__)
def test_check_fails_on_a_wrong_release(check, kind, good, tmp_path):
    wrong = kind(**{name: getattr(good, name) for name in good.__dataclass_fields__})
    with pytest.raises(AssertionError):
        check(wrong, tmp_path)


def test_check_fails_where_strangers_are_removed(good, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "check_replaceable_folder", lambda _: None)
    with pytest.raises(AssertionError):
        suite.check_occupied_folders_are_rejected(good, tmp_path)


def test_every_check_has_been_seen_to_fail():
    assert {check for check, _ in BROKEN} == set(suite.RELEASE_CHECKS)
