"""`sfumato warmup`: compile the loops for large tables ahead of time."""

from __future__ import annotations

from dataclasses import asdict

import typer

from sfumato.cli._options import Json, format_examples
from sfumato.cli._output import print_json, show_progress_bar

EXAMPLES = format_examples("sfumato warmup", "sfumato warmup --json")


def warmup(*, json: Json = False) -> None:
    """Compile the loops for large tables now, so that later runs start faster.

    Later runs load them from a cache. Small tables do not need them. Run it after installing, for
    example while building an image.
    """
    from sfumato._warmup import warm_up

    with show_progress_bar("Compiling"):
        done = warm_up()
    if json:
        print_json(asdict(done))
        return
    typer.echo(
        f"{done.loops} loops are ready for large tables; {done.compiled} variants of them were compiled now, "
        f"in {done.seconds:.1f} seconds."
    )
