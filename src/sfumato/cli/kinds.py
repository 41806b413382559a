"""What commands about other kinds of data than tables share: asking for promises and searches, and printing them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from sfumato.cli.printing import align_columns, color_verdict, print_json, printable, show_progress_bar
from sfumato.cli.refusals import DOES_NOT_HOLD
from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.attacks.results import AttackResults
    from sfumato.kinds.audit import Audit
    from sfumato.kinds.promise import Model
    from sfumato.kinds.recipe import TypedRecipe
    from sfumato.kinds.release import Release

KindModels = Annotated[
    list[str],
    typer.Option("--model", metavar="NAME:KEY=VALUE,...", help="What to promise; repeat for more.", show_default=False),
]
KindAlgorithm = Annotated[
    str | None, typer.Option("--algorithm", metavar="NAME[:KEY=VALUE,...]", help="How to search.", show_default=False)
]
KindRecipeFile = Annotated[
    Path | None, typer.Option("--recipe", metavar="FILE", help="The recipe of a release, as in internal/recipe.toml.")
]
KindOut = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="The folder for public/ and internal/.", show_default=False)
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace an older release in the folder.")]
NoReport = Annotated[bool, typer.Option("--no-report", help="Write no internal report.")]


def choose_by_name(what: str, text: str, known: Mapping[str, Any], **more: object) -> Any:
    """Return the promise or search that an option names; `more` are parameters from other options."""
    from sfumato.cli.asking import parse_choice
    from sfumato.recipe import instantiate_choice

    return instantiate_choice(known, {**parse_choice(what, text, known), **more}, what)


def choose_models(texts: Sequence[str], known: Mapping[str, Any]) -> tuple[Model[Any], ...]:
    """Return the promises that options name."""
    if not texts:
        raise InvalidParameterError(f"Say what to promise by --model; choose from {', '.join(known)}.")
    return tuple(choose_by_name("model", text, known) for text in texts)


def recipe_from_option(
    path: Path | None, read: Callable[[Path], TypedRecipe], model: Sequence[str], algorithm: str | None
) -> TypedRecipe | None:
    """Read the recipe that an option names, if any; then no other option says what to promise or how to search."""
    if path is not None and (model or algorithm):
        raise InvalidParameterError(
            "A recipe says what to promise and how to search; leave out --model and --algorithm."
        )
    return None if path is None else read(path)


def models_to_audit(
    texts: Sequence[str], path: Path | None, read: Callable[[Path], TypedRecipe], known: Mapping[str, Any]
) -> tuple[Model[Any], ...]:
    """Return the promises to judge by: those that options name, or else those of a recipe."""
    return choose_models(texts, known) if texts or path is None else read(path).models


def write_and_print_release(
    release: Release[Any], out: Path, *, table_format: str, replace: bool, report: bool, json: bool
) -> None:
    """Write a release, and print what it promises and lost."""
    with show_progress_bar("Writing") as tell:
        release.write(out, table_format=table_format, replace=replace, report=report, progress=tell)
    print_release_result(release, out, json=json)


def print_audit_and_exit(audit: Audit, *, json: bool) -> NoReturn:
    """Print an audit, and end with exit code 1 if a promise does not hold."""
    print_audit(audit, json=json)
    raise typer.Exit(0 if audit.holds else DOES_NOT_HOLD)


def print_audit(audit: Audit, *, json: bool) -> None:
    """Print an audit for people or for programs."""
    if json:
        print_json(audit.to_dict())
        return
    said = "holds" if audit.holds else "DOES NOT HOLD"
    typer.echo(f"Audit: {color_verdict(said, good=audit.holds)}")
    typer.echo(printable_lines(repr(audit)))


def print_release_result(release: Release[Any], out: Path, *, json: bool) -> None:
    """Print what a release promises and lost, and where it is."""
    from sfumato.reporting.numbers import format_metric

    folders = {"public": str(out / "public"), "internal": str(out / "internal")}
    if json:
        print_json({"audit": release.audit.to_dict(), "measures": dict(release.metrics), **folders})
        return
    print_audit(release.audit, json=False)
    typer.echo(
        align_columns([[name, format_metric(value, share=False)] for name, value in release.metrics.items()], indent=2)
    )
    typer.echo(printable_lines(f"\nSafe to share:  {folders['public']}\nKeep private:   {folders['internal']}"))


def print_attacks_and_exit(
    original: AttackResults, published: AttackResults, *, threshold: float | None, json: bool
) -> NoReturn:
    """Print attacks on the original and on what is published; end with exit code 1 if one of the latter is too good."""
    print_attacks({"original": original, "published": published}, json=json)
    worse = any(each.broken or (threshold is not None and each.interval[0] > threshold) for each in published)
    if threshold is not None and not json:
        typer.echo(f"\nThreshold {threshold:g}: {color_verdict('DOES NOT HOLD' if worse else 'holds', good=not worse)}")
    raise typer.Exit(DOES_NOT_HOLD if worse else 0)


def print_attacks(sides: Mapping[str, AttackResults], *, json: bool) -> None:
    """Print attacks on several data, such as the original and what is published."""
    from sfumato.attacks.results import HEAD

    if json:
        print_json({name: attacks.to_dict() for name, attacks in sides.items()})
        return
    rows = [[*each.cells()[:2], name, *each.cells()[2:]] for name, attacks in sides.items() for each in attacks.results]
    typer.echo(align_columns([[*HEAD[:2], "data", *HEAD[2:]], *rows]))
    for name, attacks in sides.items():
        for attack, why in attacks.skipped.items():
            typer.echo(printable(f"{attack} on {name} skipped: {why}"))


def printable_lines(text: str) -> str:
    """Replace control characters of a text, but for its ends of lines."""
    return "\n".join(printable(line) for line in text.split("\n"))
