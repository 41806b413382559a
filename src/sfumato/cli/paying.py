"""Options of commands that pay for counts with differential privacy, and what they tell of the budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.refusals import DOES_NOT_HOLD, refuse
from sfumato.exceptions import InfeasibleError

if TYPE_CHECKING:
    from sfumato.queries.private.accountant import Accountant


@dataclass(frozen=True, kw_only=True)
class Payment:
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

    @contextmanager
    def open(self, **more: Any) -> Iterator[dict[str, Any]]:
        """Give what every question needs to be paid; a budget that does not allow it ends the command."""
        from sfumato.queries.private.accountant import Accountant

        accountant = Accountant(self.budget, total=self.total, per_analyst=self.per_analyst, **more)
        try:
            yield {"epsilon": self.epsilon, "accountant": accountant, "analyst": self.analyst}
        except InfeasibleError as error:
            raise refuse(str(error), DOES_NOT_HOLD) from None


def tell_spent(accountant: Accountant, epsilon: str) -> None:
    """Print what was spent and what is left."""
    total = accountant.balance().total
    typer.echo(f"epsilon {epsilon} was spent, {total.left} of {total.budget} is left")
