"""`sfumato party`: fuse a table with those of other owners, who run the same command on their machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._nonblocking_stderr import make_stderr_nonblocking
from sfumato.cli._options import Json, WritingOptions, command_group, expand_option_groups, format_examples
from sfumato.cli._output import write_text_atomically
from sfumato.cli.fuse import print_fusion_result, show_progress
from sfumato.errors import InvalidParameterError, WriteError

EXAMPLES = format_examples(
    "sfumato party init hospital --name hospital",
    "sfumato party serve hospital/party.toml",
    "sfumato party join agency/party.toml",
)
TEMPLATE = """\
# What this party brings to a fusion; see docs/reference/fusion.md. Paths are relative to this file.

[party]
name = "{name}"
table = "table.csv"
id = "person"                    # identifies people in the same way at all parties; never published
attributes = ["age", "sex"]      # the columns to fuse
key = "{name}.key"{pad}# stays on this machine
certificate = "{name}.crt"{pad}# a copy goes to every other party
listen = "0.0.0.0:7701"          # parties that come later in the agreement connect here
out = "fused"

[[peers]]                        # one for every other party
name = "agency"
certificate = "agency.crt"       # the one that the agency sent you
address = "agency.example:7701"  # needed for parties that come earlier in the agreement

[agreement]                      # the same at all parties
parties = ["{name}", "agency"]
target = "class"                 # the column that all parties have
scoring = "sensitive"            # weigh by factors; "sensitive-sum" as in print, "plain" not at all

[[agreement.requirements]]       # every group on these attributes has at least k people
quasi = ["age", "sex"]
k = 20

[hierarchies]                    # not needed for numbers; other columns without one become * at once
# job = "job.csv"
# zip = "prefixes:3,1"

[factors]                        # the smaller, the more sensitive
provider = 0.5

[waiting]                        # seconds
others = 600                     # to wait for the other parties
silence = 60                     # until a party that sends nothing counts as lost
"""
MAX_NAME_LENGTH = 64

File = Annotated[Path, typer.Argument(metavar="PARTY.toml", help="The party file.", show_default=False)]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Where to write public/ and internal/; by default as in the file.")
]

app = command_group("Fuse your table with those of other owners without showing yours.")


@app.command("init", epilog=format_examples("sfumato party init hospital --name hospital"))
def init_party(
    *,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to keep them.", show_default=False)],
    name: Annotated[
        str, typer.Option(metavar="NAME", help="The name of this party in the agreement.", show_default=False)
    ],
) -> None:
    """Create a key, a certificate and a party file to fill in.

    Existing files are not overwritten. The key stays on this machine; the certificate goes to the other parties.
    """
    from sfumato.fusion.certificates import certificate_fingerprint, create_credentials, read_certificate

    good = 0 < len(name) <= MAX_NAME_LENGTH and name.replace("-", "").replace("_", "").isalnum()
    if not good:
        raise InvalidParameterError(f"--name must be at most {MAX_NAME_LENGTH} letters, digits, - and _.")
    path = folder / "party.toml"
    if path.exists():
        raise WriteError(f"{path} already exists; choose another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{folder} cannot be created: {error.strerror}.") from None
    made = create_credentials(name, folder)
    write_text_atomically(path, TEMPLATE.format(name=name, pad=" " * max(1, 22 - len(name))))
    typer.echo(f"Fill in {path}.")
    typer.echo(f"Keep {made.key} secret: it proves who you are.")
    typer.echo(f"Send {made.certificate} to the other parties, and compare its fingerprint by telephone:")
    typer.echo(f"  {certificate_fingerprint(read_certificate(made.certificate, name))}")


@app.command("serve", epilog=format_examples("sfumato party serve hospital/party.toml"))
@expand_option_groups
def serve_party(*, file: File, out: Out = None, writing: WritingOptions, json: Json = False) -> None:
    """Take part in a fusion, and wait for the other parties.

    Parties may start in any order. Exit codes: 0 fused, 2 bad request, or the fusion was aborted; then nothing is
    written, and all parties can start again.
    """
    _run_party(file, out, writing, json=json, retry=True)


@app.command("join", epilog=format_examples("sfumato party join agency/party.toml --out fused"))
@expand_option_groups
def join_parties(*, file: File, out: Out = None, writing: WritingOptions, json: Json = False) -> None:
    """Take part in a fusion whose earlier parties are already waiting.

    Like `serve`, but a party that does not answer ends the fusion at once.
    """
    _run_party(file, out, writing, json=json, retry=False)


def _run_party(file: Path, out: Path | None, writing: WritingOptions, *, json: bool, retry: bool) -> None:
    from sfumato.fusion.network import declining, fuse_over_network
    from sfumato.fusion.party_file import PartyFile

    make_stderr_nonblocking()
    connections, agreement = PartyFile.read_meeting(file)
    if connections is None:
        raise InvalidParameterError(f"{file} names no key; create one with `sfumato party init` and add it to [party].")
    with show_progress("Fusing") as (tell, note):
        with declining(connections, agreement, note=note):
            read = PartyFile.read(file)
            out = read.out if out is None else out
            if out is None:
                raise InvalidParameterError(f"{file} names no out folder; add it to [party], or give --out.")
            writing.check_target(out)
        fused = fuse_over_network(
            read.party,
            agreement,
            connections,
            retry=retry,
            progress=tell,
            note=note,
            write=lambda fused: writing.write(fused, out, tell),
        )
    print_fusion_result(fused, agreement, out, json=json)
