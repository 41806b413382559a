"""Find a good node of a lattice that is too large to look at every node, and bound how good the best can be."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from math import prod

import numpy as np

from sfumato._progress import Progress, TimeLimit, ignore_progress
from sfumato.tables.algorithms.full_domain._exhaustive_search import BestNodeSearch, ExhaustiveSearch
from sfumato.tables.algorithms.full_domain._lattice import Exploration, Levels, NodeStatus
from sfumato.tables.algorithms.full_domain._losses import RecodingLoss
from sfumato.tables.algorithms.full_domain._recodings import Recodings
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.k_anonymity import KAnonymity

BLOCK_NODES = 1 << 14
SHARE_FOR_BOUNDS = 0.3  # of the time
ROUNDS_IN_VAIN = 200


class HeuristicSearch(BestNodeSearch):
    """Descend from the top, climb to the best in the neighborhood, and start again nearby until time is up.

    The bound comes from blocks of attributes. Dropping attributes suppresses no more records and needs no more
    generalization, so the smallest loss over all attributes is at least the sum of the smallest losses of blocks of
    them, and lattices of blocks are small enough for the search with proof.
    """

    def __init__(self, recodings: Recodings, loss: RecodingLoss, progress: Progress, deadline: TimeLimit) -> None:
        super().__init__(recodings, loss, progress, deadline)
        self.start = loss.start()
        self.known: dict[Levels, tuple[float, int]] = {}
        self._blocks = 0.0

    def exploration(self) -> Exploration:
        """Return what is known about the nodes that were checked."""
        nodes = list(self.known)
        losses = np.array([self.known[node][0] for node in nodes])
        allowed = np.isfinite(losses)
        return Exploration(
            names=tuple(ladder.domain.name for ladder in self.recodings.ladders),
            heights=self.recodings.lattice.top,
            levels=np.array(nodes, dtype=np.int16),
            status=np.where(allowed, NodeStatus.ANONYMOUS, NodeStatus.NOT_ANONYMOUS).astype(np.int8),
            loss=np.where(allowed, losses, np.nan),
            bound=np.where(allowed, losses, [self.bound_of(node) for node in nodes]),
            suppressed=np.array([self.known[node][1] if ok else -1 for node, ok in zip(nodes, allowed, strict=True)]),
            proof=self.proof(),
            best=None if self.best is None else nodes.index(self.best),
        )

    def lower_bound(self) -> float:
        """Return a lower bound for the loss of blocks of attributes."""
        return min(self.least, self._blocks)

    def bound_of(self, levels: Levels) -> float:
        """Return a lower bound for the loss of a node, if it is a solution."""
        return float(self.loss.bound(np.array(self.loss.lowest), np.array(self.start.at(levels))))

    def value_of(self, levels: Levels) -> float:
        """Return the loss of a node, checking it if needed; infinite if it is not a solution."""
        if levels not in self.known:
            check = self.recodings.check(levels, sparing=True)
            value = float(self.loss.value(check)) if check.allowed else np.inf
            self.known[levels] = value, check.suppressed
            if value < self.least:
                self.least, self.best = value, levels
        return self.known[levels][0]

    def seek(self) -> None:
        """Find a good node, bound the best, and keep searching until time is up."""
        self._descend()
        if self.best is not None:
            self.hill_climb(self.best)
        self._bound_blocks()
        self._start_again()

    def _descend(self) -> None:
        """Go from the top to the best direct specialization while it is better.

        If the top is not a solution, go to the one that suppresses the least until a solution is found.
        """
        node = self.recodings.lattice.top
        value = self.value_of(node)
        while not self.deadline.passed():
            self._report()
            lower = min(self.recodings.lattice.below(node), key=self._order, default=None)
            if lower is None or self.value_of(lower) >= value < np.inf:
                return
            node, value = lower, self.value_of(lower)

    def _order(self, levels: Levels) -> tuple[float, int]:
        value = self.value_of(levels)
        return value, self.known[levels][1]

    def _start_again(self) -> None:
        vain = 0
        while self.best is not None and vain < ROUNDS_IN_VAIN and not self.deadline.passed():
            self._report()
            before = self.least
            self.hill_climb(self._jump(self.best), self.recodings.task.rng)
            vain = vain + 1 if self.least >= before else 0

    def _jump(self, levels: Levels) -> Levels:
        """Raise some attributes of a node at random: what is above a solution usually is one, too."""
        node, top, rng = list(levels), self.recodings.lattice.top, self.recodings.task.rng
        for _ in range(int(rng.integers(2, 3 + len(node) // 2))):
            lower = [j for j, level in enumerate(node) if level < top[j]]
            if lower:
                node[int(rng.choice(lower))] += 1
        return tuple(node)

    def _bound_blocks(self) -> None:
        if not self.loss.by_generalization:
            lowest = self.loss.bound(np.array(self.loss.lowest), np.array(self.start.constant))
            self._blocks = float(lowest)
            return
        blocks = self._choose_blocks()
        shares = self.loss.setting.attribute_weights
        for number, block in zip(count(len(blocks), -1), blocks, strict=False):
            share = float(shares[block].sum())
            if share > 0:
                search = self._block_search(block, TimeLimit(self.deadline.left() * SHARE_FOR_BOUNDS / number))
                search.seek()
                self._blocks += share * self._cheapest * search.lower_bound()

    @property
    def _cheapest(self) -> float:
        """The smallest cost of any cell: where suppression is cheaper, whole nodes may suppress what blocks publish."""
        setting = self.loss.setting
        return setting.suppression_cost if setting.suppression_cost < setting.generalization_cost else 1.0

    def _block_search(self, block: list[int], deadline: TimeLimit) -> ExhaustiveSearch:
        task, models, whole = self.recodings.task, self._lasting_models(), self.loss.setting
        table = replace(task.table, quasi=tuple(task.table.quasi[j] for j in block))
        recodings = Recodings(replace(task, table=table, models=models, progress=ignore_progress))
        setting = replace(
            whole,
            ladders=recodings.ladders,
            histograms=recodings.histograms,
            suppression_factor=max(whole.suppression_factor, 0.5),
            stays_good=all(model.extendable for model in models),
        )
        return ExhaustiveSearch(recodings, type(self.loss)(setting), ignore_progress, deadline)

    def _lasting_models(self) -> list[GroupModel]:
        """Return the models that a solution keeps when attributes are dropped."""
        task = self.recodings.task
        lasting = [m for m in task.models if m.extendable or (m.monotone and not self.recodings.limit)]
        return [*lasting, KAnonymity(k=self.recodings.smallest_group)]

    def _choose_blocks(self) -> list[list[int]]:
        """Group attributes with many values, as many as a lattice with proof allows."""
        shape, blocks = self.recodings.lattice.shape, list[list[int]]()
        for j in sorted(range(len(shape)), key=lambda j: -self.recodings.ladders[j].widths[0]):
            for block in blocks:
                if prod(shape[i] for i in block) * shape[j] <= BLOCK_NODES:
                    block.append(j)
                    break
            else:
                blocks.append([j])
        return blocks

    def _report(self) -> None:
        self.progress(self.deadline.share(), self.note())
