"""`sfumato warmup`: compile what large tables need, before they come."""

from __future__ import annotations

import typer

from sfumato.cli.options import Json, examples
from sfumato.cli.printing import print_json, progress

EXAMPLES = examples("sfumato warmup", "sfumato warmup --json")


def warmup(json: Json = False) -> None:
    """Compile the loops for large tables once; later runs load them from the cache.

    Small tables need none of them. Run it after installing, for example while building an image.
    """
    from sfumato.engine.warmup import warm_up

    with progress("Compiling"):
        done = warm_up()
    if json:
        print_json({"loops": done.loops, "variants": done.variants, "compiled": done.compiled, "seconds": done.seconds})
        return
    typer.echo(
        f"{done.loops} loops are ready in {done.variants} variants: {done.compiled} compiled now, "
        f"the others loaded from the cache, in {done.seconds:.1f} seconds."
    )
