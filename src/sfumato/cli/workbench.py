"""`sfumato workbench`: a local page from a raw table to an audited release."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._options import expand_option_groups, format_examples
from sfumato.cli._output import printable

if TYPE_CHECKING:
    from sfumato.workbench.server import ServerOptions

EXAMPLES = format_examples(
    "sfumato workbench",
    "sfumato workbench patients.csv",
    "sfumato workbench patients.csv --project study",
    "sfumato workbench study --language zh",
    "sfumato workbench --again",
)


@dataclass(frozen=True, kw_only=True)
class WorkbenchOptions:
    """How the page is served."""

    language: Annotated[str | None, typer.Option(metavar="en|zh", help="Of the page; by default the browser's.")] = None
    port: Annotated[int, typer.Option(metavar="N", help="The port to listen on; by default a free one.")] = 0
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen on.")] = "127.0.0.1"
    behind_proxy: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The name of a proxy with HTTPS in front; for one user all the same."),
    ] = None
    idle: Annotated[float, typer.Option(metavar="HOURS", help="Stop after so long without a request.")] = 8.0
    max_upload: Annotated[int, typer.Option(metavar="MB", help="The largest upload.")] = 2048

    def serving(self, *, kept: bool) -> ServerOptions:
        """Return how to serve; `kept` says whether the project stays."""
        from sfumato.workbench.server import ServerOptions

        return ServerOptions(
            host=self.host,
            port=self.port,
            proxy=self.behind_proxy,
            language=self.language,
            idle=self.idle,
            max_upload=self.max_upload << 20,
            kept=kept,
        )


@expand_option_groups
def workbench(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|PROJECT", help="A table, a database URL, or the folder of a project.", show_default=False
        ),
    ] = None,
    *,
    project: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the work in this folder; without it, it is deleted at the end."),
    ] = None,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="The table to read from a database.")] = None,
    query: Annotated[str | None, typer.Option(metavar="SQL", help="A query to read instead of a table.")] = None,
    options: WorkbenchOptions,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address and open no browser.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Print a new address of the workbench that is running.")
    ] = False,
) -> None:
    """Go from a raw table to an audited release in the browser.

    The page is served on this machine, for you alone, and needs no network. The address that is printed opens it once.
    """
    from sfumato._optional import import_optional
    from sfumato.errors import InvalidParameterError

    for library in ("starlette", "uvicorn"):
        import_optional(library, extra="workbench", error=InvalidParameterError)
    from sfumato.workbench import server
    from sfumato.workbench.worker import BlockPandasImport

    if again:
        typer.echo(server.reopen_address())
        return
    folder, place, name = _project_and_source(source, project)
    asked = options.serving(kept=folder is not None)
    reading = {key: value for key, value in {"table": table, "query": query}.items() if value is not None}
    opened = None if place is None else {"place": place, "name": name, "reading": reading}
    sys.meta_path.insert(0, BlockPandasImport())
    with TemporaryDirectory(prefix="sfumato-workbench-") as temporary:
        kept = Path(temporary) / "project" if folder is None else folder
        server.serve(kept, asked, lambda address: _print_address(address, no_browser=no_browser), opened)


def _print_address(address: str, *, no_browser: bool) -> None:
    typer.echo(f"The workbench is open at\n{address}\nIt stops with Quit in the page, or with Ctrl+C here.")
    if not no_browser:
        import webbrowser

        webbrowser.open(address)


def _project_and_source(source: str | None, project: Path | None) -> tuple[Path | None, str | None, str]:
    """Return the folder of the project if one is kept, and the table to open with its name."""
    from sfumato.io._database import mask_url
    from sfumato.io.formats import is_url

    if source is None:
        return project, None, ""
    if is_url(source):
        return project, source, mask_url(source)
    path = Path(source)
    if project is None and path.is_dir():
        return path, None, ""
    return project, str(path.resolve()), printable(path.name)
