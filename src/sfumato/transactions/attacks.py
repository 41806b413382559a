"""Attack published sets as somebody who knows a few items of a person would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato._randomness import draw_seed, seeded_generator
from sfumato._validation import is_integer, require
from sfumato.core.attack import SINGLING_OUT, AttackResult, AttackResults
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions._score_matching import ScoreMatching
from sfumato.transactions.taxonomy import ItemTaxonomy
from sfumato.transactions.transactions import Transactions

Ints = npt.NDArray[np.int64]
Choice: TypeAlias = Literal["random", "rarest", "popular"]
CHOICES: tuple[Choice, ...] = ("random", "rarest", "popular")
MIN_SCORED = 3  # baskets, of which one can stand out


def attack(
    published: PublishedTransactions,
    original: Transactions,
    *,
    m: int = 2,
    k: int = 5,
    targets: int = 1000,
    taxonomy: Taxonomy | None = None,
    seed: int | None = None,
) -> AttackResults:
    """Attack published sets by m known items of persons of the original, and by scores.

    The adversary knows m items of a target: drawn at random, her rarest ones, or her most popular ones. She looks for
    baskets that cover them, and claims a basket if it is the only one. Guessing picks any basket. The control removes
    the target's own basket: a claim about the only one left is false. `details` tell the share of targets who match
    fewer than k baskets, and the mean chance to pick the right one of those that match.

    Score matching knows m published items of a basket and claims the basket that stands out; the control is the same.

    Parameters
    ----------
    published : what is attacked; the original itself, to compare.
    original : the persons who are attacked.
    m : how many items the adversary knows; of a person with fewer, all of them.
    k : below how many matches a target is counted.
    targets : how many persons are attacked.
    taxonomy : of baskets that were read from a file, the one they were generalized by.
    seed : makes the draws repeatable.
    """
    for name, value in (("m", m), ("k", k), ("targets", targets)):
        require(is_integer(value) and value >= 1, "attack", name, "a whole number of at least 1", value)
    if taxonomy is not None and isinstance(published, Transactions):
        published = published.take(np.arange(len(published))).with_provenance(tree=ItemTaxonomy.from_taxonomy(taxonomy))
    if (
        isinstance(published, Transactions)
        and published.tree is None
        and not set(published.items) <= set(original.items)
    ):
        raise InvalidParameterError("What is published has groups of items; give the taxonomy that they come from.")
    seed = draw_seed() if seed is None else seed
    results = attack_by_known_items(published, original, m=m, k=k, targets=targets, seed=seed)
    scored, why = _attack_by_scores(published, m, targets, seed)
    return AttackResults(results=(*results, *scored), skipped=why)


def attack_by_known_items(
    published: PublishedTransactions, original: Transactions, *, m: int, k: int, targets: int, seed: int
) -> list[AttackResult]:
    """Attack by m known items, chosen in all ways."""
    chosen = np.sort(seeded_generator(seed).permutation(len(original))[:targets])
    results = []
    for choice in CHOICES:
        known = choose_known_items(original, chosen, choice, m, seed)
        more = published.match_details(known)
        results.append(_evaluate(f"{choice}-items", published.match_counts(known), k, len(original), more))
    return results


def choose_known_items(baskets: Transactions, chosen: Ints, choice: Choice, m: int, seed: int) -> list[list[str]]:
    """Return the items that an adversary knows of each chosen person, at most m; ties are drawn."""
    some = baskets.take(chosen)
    place = {name: code for code, name in enumerate(baskets.items)}
    support = baskets.supports[[place[name] for name in some.items]][some.codes]
    drawn = seeded_generator(seed + 1).random(len(some.codes))
    first = {"random": np.zeros(len(support)), "rarest": support, "popular": -support}[choice]
    order = np.lexsort([drawn, first, some.rows])
    rank = np.arange(len(order)) - some.offsets[:-1][some.rows[order]]
    kept = order[rank < m]
    lists: list[list[str]] = [[] for _ in range(len(some))]
    for row, code in zip(some.rows[kept].tolist(), some.codes[kept].tolist(), strict=True):
        lists[row].append(some.items[code])
    return lists


def _evaluate(name: str, found: Ints, k: int, baskets: int, more: Mapping[str, float]) -> AttackResult:
    """Judge an attack by the number of baskets that match what is known of each target."""
    alone = int((found == 1).sum())
    return AttackResult(
        attack=name,
        question=SINGLING_OUT,
        targets=len(found),
        claims=alone,
        successes=alone,
        baseline=1 / baskets,
        control_targets=len(found),
        control_successes=int((found == 2).sum()),  # noqa: PLR2004 - hers and one more, which is then the only one
        details={
            f"fewer_than_{k}": float(((found > 0) & (found < k)).mean()),
            "mean_chance": float(np.divide(1.0, found, out=np.zeros(len(found)), where=found > 0).mean()),
            **more,
        },
    )


def _attack_by_scores(
    published: PublishedTransactions, m: int, targets: int, seed: int
) -> tuple[tuple[AttackResult, ...], dict[str, str]]:
    """Let the adversary score baskets, where whole ones are published."""
    matching = ScoreMatching(known=m)
    if not isinstance(published, Transactions):
        return (), {matching.name: "The release shows no whole baskets that could be scored."}
    try:
        return (matching.run(published.to_frame(), person="basket", item="item", targets=targets, seed=seed),), {}
    except SchemaError:
        return (), {matching.name: f"It needs {MIN_SCORED} baskets, one of them with at least {m} items."}
