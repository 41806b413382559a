"""`sfumato models`: which promises there are."""

from __future__ import annotations

from sfumato.cli.choices import describe_class, print_choices
from sfumato.cli.options import Json, examples

EXAMPLES = examples("sfumato models", "sfumato models --json")


def models(*, json: Json = False) -> None:
    """List the privacy models: what can be promised."""
    from sfumato.catalogue import MODELS

    print_choices(MODELS, describe_class, json=json)
