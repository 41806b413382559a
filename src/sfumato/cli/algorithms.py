"""`sfumato algorithms`: list the algorithms."""

from __future__ import annotations

from sfumato.cli.choices import describe_class, print_choices
from sfumato.cli.options import Json, format_examples

ALGORITHM_EXAMPLES = format_examples("sfumato algorithms", "sfumato algorithms --json")


def list_algorithms(*, json: Json = False) -> None:
    """List the anonymization algorithms."""
    from sfumato.catalogue import ALGORITHMS

    print_choices(ALGORITHMS, describe_class, json=json)
