"""`sfumato models`: list the privacy models."""

from __future__ import annotations

from sfumato.cli.choices import describe_class, print_choices
from sfumato.cli.options import Json, format_examples

MODEL_EXAMPLES = format_examples("sfumato models", "sfumato models --json")


def list_models(*, json: Json = False) -> None:
    """List the privacy models that can be promised."""
    from sfumato.catalogue import MODELS

    print_choices(MODELS, describe_class, json=json)
