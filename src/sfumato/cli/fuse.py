"""`sfumato fuse`: fuse the tables of several party files in a single process."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._options import Json, WritingOptions, expand_option_groups, format_examples
from sfumato.cli._output import audit_lines, folder_lines, print_json, printable, report_path, show_progress_bar
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    from sfumato._progress import Progress
    from sfumato.fusion.party_file import PartyFile
    from sfumato.fusion.result import FusionResult
    from sfumato.fusion.session import SessionParameters

EXAMPLES = format_examples(
    "sfumato fuse hospital/party.toml agency/party.toml --out fused",
    "sfumato fuse hospital/party.toml agency/party.toml insurer/party.toml --out fused --json",
)
SELDOM = 1.0  # seconds between two lines about the same stage


@expand_option_groups
def fuse(
    *,
    files: Annotated[
        list[Path], typer.Argument(metavar="PARTY.toml...", help="The party files of all parties.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write public/ and internal/.", show_default=False)],
    writing: WritingOptions,
    json: Json = False,
) -> None:
    """Fuse the tables of several parties in a single process.

    To try out an agreement, or for owners who may see each other's tables. The protocol is the same as in `sfumato
    party`, but without the network: keys, certificates, addresses and out folders in the files are not used.

    Exit codes: 0 fused, 2 bad request, or nothing can be fused.
    """
    from sfumato.fusion.party_file import PartyFile

    writing.check_target(out)
    read = [PartyFile.read(file) for file in files]
    agreement = read[0].agreement
    given = [each.party.name for each in read]
    if sorted(given) != sorted(agreement.parties):
        raise InvalidParameterError(
            f"The agreement names {', '.join(agreement.parties)}, but the files are from {', '.join(given)}; give the "
            "file of every party once."
        )
    with show_progress("Fusing") as (tell, note):
        fused = _run_parties({each.party.name: each for each in read}, agreement, tell, note)
    with show_progress_bar("Writing") as tell:
        writing.write(fused, out, tell)
    print_fusion_result(fused, agreement, out, json=json)


def _run_parties(
    files: dict[str, PartyFile], agreement: SessionParameters, tell: Progress, note: Callable[[str], None]
) -> FusionResult:
    """Run every party with the agreement in its own file."""
    from functools import partial

    from sfumato._progress import ignore_progress
    from sfumato.fusion.protocol import ignore_notes, run_party
    from sfumato.fusion.secure.channel import Parties, run_parties

    first = agreement.parties[0]
    if len(files) == 1:
        return run_party(files[first].party, agreement, None, tell, note)

    def run(name: str, parties: Parties) -> FusionResult:
        watched = (tell, note) if name == first else (ignore_progress, ignore_notes)
        return run_party(files[name].party, files[name].agreement, parties, *watched)

    return run_parties({name: partial(run, name) for name in agreement.parties})[first]


class ProgressLines:
    """Progress as lines on the error stream, for logs: every stage, and now and then how far it has come."""

    def __init__(self) -> None:
        self._stage = ""
        self._told = 0.0

    def __call__(self, done: float, note: str = "") -> None:
        """Print a line, unless one about the same stage was printed a moment ago."""
        stage, now = note.partition(" ")[0], time.monotonic()
        if stage != self._stage or now - self._told >= SELDOM:
            self._stage, self._told = stage, now
            _print_note(f"{done:4.0%} {note}")


@contextmanager
def show_progress(title: str) -> Iterator[tuple[Progress, Callable[[str], None]]]:
    """Show the progress of a fusion, as a bar or as lines; yield the functions that report progress and notes."""
    with show_progress_bar(title) as bar:
        yield (bar if sys.stderr.isatty() else ProgressLines()), _print_note


def _print_note(said: str) -> None:
    typer.echo(f"sfumato: {printable(said)}", err=True)


def print_fusion_result(fused: FusionResult, agreement: SessionParameters, out: Path, *, json: bool) -> None:
    """Print the audit, what was learned, and where the release is."""
    brought = dict(zip(agreement.parties, fused.lengths, strict=True))
    common = fused.published.num_rows
    if json:
        print_json(
            {
                "audit": fused.audit.to_dict(),
                "measures": dict(fused.metrics),
                "rounds": fused.rounds,
                "persons": common,
                "brought": brought,
                "public": str(out / "public"),
                "internal": str(out / "internal"),
                "report": report_path(out),
            }
        )
        return
    each = ", ".join(f"{name} {length:,}" for name, length in brought.items())
    typer.echo("\n".join(audit_lines(fused.audit)))
    typer.echo("")
    typer.echo(printable(f"{common:,} people are in the tables of all parties; rows per party: {each}."))
    typer.echo(f"The fusion took {fused.rounds:,} rounds; internal/transcript.json lists who won each.")
    typer.echo("\n".join(folder_lines(out)))
