"""Options of commands that pay for counts with differential privacy, and what they tell of the budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.refusals import DOES_NOT_HOLD, exit_with_error
from sfumato.exceptions import InfeasibleError, InvalidParameterError

if TYPE_CHECKING:
    from sfumato.queries.private.accountant import Accountant


AnotherBudget = Annotated[
    bool, typer.Option("--another-budget", help="Grant another budget for data that have one; both add up.")
]


@contextmanager
def in_words_of_options() -> Iterator[None]:
    """Name the option that asks for another budget as it is called here."""
    from sfumato.queries.private.accountant import AnotherBudgetError

    try:
        yield
    except AnotherBudgetError as error:
        said = str(error).replace("another_budget=True", "--another-budget")
        raise InvalidParameterError(said) from None


@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """What it costs, and who pays from which budget."""

    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="The epsilon to spend.", show_default=False)]
    analyst: Annotated[str, typer.Option(metavar="NAME", help="The name of the analyst.", show_default=False)]
    budget: Annotated[
        Path, typer.Option(metavar="FILE", help="The budget; made if --total is given.", show_default=False)
    ]
    total: Annotated[str | None, typer.Option(metavar="EPSILON", help="A new budget: the epsilon of all.")] = None
    per_analyst: Annotated[
        str | None, typer.Option(metavar="EPSILON", help="A new budget: the epsilon of each analyst.")
    ] = None
    another_budget: AnotherBudget = False

    @contextmanager
    def open(self, **more: Any) -> Iterator[dict[str, Any]]:
        """Give what every question needs to be paid; a budget that does not allow it ends the command."""
        from sfumato.queries.private.accountant import Accountant

        granted = {"total": self.total, "per_analyst": self.per_analyst, "another_budget": self.another_budget, **more}
        try:
            with in_words_of_options():
                accountant = Accountant(self.budget, **granted)
                yield {"epsilon": self.epsilon, "accountant": accountant, "analyst": self.analyst}
        except InfeasibleError as error:
            raise exit_with_error(str(error), DOES_NOT_HOLD) from None


def print_spent(accountant: Accountant, epsilon: str) -> None:
    """Print what was spent and what is left."""
    from sfumato.neighbors import describe_epsilon

    balance = accountant.balance()
    spent = describe_epsilon(epsilon, balance.neighbors)
    typer.echo(f"{spent} was spent, {balance.total.left} of {balance.total.budget} is left")
