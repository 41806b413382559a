"""`sfumato mask`: mask a table and publish it as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.anonymize import print_release_summary, read_for
from sfumato.cli.options import (
    CountRows,
    Json,
    PublishText,
    ReadingOptions,
    RecipeOptions,
    Source,
    Steps,
    WritingOptions,
    expand_option_groups,
    format_examples,
)
from sfumato.cli.printing import show_progress_bar
from sfumato.exceptions import InvalidParameterError

NOTHING_MASKED = "Nothing is masked; give --step (see sfumato steps) or a recipe with [[masking]]."
MASK_EXAMPLES = format_examples(
    "sfumato mask patients.csv --identifier name --quasi age,zip --sensitive disease --insensitive cost \\",
    "    --step top-code:column=age,at=85 --step add-noise:columns=age+cost,share=0.1 --out masked",
    "sfumato mask patients.csv --quasi age,sex,job --k 3 \\",
    "    --step round-numbers:columns=age,base=10 --step suppress-cells:columns=age+sex+job,k=3 --out masked",
)


@expand_option_groups
def mask_table(
    *,
    file: Source,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write public/ and internal/.", show_default=False)],
    reading: ReadingOptions,
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
    from sfumato.cli.asking import build_recipe
    from sfumato.release.anonymizing import run_recipe

    writing.check_target(out)
    if not step and asked.recipe is None:
        raise InvalidParameterError(NOTHING_MASKED)
    recipe = build_recipe(
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
    with show_progress_bar("Masking") as tell:
        release = run_recipe(recipe, table, progress=tell)
    with show_progress_bar("Writing") as tell:
        writing.write(release, out, tell)
    print_release_summary(release, out, json=json, quiet=reading.quiet)
