"""What promises about sensitive items need of published sets."""

from __future__ import annotations

from sfumato.baskets.baskets import Baskets
from sfumato.baskets.published import PublishedSets
from sfumato.coding.item_sets import ItemSets
from sfumato.coding.set_rules import RulesFound
from sfumato.exceptions import InfeasibleError, SchemaError, UnsupportedModelError

MOST_SETS = 100_000_000  # of one size, which take minutes


def sets_with_secrets(published: PublishedSets, promise: str) -> tuple[Baskets, ItemSets]:
    """Return whole baskets with sensitive items, also as sets; refuse anything else."""
    baskets = whole_baskets(published, promise)
    if not baskets.is_sensitive.any():
        raise SchemaError(f"No item is sensitive, which {promise} is about; name sensitive items by sensitive=.")
    if baskets.mixed:
        raise UnsupportedModelError(
            f"Groups of items stand beside their own members, so {promise} cannot be judged; publish one cut."
        )
    return baskets, ItemSets(baskets.codes, baskets.offsets, len(baskets.items))


def whole_baskets(published: PublishedSets, promise: str) -> Baskets:
    """Return whole baskets; refuse baskets that were taken apart."""
    if not isinstance(published, Baskets):
        raise UnsupportedModelError(
            f"Baskets were taken apart, and {promise} is about whole ones; choose another promise."
        )
    return published


def refuse_too_many(found: RulesFound, most: int, remedy: str) -> None:
    """Refuse to judge more sets than can be walked in reasonable time."""
    if found.sets > most:
        raise InfeasibleError(f"There are more than {most:,} sets of items to judge; {remedy}.")
