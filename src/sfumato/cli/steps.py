"""`sfumato steps`: list the masking steps."""

from __future__ import annotations

from sfumato.cli.choices import describe_class, print_choices
from sfumato.cli.options import Json, format_examples

STEP_EXAMPLES = format_examples("sfumato steps", "sfumato steps --json")


def list_masking_steps(*, json: Json = False) -> None:
    """List the masking steps that can be carried out before or instead of a search."""
    from sfumato.catalogue import MASKING_STEPS

    print_choices(MASKING_STEPS, describe_class, json=json)
