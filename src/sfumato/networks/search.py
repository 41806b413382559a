"""What searches for a network to publish have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sfumato.kinds.search import KindRequest, KindSearch
from sfumato.networks.network import Network
from sfumato.networks.promise import Published


class NetworkSearch(KindSearch[Published]):
    """A search for a graph or super-nodes. Persons keep their numbers; whoever publishes gives them others.

    `shows_kinds` says whether kinds of edges are published.
    """

    shows_kinds: ClassVar[bool] = False

    def told(self, original: Network, request: KindRequest[Published]) -> Mapping[str, float]:  # noqa: ARG002 - most tell nothing more
        """Return figures of the search besides what was lost, such as bounds."""
        return {}


def asked_k(request: KindRequest[Published]) -> int:
    """Return the largest k of all promises that have one."""
    return max((int(getattr(model, "k", 1)) for model in request.models), default=1)
