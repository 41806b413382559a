"""A small kind of data, numbers that must reach a limit: what every kind gets from the room of kinds."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from sfumato.core._descriptions import ModelDescription
from sfumato.core.algorithm import Algorithm, Request
from sfumato.core.audit import Audit, evaluate_models
from sfumato.core.model import Model, Verdict
from sfumato.core.recipe import TypedRecipe
from sfumato.core.release import Release
from sfumato.core.writing import read_facts, render
from sfumato.errors import GuaranteeViolatedError, InvalidParameterError, RecipeError, UnsupportedModelError
from sfumato.report.page import ReportSection


@dataclass(frozen=True, kw_only=True, repr=False)
class Reaching(Model[list[int]]):
    """Every number must reach a limit."""

    name = "at-least"
    reference = "made up"
    bound = "min"
    unit = "numbers"
    stricter: ClassVar = {"k": "larger"}
    words = ModelDescription(title="At least k", promise="Every number is at least {k}.", level="smallest number")

    k: int

    @property
    def limit(self) -> float:
        """The least number."""
        return self.k

    def evaluate(self, published: list[int]) -> Verdict:
        """Find the smallest number."""
        return Verdict(self, min(published, default=self.k), sum(each < self.k for each in published))


@dataclass(frozen=True, kw_only=True, repr=False)
class Other(Reaching):
    """The same under another name."""

    name = "other"


@dataclass(frozen=True, kw_only=True, repr=False)
class Leave(Algorithm[list[int]]):
    """Leaves out what is too small."""

    name = "leave"
    reference = "made up"
    supports: ClassVar = (Reaching,)

    def search(self, request: Request[list[int]]) -> list[int]:
        """Keep what is large enough."""
        return [each for each in request.data if each >= request.model_of_type(Reaching).k]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Numbers(Release[list[int]]):
    """Numbers, which a test can spoil on their way into the file."""

    title: ClassVar[str] = "numbers"
    spoiled: str = ""

    def _write_files(self, folder: Path, table_format: str) -> None:
        (folder / f"numbers.{table_format}").write_text(json.dumps(self.published) + self.spoiled)

    def _read_files(self, folder: Path) -> list[int]:
        return json.loads((folder / "numbers.csv").read_text().replace("]0", ", 0]").replace("]9", ", 9]"))

    def _audit(self, published: list[int], models: Sequence[Reaching]) -> Audit:
        return evaluate_models(models, published, {"numbers": len(published)})

    def _equals_published(self, read: list[int]) -> bool:
        return read == self.published

    def _describe_files(self, folder: Path) -> Mapping[str, str]:
        return {path.name: "numbers" for path in folder.iterdir()}

    def _sections(self) -> Sequence[ReportSection]:
        return [ReportSection(title="Sizes", sentences=["a < b"], head=("size",), rows=[("3",)])]


def released(*, spoiled: str = "", secret: str | None = None) -> Numbers:
    models = (Reaching(k=3),)
    found = Leave().search(Request(data=[1, 3, 5], models=models))
    recipe = TypedRecipe(data_type="numbers", models=models, algorithm=Leave(), secret=secret, input={"numbers": 3})
    return Numbers(
        published=found,
        audit=evaluate_models(models, found, {"numbers": len(found)}),
        metrics={"lost": 1 / 3},
        recipe=recipe,
        spoiled=spoiled,
    )


def test_a_release_is_written_with_what_receivers_and_owners_are_told(tmp_path):
    released().write(tmp_path / "out")
    assert {path.name for path in (tmp_path / "out" / "public").iterdir()} == {
        "numbers.csv",
        "promise.json",
        "dictionary.json",
        "about.html",
    }
    promise = json.loads((tmp_path / "out" / "public" / "promise.json").read_text())
    assert promise["audit"]["models"][0]["level"] == 3
    assert promise["promise"][0]["sentence"] == "Every number is at least 3."
    facts = read_facts(tmp_path / "out")
    assert render(facts) == (tmp_path / "out" / "internal" / "report.html").read_text()
    assert "a &lt; b" in render(facts)
    assert "报告" in render(facts, "zh")
    assert "0.3333" not in (tmp_path / "out" / "public" / "about.html").read_text()


@pytest.mark.parametrize(("spoiled", "why"), [("0", "break the promise"), ("9", "read otherwise"), ("x", "judged")])
def test_files_that_are_not_what_was_judged_are_not_written(tmp_path, spoiled, why):
    numbers = released(spoiled=spoiled)
    if spoiled == "x":
        object.__setattr__(numbers, "_read_files", lambda _: (_ for _ in ()).throw(RecipeError("Unreadable.")))
    with pytest.raises(GuaranteeViolatedError, match=why):
        numbers.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_recipe_makes_the_same_settings_again(tmp_path):
    recipe = released(secret="5f" * 32).recipe
    (tmp_path / "recipe.toml").write_text(recipe.to_toml())
    models, algorithms = {"at-least": Reaching}, {"leave": Leave}
    assert TypedRecipe.load(tmp_path / "recipe.toml", "numbers", models, algorithms) == recipe
    assert tomllib.loads(recipe.to_toml())["models"] == [{"name": "at-least", "k": 3}]
    with pytest.raises(RecipeError, match="not one for letters"):
        TypedRecipe.load(tmp_path / "recipe.toml", "letters", models, algorithms)


def test_an_audit_names_its_levels_and_what_breaks_a_promise():
    audit = evaluate_models([Reaching(k=3)], [1, 5], {"numbers": 2})
    assert not audit.holds
    assert audit.level("at-least") == 1
    assert "1 numbers" in repr(audit)
    with pytest.raises(InvalidParameterError, match="did you mean 'at-least'"):
        audit.level("at-last")
    both = evaluate_models([Reaching(k=3), Reaching(k=1)], [1, 5], {})
    assert both.level("at-least") == 1


def test_a_search_refuses_what_it_cannot_keep():
    class Strict(Leave):
        supports: ClassVar = (Other,)

    Strict().check([Other(k=2)])
    with pytest.raises(UnsupportedModelError, match="cannot keep at-least; promise other"):
        Strict().check([Reaching(k=2)])


def test_a_report_stands_alone_before_anything_is_written():
    assert "Report on numbers" in released().report().html
    assert repr(released()).startswith("Release of numbers; lost 0.3333")
