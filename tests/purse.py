"""An accountant without a file, for tests that ask very many questions."""

from __future__ import annotations

from sfumato.dp.accountant import Accountant


class Purse(Accountant):
    """An accountant without a file, which only counts."""

    def __init__(self):
        self.costs = []

    def bind_table(self, *_, **__):  # noqa: D102 - as that of the class
        pass

    def spend(self, analyst, epsilon, question, *, delta=0):  # noqa: D102 - as that of the class
        self.costs.append((analyst, epsilon, question, delta))
        return len(self.costs)

    def record_refusal(self, *refused):  # noqa: D102 - as that of the class
        self.costs.append(refused)
