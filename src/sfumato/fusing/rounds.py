"""The rounds of one party: offer the party's best candidate, learn who won, and follow the winner."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress
from sfumato.exceptions import ProtocolError
from sfumato.fusing.candidates import LocalAttribute, SpecializationCandidate
from sfumato.fusing.fused import Disclosure
from sfumato.fusing.shared_groups import EquivalenceClasses

if TYPE_CHECKING:
    from sfumato.fusing.secure.channel import Parties

Ints = npt.NDArray[np.int64]
FEW_CHILDREN = 256  # this many have numbers of one byte
HALF_WAY = 50  # rounds after which half of the progress is shown; the total is unknown


@dataclass(frozen=True, eq=False)
class SplitMessage:
    """How the winner of a round splits the records of one of its nodes."""

    round: int
    winner: str
    attribute: str
    node: int
    labels: list[str]
    children: Ints


class SpecializationRounds:
    """What one party does until nobody has a candidate left.

    Parameters
    ----------
    me : the name of this party.
    parties : the connections to the others; None if there are none.
    partition : the common state.
    own : the attributes of this party, by name.
    """

    def __init__(
        self, me: str, parties: Parties | None, partition: EquivalenceClasses, own: dict[str, LocalAttribute]
    ) -> None:
        self.me, self.parties, self.partition, self.own = me, parties, partition, own
        self.order = {name: place for place, name in enumerate(own)}
        self.candidates: list[SpecializationCandidate] = []
        for attribute in own.values():
            self._update_candidates(attribute, [0])
        self._find: Callable[[int], int | None] = lambda score: 0 if score else None
        if parties is not None:
            from sfumato.fusing.secure.maximum import MaximumSession

            self._find = MaximumSession(parties).find

    def run(self, progress: Progress) -> list[Disclosure]:
        """Specialize until nobody has a candidate left."""
        names = (self.me,) if self.parties is None else self.parties.names
        transcript: list[Disclosure] = []
        while True:
            best = self._best()
            winner = self._find(0 if best is None else _score_bits(best.score))
            if winner is None:
                return transcript
            number = len(transcript) + 1
            if names[winner] == self.me:
                if best is None:
                    raise ProtocolError(
                        "The maximum names this party, but it has no candidate; start again at all parties."
                    )
                learned = self._lead(best, number)
            else:
                learned = self._follow(names[winner], number)
            transcript.append(learned)
            groups = sum(len(shown.records) for shown in self.partition.shown.values())
            done = number / (number + HALF_WAY)
            progress(done, f"round {number:,}: {learned.winner} specializes {learned.attribute}, {groups:,} nodes")

    def _best(self) -> SpecializationCandidate | None:
        """Find the best candidate that meets all requirements; one that does not never will, so it is dropped."""
        while self.candidates:
            best = self.candidates[-1]
            records = self.partition.shown[best.attribute].records[best.number]
            if self.partition.allows_split(best.attribute, records, self.own[best.attribute].children(best, records)):
                return best
            self.candidates.pop()
        return None

    def _lead(self, best: SpecializationCandidate, number: int) -> Disclosure:
        """Specialize the winning node, and tell the others which record goes to which child."""
        attribute = self.own[best.attribute]
        records = self.partition.shown[best.attribute].records[best.number]
        children = attribute.children(best, records)
        labels = [attribute.label(part) for part in best.parts]
        if self.parties is not None:
            self.parties.broadcast(
                "specialize",
                attribute=best.attribute,
                node=best.number,
                labels=[label.encode() for label in labels],
                children=children.astype(np.uint8 if len(labels) <= FEW_CHILDREN else np.int32),
            )
        self.candidates.remove(best)
        learned = self._split(SplitMessage(number, self.me, best.attribute, best.number, labels, children))
        self._update_candidates(attribute, list(attribute.specialize(best)))
        return learned

    def _follow(self, winner: str, number: int) -> Disclosure:
        """Learn from the winner which record goes to which child."""
        assert self.parties is not None  # noqa: S101 - without others nobody else wins
        told = self.parties.receive(winner, "specialize")
        attribute = told.text("attribute")
        if self.partition.owners.get(attribute) != winner:
            raise ProtocolError(f"Party {winner!r} specializes an attribute that is not its own; nothing is published.")
        labels = [label.decode("utf-8", "replace") for label in told.blobs("labels")]
        dtype = "u1" if len(labels) <= FEW_CHILDREN else "i4"
        children = told.array("children", dtype=dtype).astype(np.int64)
        most = len(self.partition.shown[attribute].labels)
        node = told.integer("node", least=0, most=most)
        return self._split(SplitMessage(number, winner, attribute, node, labels, children))

    def _split(self, told: SplitMessage) -> Disclosure:
        """Split the records of a node as its owner says."""
        shown = self.partition.shown[told.attribute]
        before = shown.labels[told.node] if told.node < len(shown.labels) else ""
        self.partition.split(told.attribute, told.node, told.labels, told.children)
        counts = np.bincount(told.children, minlength=len(told.labels))
        return Disclosure(
            round=told.round,
            winner=told.winner,
            attribute=told.attribute,
            node=before,
            children=tuple(told.labels),
            records=tuple(counts.tolist()),
        )

    def _update_candidates(self, attribute: LocalAttribute, numbers: list[int]) -> None:
        """Add nodes that are worth specializing; the best is last, among equals the first attribute's first node."""
        found = (attribute.candidate(number) for number in numbers)
        self.candidates += [each for each in found if each is not None]
        self.candidates.sort(key=lambda each: (each.score, -self.order[each.attribute], -each.number))


def _score_bits(score: float) -> int:
    """Return a 64-bit whole number for a positive score; greater scores have greater numbers."""
    return int(struct.unpack(">Q", struct.pack(">d", score))[0])
