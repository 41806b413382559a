"""`sfumato utility`: what analysts still find in a published table."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Json, ReadingOptions, RoleOptions, expand_option_groups, format_examples
from sfumato.cli.printing import print_json, printable
from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.judging.comparing.classification import ClassifierComparison
    from sfumato.schema.schema import Schema

LINE = 100
UTILITY_EXAMPLES = format_examples(
    "sfumato utility release/public/table.csv --original patients.csv --recipe release/internal/recipe.toml",
    "sfumato utility theirs.csv --original patients.csv --quasi age,zip --sensitive cost --target cost",
    "sfumato utility release/public/table.csv --original kept.csv --recipe release/internal/recipe.toml \\",
    "    --classify disease --held-out held.csv --json",
)


@expand_option_groups
def compare_findings(
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The published table.", show_default=False)],
    original: Annotated[
        str, typer.Option(metavar="FILE", help="The original that it was made from.", show_default=False)
    ],
    reading: ReadingOptions,
    roles: RoleOptions,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of numbers that a regression explains; by default the first one that is sensitive, or "
            "else insensitive, or else a quasi-identifier.",
        ),
    ] = None,
    classify: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Also train classifiers of this column; needs --held-out.")
    ] = None,
    held_out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Records that the release was not made from, to test them on.")
    ] = None,
    json: Json = False,
) -> None:
    """Show what analysts still find in a published table, next to what the original shows.

    Means and deviations, correlations, cross-tabulations, coefficients of a regression on columns of numbers with their
    confidence intervals, and, on demand, how well a classifier works that was trained on the release. The report of a
    release shows the same. The columns that the regression does without are named.
    Keep the figures private: they also describe the original.
    """
    from sfumato.judging.comparing.utility import compare_utility

    if (classify is None) != (held_out is None):
        raise InvalidParameterError("Give --classify and --held-out together.")
    promise = roles.audit_request()
    schema = promise.schema
    published, source = reading.read(file, promise.conventions), reading.read(original, promise.reading)
    found = compare_utility(source, published, schema, target=target)
    trained = None
    if classify is not None and held_out is not None:
        trained = _classification_accuracy(source, published, reading.read(held_out, promise.reading), classify, schema)
    if json:
        print_json({**found.to_dict(), "classifier": None if trained is None else trained.to_dict()})
    else:
        lines = [
            line
            for each in (_findings_as_text(found.to_dict()), [] if trained is None else [repr(trained)])
            for line in each
        ]
        typer.echo("\n\n".join(lines) or repr(found))


def _classification_accuracy(
    original: pa.Table, published: pa.Table, held_out: pa.Table, target: str, schema: Schema
) -> ClassifierComparison:
    from sfumato.judging.comparing.classification import compare_classifiers

    columns = [name for name in (*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive) if name != target]
    return compare_classifiers(
        original,
        published,
        held_out,
        target=target,
        schema=schema,
        columns=[name for name in columns if name in published.column_names],
    )


def _findings_as_text(figures: dict[str, Any]) -> list[str]:
    """Return the same tables as the report, as text."""
    from sfumato.judging.risk.showing import text_table
    from sfumato.reporting.analysts import present_findings
    from sfumato.reporting.words import ENGLISH

    tables = [
        f"{printable(each.title)}\n{fill(printable(each.says), LINE)}\n"
        + text_table([[printable(cell) for cell in row] for row in (each.head, *each.rows, *each.folded)])
        for each in present_findings(figures)
    ]
    for name in ("unused", "lost"):
        columns = ", ".join(map(printable, figures[name]))
        tables += [ENGLISH(f"report.analysts.{name}", columns=columns)] if columns else []
    return tables
