"""Questions as people write them: `mean of cost where age >= 60 and sex = F`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sfumato.dp.answers import PrivateAnswer, PrivateCounts
from sfumato.dp.private_table import PrivateTable
from sfumato.dp.public_facts import Bound
from sfumato.errors import InvalidParameterError

SENTENCE = re.compile(
    r"\s*(?:(?P<count>count)"
    r"|(?P<kind>sum|mean|median|histogram|table|grid)\s+of\s+(?P<columns>.+?)"
    r"|quantile\s+(?P<share>[\d.]+)\s+of\s+(?P<column>.+?))"
    r"(?:\s+where\s+(?P<where>.+?))?\s*",
    re.DOTALL,
)
CONDITION = re.compile(
    r"\s*(?P<name>.+?)(?:\s*(?P<sign>!=|>=|<=|=|<|>)\s*(?P<value>.+?)"
    r"|\s+in\s+(?P<values>.+?)|\s+from\s+(?P<low>.+?)\s+to\s+(?P<high>.+?))\s*"
)
FORMS = "count, sum of A, mean of A, median of A, quantile 0.9 of A, histogram of A, table of A, B or grid of A, B"


@dataclass(frozen=True, kw_only=True)
class Question:
    """A parsed question.

    >>> Question.parse("quantile 0.9 of cost where age from 30 to 39 and job in clerk, lawyer")
    Question(kind='quantile', columns=('cost',), share=0.9, where={'age': ('30', '39'), 'job': ['clerk', 'lawyer']})
    """

    kind: str
    columns: tuple[str, ...] = ()
    share: float | None = None
    where: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, sentence: str) -> Question:
        """Read a question, or say how to write one."""
        read = SENTENCE.fullmatch(sentence)
        if read is None:
            raise InvalidParameterError(f'The question is not understood; write {FORMS}, optionally "where ...".')
        where = parse_conditions(read["where"])
        if read["count"]:
            return cls(kind="count", where=where)
        if read["share"]:
            return cls(kind="quantile", columns=(read["column"],), share=_number(read["share"]), where=where)
        columns = tuple(each.strip() for each in read["columns"].split(","))
        if read["kind"] == "median":
            return cls(kind="quantile", columns=columns, share=0.5, where=where)
        return cls(kind=read["kind"], columns=columns, where=where)

    def ask(
        self, table: PrivateTable, *, epsilon: str, confidence: float, edges: Mapping[str, Sequence[Bound]]
    ) -> PrivateAnswer | PrivateCounts:
        """Ask a table."""
        if self.kind == "count":
            return table.count(self.where, epsilon=epsilon, confidence=confidence)
        if self.kind == "table":
            return table.contingency_table(
                self.columns, self.where, edges=edges, epsilon=epsilon, confidence=confidence
            )
        if self.kind == "grid":
            return table.grid(self.columns, self.where, epsilon=epsilon, confidence=confidence)
        if len(self.columns) > 1:
            raise InvalidParameterError(f"A {self.kind} takes one column; a table takes several.")
        (column,) = self.columns
        if self.kind == "histogram":
            return table.histogram(column, self.where, edges=edges.get(column), epsilon=epsilon, confidence=confidence)
        if self.kind == "quantile":
            return table.quantile(column, self.share or 0.0, self.where, epsilon=epsilon, confidence=confidence)
        asked = table.sum if self.kind == "sum" else table.mean
        return asked(column, self.where, epsilon=epsilon, confidence=confidence)


def parse_conditions(text: str | None) -> dict[str, object]:
    """Read what follows "where": one condition per column, joined by "and"."""
    found: dict[str, object] = {}
    for number, each in enumerate([] if text is None else re.split(r"\s+and\s+", text), 1):
        read = CONDITION.fullmatch(each)
        if read is None:
            raise InvalidParameterError(
                f"Condition {number} is not understood; write age > 60, sex = F, job in clerk,cook or age from 3 to 9."
            )
        name = read["name"].strip()
        if name in found:
            raise InvalidParameterError(f"Two conditions name {name!r}; give one per column, as in {name} from 3 to 9.")
        if read["sign"]:
            found[name] = (read["sign"], read["value"])
        elif read["values"]:
            found[name] = [value.strip() for value in read["values"].split(",")]
        else:
            found[name] = (read["low"], read["high"])
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidParameterError("The share of a quantile must be a number between 0 and 1.") from None
