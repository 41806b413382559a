"""`sfumato party`: fuse a table with those of other owners, who run the same command on their machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.fuse import tell_fused, watching
from sfumato.cli.options import Json, Written, examples, spread
from sfumato.cli.writing import write_text
from sfumato.exceptions import InvalidParameterError, WriteError

EXAMPLES = examples(
    "sfumato party init hospital --name hospital",
    "sfumato party serve hospital/party.toml",
    "sfumato party join agency/party.toml",
)
TEMPLATE = """\
# What this party brings to a fusion; see docs/reference/fusion.md. Paths are relative to this file.

[party]
name = "{name}"
table = "table.csv"
id = "person"                    # names persons alike at all parties; never published
attributes = ["age", "sex"]      # the columns to fuse
key = "{name}.key"{pad}# stays here
certificate = "{name}.crt"{pad}# a copy goes to every other party
listen = "0.0.0.0:7701"          # parties that come later in the agreement connect to it
out = "fused"

[[peers]]                        # one for every other party
name = "agency"
certificate = "agency.crt"       # as the agency gave it to you
address = "agency.example:7701"  # needed for parties that come earlier in the agreement

[agreement]                      # the same at all parties
parties = ["{name}", "agency"]
target = "class"                 # the column that all parties have
scoring = "sensitive"            # or "plain"

[[agreement.requirements]]       # every group on these attributes has at least k persons
quasi = ["age", "sex"]
k = 20

[hierarchies]                    # numbers need none; other columns become * at once without one
# job = "job.csv"
# zip = "prefixes:3,1"

[factors]                        # the smaller, the more sensitive
provider = 0.5

[waiting]                        # seconds
others = 600                     # until all parties are there
silence = 60                     # without a sign of life of one of them
"""
LONGEST_NAME = 64

File = Annotated[Path, typer.Argument(metavar="PARTY.toml", help="The file of this party.", show_default=False)]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Where to write public/ and internal/; else as the file says.")
]

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Fuse a table with those of other owners, and show nobody the own one."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(epilog=examples("sfumato party init hospital --name hospital"))
def init(
    *,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to keep them.", show_default=False)],
    name: Annotated[str, typer.Option(metavar="NAME", help="How the others call this party.", show_default=False)],
) -> None:
    """Make a key, a certificate and a file to fill in for a party.

    Nothing that exists is overwritten. The key stays on this machine; the certificate goes to the other parties.
    """
    from sfumato.fusing.certificates import fingerprint, make_identity, read_certificate

    good = 0 < len(name) <= LONGEST_NAME and name.replace("-", "").replace("_", "").isalnum()
    if not good:
        raise InvalidParameterError(f"--name must be at most {LONGEST_NAME} letters, digits, - and _.")
    path = folder / "party.toml"
    if path.exists():
        raise WriteError(f"{path} exists; name another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{folder} cannot be made: {error.strerror}.") from None
    made = make_identity(name, folder)
    write_text(path, TEMPLATE.format(name=name, pad=" " * max(1, 22 - len(name))))
    typer.echo(f"{path} is to be filled in.")
    typer.echo(f"{made.key} proves who you are; keep it secret.")
    typer.echo(f"{made.certificate} goes to the other parties. Its fingerprint, to be compared by telephone, is")
    typer.echo(f"  {fingerprint(read_certificate(made.certificate, name))}")


@app.command(epilog=examples("sfumato party serve hospital/party.toml"))
@spread
def serve(*, file: File, out: Out = None, written: Written, json: Json = False) -> None:
    """Take part in a fusion, and wait until the other parties are there.

    Parties may start in any order. Exit codes: 0 it is fused, 2 a bad request, or the fusion was ended; then nothing is
    written, and it can be started again at all parties.
    """
    _take_part(file, out, written, json=json, retry=True)


@app.command(epilog=examples("sfumato party join agency/party.toml --out fused"))
@spread
def join(*, file: File, out: Out = None, written: Written, json: Json = False) -> None:
    """Take part in a fusion whose earlier parties are there already.

    As `serve`, but a party that does not answer ends it at once.
    """
    _take_part(file, out, written, json=json, retry=False)


def _take_part(file: Path, out: Path | None, written: Written, *, json: bool, retry: bool) -> None:
    from sfumato.fusing.network import fuse_with_others
    from sfumato.fusing.party_file import PartyFile
    from sfumato.table.atomic import refuse_occupied

    read = PartyFile.read(file)
    out = read.out if out is None else out
    if out is None:
        raise InvalidParameterError(f"{file} names no out folder; add it to [party], or give --out.")
    if read.connections is None:
        raise InvalidParameterError(f"{file} names no key; make one by `sfumato party init`, and add it to [party].")
    refuse_occupied(out, replace=written.replace)
    with watching("Fusing") as (tell, note):
        fused = fuse_with_others(
            read.party,
            read.agreement,
            read.connections,
            retry=retry,
            progress=tell,
            note=note,
        )
    written.write(fused, out)
    tell_fused(fused, read.agreement, out, json=json)
