"""`sfumato recode`: publish later rows with the recoding of an earlier release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import (
    CountRows,
    EngineOptions,
    Json,
    Reading,
    SeriesOptions,
    Source,
    WritingOptions,
    examples,
    spread,
)
from sfumato.cli.printing import print_json, printable, progress
from sfumato.cli.summary import audit_lines, measure_lines, place_lines, report_in, series_facts, series_lines

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.ledger.ledger import Ledger
    from sfumato.release.large.recoded_rows import LargeRecodedRows
    from sfumato.release.later_rows import RecodedRows
    from sfumato.release.recoding_rules import Recoding
    from sfumato.sources.engines import Resources
    from sfumato.table.formats.base import Option

EXAMPLES = examples(
    "sfumato recode february.csv --with january/internal/recoding.toml --out february",
    "sfumato recode february.csv --with january/internal/recoding.toml --out february --replace --json",
    "sfumato recode 'february/*.parquet' --with january/internal/recoding.toml --out february --memory 4GB",
    "sfumato recode february.csv --with january/internal/recoding.toml --ledger hospital.ledger --out february",
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
    series: SeriesOptions,
    count_rows: CountRows = False,
    json: Json = False,
) -> None:
    """Publish later rows with the recoding of an earlier release.

    The rows must be about other people. Rows are left out if they have a value that the recoding does not know, or
    if their group breaks a model among the later rows alone: anyone who has both tables can subtract the earlier
    rows. The rest is audited, and withheld if the audit fails.
    """
    from sfumato.release.recoding_rules import Recoding

    writing.refuse_early(out)
    recoding, resources, ledger = Recoding.read(rules), engines.resources(), series.opened()
    found: RecodedRows | LargeRecodedRows
    if resources.chosen(file, recoding.recipe.schema.attributes) == "memory":
        found = _recode(
            reading.read(file, recoding.recipe.reading), recoding, out, writing, ledger, count_rows=count_rows
        )
    else:
        writing.refuse_other_than_parts()
        options = reading.options_for(file, recoding.recipe.reading)
        found = _recode_large(
            resources, file, recoding, out, options=options, writing=writing, ledger=ledger, count_rows=count_rows
        )
    if json:
        print_json(_facts(found, out))
    elif not reading.quiet:
        typer.echo("\n".join(_lines(found, out)))


def _recode(
    data: pa.Table,
    recoding: Recoding,
    out: Path,
    writing: WritingOptions,
    ledger: Ledger | None,
    *,
    count_rows: bool,
) -> RecodedRows:
    """Recode rows in memory, and write them."""
    from sfumato.release.later_rows import recode as publish

    with progress("Recoding"):
        found = publish(data, recoding, engine="memory", ledger=ledger, count_rows=count_rows)
    with progress("Writing") as tell:
        writing.write(found, out, tell)
    return found


def _recode_large(
    resources: Resources,
    file: str,
    recoding: Recoding,
    out: Path,
    *,
    options: Mapping[str, Option],
    writing: WritingOptions,
    ledger: Ledger | None,
    count_rows: bool,
) -> RecodedRows | LargeRecodedRows:
    """Recode rows that do not fit into memory; they are written as Parquet parts."""
    from sfumato.release.later_rows import recode_in

    with progress("Recoding") as tell:
        return recode_in(
            resources,
            file,
            recoding,
            out,
            reading=options,
            replace=writing.replace,
            report=not writing.no_report,
            progress=tell,
            ledger=ledger,
            count_rows=count_rows,
        )


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
    yield from series_lines(found)
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
        **series_facts(found),
        "public": str(out / "public"),
        "internal": str(out / "internal"),
        "report": report_in(out),
    }
