"""`sfumato algorithms`: which searches there are."""

from __future__ import annotations

from sfumato.cli.choices import describe_class, print_choices
from sfumato.cli.options import Json, examples

EXAMPLES = examples("sfumato algorithms", "sfumato algorithms --json")


def algorithms(*, json: Json = False) -> None:
    """List the algorithms: how a release is searched for."""
    from sfumato.catalogue import ALGORITHMS

    print_choices(ALGORITHMS, describe_class, json=json)
