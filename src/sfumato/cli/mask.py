"""`sfumato mask`: mask a table and publish it as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.anonymize import read_for, tell_release
from sfumato.cli.options import (
    CountRows,
    Json,
    PublishText,
    Reading,
    RecipeOptions,
    Source,
    Steps,
    WritingOptions,
    examples,
    spread,
)
from sfumato.cli.printing import progress
from sfumato.exceptions import InvalidParameterError

NOTHING_MASKED = "Nothing is masked; give --step (see sfumato steps) or a recipe with [[masking]]."
EXAMPLES = examples(
    "sfumato mask patients.csv --identifier name --quasi age,zip --sensitive disease --insensitive cost \\",
    "    --step top-code:column=age,at=85 --step add-noise:columns=age+cost,share=0.1 --out masked",
    "sfumato mask patients.csv --quasi age,sex,job --k 3 \\",
    "    --step round-numbers:columns=age,base=10 --step suppress-cells:columns=age+sex+job,k=3 --out masked",
)


@spread
def mask(
    *,
    file: Source,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write public/ and internal/.", show_default=False)],
    reading: Reading,
    asked: RecipeOptions,
    step: Steps = [],  # noqa: B006 - Typer copies it
    max_suppressed: Annotated[
        float | None, typer.Option(metavar="SHARE", help="The share of records that may be suppressed.")
    ] = None,
    count_rows: CountRows = False,
    publish_text: PublishText = [],  # noqa: B006 - Typer copies it
    writing: WritingOptions,
    json: Json = False,
) -> None:
    """Mask a table and publish what the steps leave, without making anything coarser.

    A privacy model is promised only if you ask for one, and then audited. Without one, nothing is said about how many
    persons look alike: read the attacks in the report before you publish.
    """
    from sfumato.cli.asking import ask_recipe
    from sfumato.release.anonymizing import carry_out

    writing.refuse_early(out)
    if not step and asked.recipe is None:
        raise InvalidParameterError(NOTHING_MASKED)
    recipe = ask_recipe(
        asked,
        algorithm="as-is",
        max_suppressed=max_suppressed,
        count_rows=count_rows,
        publish_text=publish_text,
        seed=None,
        steps=step,
    )
    if not recipe.masking:
        raise InvalidParameterError(NOTHING_MASKED)
    recipe, table = read_for(recipe, file, reading)
    with progress("Masking") as tell:
        release = carry_out(recipe, table, progress=tell)
    with progress("Writing") as tell:
        writing.write(release, out, tell)
    tell_release(release, out, json=json, quiet=reading.quiet)
