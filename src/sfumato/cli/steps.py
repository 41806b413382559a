"""`sfumato steps`: list the masking steps."""

from __future__ import annotations

from sfumato.cli.choices import describe_class, print_choices
from sfumato.cli.options import Json, examples

EXAMPLES = examples("sfumato steps", "sfumato steps --json")


def steps(*, json: Json = False) -> None:
    """List the masking steps that can be carried out before or instead of a search."""
    from sfumato.catalogue import STEPS

    print_choices(STEPS, describe_class, json=json)
