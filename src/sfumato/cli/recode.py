"""`sfumato recode`: publish later rows with the recoding of an earlier release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import EngineOptions, Json, Reading, Source, WritingOptions, examples, spread
from sfumato.cli.printing import print_json, printable, progress
from sfumato.cli.summary import audit_lines, measure_lines, place_lines, report_in

if TYPE_CHECKING:
    from sfumato.release.large.recoded_rows import LargeRecodedRows
    from sfumato.release.later_rows import RecodedRows

EXAMPLES = examples(
    "sfumato recode february.csv --with january/internal/recoding.toml --out february",
    "sfumato recode february.csv --with january/internal/recoding.toml --out february --replace --json",
    "sfumato recode 'february/*.parquet' --with january/internal/recoding.toml --out february --memory 4GB",
)


@spread
def recode(
    *,
    file: Source,
    rules: Annotated[
        Path,
        typer.Option(
            "--with", metavar="FILE", help="The recoding.toml in internal/ of the earlier release.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write public/ and internal/.", show_default=False)],
    reading: Reading,
    writing: WritingOptions,
    engines: EngineOptions,
    json: Json = False,
) -> None:
    """Publish later rows with the recoding of an earlier release.

    The rows must be about other people. Rows are left out if they have a value that the recoding does not know, or
    if their group breaks a model among the later rows alone: anyone who has both tables can subtract the earlier
    rows. The rest is audited, and withheld if the audit fails.
    """
    from sfumato.release.later_rows import recode as publish
    from sfumato.release.later_rows import recode_in
    from sfumato.release.recoding_rules import Recoding

    writing.refuse_early(out)
    recoding, resources = Recoding.read(rules), engines.resources()
    found: RecodedRows | LargeRecodedRows
    if resources.chosen(file, recoding.recipe.schema.attributes) == "memory":
        data = reading.read(file, recoding.recipe.reading)
        with progress("Recoding"):
            found = publish(data, recoding, engine="memory")
        with progress("Writing") as tell:
            writing.write(found, out, tell)
    else:
        writing.refuse_other_than_parts()
        options, report = reading.options_for(file, recoding.recipe.reading), not writing.no_report
        with progress("Recoding") as tell:
            found = recode_in(
                resources, file, recoding, out, reading=options, replace=writing.replace, report=report, progress=tell
            )
    if json:
        print_json(_facts(found, out))
    elif not reading.quiet:
        typer.echo("\n".join(_lines(found, out)))


def _lines(found: RecodedRows | LargeRecodedRows, out: Path) -> Iterator[str]:
    yield from audit_lines(found.audit)
    yield ""
    yield f"Left out of {found.audit.records + found.suppressed:,} rows:"
    yield f"  {found.unknown:,} with a value that the recoding does not know"
    yield f"  {found.broken:,} in groups that would break a model"
    yield ""
    yield from measure_lines(found.measures)
    yield ""
    if found.left_out:
        yield f"Columns without a role, not published: {printable(', '.join(found.left_out))}"
    yield from place_lines(out)


def _facts(found: RecodedRows | LargeRecodedRows, out: Path) -> dict[str, object]:
    return {
        "holds": found.audit.holds,
        "rows_in": found.audit.records + found.suppressed,
        "rows_out": found.audit.records,
        "refused": {"unknown_value": found.unknown, "broken_group": found.broken},
        "left_out": list(found.left_out),
        "audit": found.audit.to_dict(),
        "measures": dict(found.measures),
        "public": str(out / "public"),
        "internal": str(out / "internal"),
        "report": report_in(out),
    }
