"""The way down: split parts, the best specialization first, while the models hold."""

from __future__ import annotations

import heapq
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from sfumato.algorithms.cuts.choices import MemberSplits, SplitChoices, SplitScan, ThresholdSplits
from sfumato.algorithms.cuts.cut_groups import CutGroups, CutTrial
from sfumato.algorithms.cuts.tree import Part
from sfumato.algorithms.cuts.worth import Floats, round_significant
from sfumato.core.progress import Progress


class BestSpecialization(NamedTuple):
    """A specialization that is allowed and worthwhile."""

    choices: SplitChoices
    choice: int
    trial: CutTrial
    score: float


class TopDownSearch:
    """The way from some cuts down to cuts without any specialization that is both allowed and worthwhile.

    A specialization is allowed if few enough records are in groups that break a model. Its score is its gain over
    one more than the number of records by which the smallest valid group shrinks.
    """

    def __init__(self, partition: CutGroups, *, siblings: bool) -> None:
        self.partition = partition
        self.siblings = siblings
        self.final = partition.limit == 0 or all(model.extendable for model in partition.models)
        self.choices = [
            found
            for column, cut in enumerate(partition.cuts)
            for part in cut.parts
            if (found := self._choices(column, part)) is not None
        ]

    def run(self, progress: Progress) -> None:
        """Specialize until nothing is left to specialize; progress is the share of the largest possible gain."""
        partition = self.partition
        gained, most = 0.0, sum(self._most(column) for column in range(len(partition.cuts)))
        while (found := self.best()) is not None:
            self.make(found)
            gained += float(found.choices.gain[found.choice])
            progress(min(gained / most, 1.0), f"{len(partition.sizes):,} groups")

    def _most(self, column: int) -> float:
        """Return the gain if every value of an attribute were published unchanged."""
        cut, measure = self.partition.cuts[column], self.partition.measure
        codes = np.arange(cut.tree.codes)
        return float(measure.in_ranges(column, codes, codes).sum() - measure.of(column, cut.parts).sum())

    def best(self) -> BestSpecialization | None:
        """Find the specialization with the best score; refused ones are tried again before giving up."""
        found = self._best_open()
        if found is None and any(each.waiting.any() for each in self.choices):
            for each in self.choices:
                each.waiting[:] = False
            found = self._best_open()
        return found

    def make(self, found: BestSpecialization) -> None:
        """Specialize."""
        choices = found.choices
        pieces = choices.pieces(found.choice)
        self.partition.adopt(found.trial)
        self.partition.cuts[choices.column].replace([choices.part], pieces)
        self.choices.remove(choices)
        for piece in pieces:
            fresh = self._choices(choices.column, piece)
            if fresh is not None:
                if self.final:
                    fresh.outlive(choices)
                self.choices.append(fresh)

    def _choices(self, column: int, part: Part) -> SplitChoices | None:
        tree, measure = self.partition.cuts[column].tree, self.partition.measure
        if part.first == part.last:
            return None
        if tree.neighbors:
            return ThresholdSplits(column, tree, part, measure)
        return MemberSplits(column, tree, part, measure, siblings=self.siblings)

    def _best_open(self) -> BestSpecialization | None:
        queue = self._queue()
        scans: dict[int, SplitScan] = {}
        trials: dict[int, dict[int, CutTrial]] = {}
        anonymity = self.partition.anonymity
        while queue:
            bound, column, first, choice, number = heapq.heappop(queue)
            choices, tried = self.choices[number], trials.setdefault(number, {})
            if choice in tried:
                return BestSpecialization(choices, choice, tried[choice], -bound)
            if choice < 0:
                scans[number] = self._scan(choices)
            else:
                trial = self.partition.attempt(choices.column, choices.part, choices.pieces(choice))
                if self._accepts(choices, choice, trial):
                    tried[choice] = trial
                    score = self._scores(choices, np.array([trial.gain]), np.array([trial.least]), anonymity)
                    heapq.heappush(queue, (-float(score[0]), column, first, choice, number))
                    if choices.tree.neighbors:
                        continue
            leading = self._leading(choices, scans[number], anonymity, tried)
            if leading is not None:
                heapq.heappush(queue, (-leading[0], column, first, leading[1], number))
        return None

    def _queue(self) -> list[tuple[float, int, int, int, int]]:
        """Return the parts that can be split, those first that may have the best score."""
        anonymity = self.partition.anonymity
        queue = []
        for number, choices in enumerate(self.choices):
            least = choices.least if self.partition.limit == 0 else np.full(len(choices.gain), np.inf)
            scores = self._scores(choices, choices.gain, least, anonymity)
            bound = float(scores[choices.open].max(initial=0.0))
            if bound > 0:
                queue.append((-bound, choices.column, choices.part.first, -1, number))
        heapq.heapify(queue)
        return queue

    def _scan(self, choices: SplitChoices) -> SplitScan:
        """Compute the results of the choices of a part, and note those that sizes alone forbid."""
        scan = choices.scan(self.partition)
        allowed = self.partition.allows(scan.bad)
        if self.partition.limit == 0:
            scan = scan._replace(gain=choices.gain)
        choices.least = scan.least
        refused = choices.dead if self.final else choices.waiting
        refused |= ~allowed
        choices.waiting |= allowed & (scan.gain <= choices.tolerance)
        return scan

    def _leading(
        self, choices: SplitChoices, scan: SplitScan, anonymity: float, tried: Collection[int]
    ) -> tuple[float, int] | None:
        """Find the next choice to try: for thresholds the largest gain, otherwise the best score."""
        is_open = choices.open
        is_open[list(tried)] = False
        if not is_open.any():
            return None
        scores = self._scores(choices, scan.gain, scan.least, anonymity)
        order = round_significant(scan.gain) if choices.tree.neighbors else scores
        choice = int(np.argmax(np.where(is_open, order, -np.inf)))
        return float(scores[choice]), choice

    def _accepts(self, choices: SplitChoices, choice: int, trial: CutTrial) -> bool:
        """Accept a trial, or note that it is refused: permanently if nothing that follows can change that."""
        allowed = bool(self.partition.allows(trial.bad))
        if allowed and trial.gain > choices.tolerance:
            return True
        refused = choices.dead if self.final and not allowed else choices.waiting
        refused[choice] = True
        return False

    def _scores(self, choices: SplitChoices, gain: Floats, least: Floats, anonymity: float) -> Floats:
        return round_significant(gain / choices.per / (np.maximum(anonymity - least, 0.0) + 1.0))
