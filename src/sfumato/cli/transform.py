"""`sfumato recode`: publish later rows with the recoding of an earlier release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._options import (
    CountRows,
    EngineArguments,
    Json,
    ReadingOptions,
    SeriesOptions,
    Source,
    WritingOptions,
    expand_option_groups,
    format_examples,
)
from sfumato.cli._output import (
    audit_lines,
    folder_lines,
    metric_lines,
    print_json,
    printable,
    report_path,
    series_lines,
    series_summary,
    show_progress_bar,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.io.formats import Option
    from sfumato.tables._pipeline.transform import TransformedRows
    from sfumato.tables.engines.options import EngineSelector
    from sfumato.tables.out_of_core._transform import StoredTransformedRows
    from sfumato.tables.recoding import Recoding
    from sfumato.tables.series.series import Series

EXAMPLES = format_examples(
    "sfumato recode february.csv --with january/internal/recoding.toml --out february",
    "sfumato recode february.csv --with january/internal/recoding.toml --out february --replace --json",
    "sfumato recode 'february/*.parquet' --with january/internal/recoding.toml --out february --memory 4GB",
    "sfumato recode february.csv --with january/internal/recoding.toml --ledger hospital.ledger --out february",
)


@expand_option_groups
def transform(
    *,
    file: Source,
    rules: Annotated[
        Path,
        typer.Option(
            "--with", metavar="FILE", help="The recoding.toml in internal/ of the earlier release.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write public/ and internal/.", show_default=False)],
    reading: ReadingOptions,
    writing: WritingOptions,
    engines: EngineArguments,
    series: SeriesOptions,
    count_rows: CountRows = False,
    json: Json = False,
) -> None:
    """Publish later rows with the recoding of an earlier release.

    The rows must be about other people. Rows are left out if they have a value that the recoding does not know, or
    if their group breaks a model among the later rows alone: anyone who has both tables can subtract the earlier
    rows. The rest is audited, and withheld if the audit fails.
    """
    from sfumato.tables.recoding import Recoding

    writing.check_target(out)
    recoding, resources, ledger = Recoding.read(rules), engines.resources(), series.opened()
    found: TransformedRows | StoredTransformedRows
    if resources.choose_engine(file, recoding.recipe.schema.attributes) == "memory":
        found = _transform_in_memory(
            reading.read(file, recoding.recipe.reading), recoding, out, writing, ledger, count_rows=count_rows
        )
    else:
        writing.check_parts_format()
        options = reading.options_for(file, recoding.recipe.reading)
        found = _transform_out_of_core(
            resources, file, recoding, out, options=options, writing=writing, ledger=ledger, count_rows=count_rows
        )
    if json:
        print_json(_release_facts(found, out))
    elif not reading.quiet:
        typer.echo("\n".join(_release_lines(found, out)))


def _transform_in_memory(
    data: pa.Table,
    recoding: Recoding,
    out: Path,
    writing: WritingOptions,
    ledger: Series | None,
    *,
    count_rows: bool,
) -> TransformedRows:
    """Recode rows in memory, and write them."""
    from sfumato.tables._pipeline.transform import transform as publish

    with show_progress_bar("Recoding"):
        found = publish(data, recoding, engine="memory", ledger=ledger, count_rows=count_rows)
    with show_progress_bar("Writing") as tell:
        writing.write(found, out, tell)
    return found


def _transform_out_of_core(
    resources: EngineSelector,
    file: str,
    recoding: Recoding,
    out: Path,
    *,
    options: Mapping[str, Option],
    writing: WritingOptions,
    ledger: Series | None,
    count_rows: bool,
) -> TransformedRows | StoredTransformedRows:
    """Recode rows that do not fit into memory; they are written as Parquet parts."""
    from sfumato.tables._pipeline.transform import transform_in

    with show_progress_bar("Recoding") as tell:
        return transform_in(
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


def _release_lines(found: TransformedRows | StoredTransformedRows, out: Path) -> Iterator[str]:
    yield from audit_lines(found.audit)
    yield ""
    yield f"Left out of {found.audit.records + found.suppressed:,} rows:"
    yield f"  {found.unknown:,} with a value that the recoding does not know"
    yield f"  {found.broken:,} in groups that would break a model"
    yield ""
    yield from metric_lines(found.metrics)
    yield ""
    if found.left_out:
        yield f"Columns without a role, not published: {printable(', '.join(found.left_out))}"
    yield from series_lines(found)
    yield from folder_lines(out)


def _release_facts(found: TransformedRows | StoredTransformedRows, out: Path) -> dict[str, object]:
    return {
        "holds": found.audit.holds,
        "rows_in": found.audit.records + found.suppressed,
        "rows_out": found.audit.records,
        "refused": {"unknown_value": found.unknown, "broken_group": found.broken},
        "left_out": list(found.left_out),
        "audit": found.audit.to_dict(),
        "measures": dict(found.metrics),
        **series_summary(found),
        "public": str(out / "public"),
        "internal": str(out / "internal"),
        "report": report_path(out),
    }
