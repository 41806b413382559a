"""What promises about sensitive items need of published sets."""

from __future__ import annotations

from sfumato.errors import InfeasibleError, SchemaError, UnsupportedModelError
from sfumato.transactions._itemsets import ItemsetCounter, RuleCounts
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.transactions import Transactions

MAX_SETS = 100_000_000  # of one size, which take minutes


def with_sensitive_items(published: PublishedTransactions, promise: str) -> tuple[Transactions, ItemsetCounter]:
    """Return whole baskets with sensitive items, also as sets; refuse anything else."""
    baskets = require_whole_transactions(published, promise)
    if not baskets.is_sensitive.any():
        raise SchemaError(f"No item is sensitive, which {promise} is about; name sensitive items by sensitive=.")
    if baskets.has_generalized_items:
        raise UnsupportedModelError(
            f"Groups of items stand beside their own members, so {promise} cannot be judged; publish one cut."
        )
    return baskets, ItemsetCounter(baskets.codes, baskets.offsets, len(baskets.items))


def require_whole_transactions(published: PublishedTransactions, promise: str) -> Transactions:
    """Return whole baskets; refuse baskets that were taken apart."""
    if not isinstance(published, Transactions):
        raise UnsupportedModelError(
            f"Baskets were taken apart, and {promise} is about whole ones; choose another promise."
        )
    return published


def check_itemset_limit(found: RuleCounts, most: int, remedy: str) -> None:
    """Refuse to judge more sets than can be walked in reasonable time."""
    if found.sets > most:
        raise InfeasibleError(f"There are more than {most:,} sets of items to judge; {remedy}.")
