"""Which options some world has, by integer programs whose solutions are witnesses for all options that they contain."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.models.worlds.component import Component

NODES = 5_000  # of the search tree of one program, after which it is given up
HALF = 0.5


def possible_options(component: Component) -> list[list[bool]] | None:
    """Return for every unit which of its options some world has; None if a program was given up.

    Each program asks for a world with at least one option that no world has shown yet, and prefers worlds with many.
    When there is none left, all options without a witness are impossible. No world at all leaves nothing possible.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, vstack

    unit = np.repeat(np.arange(len(component.weights)), [len(each) for each in component.options])
    weights = np.array(component.weights, dtype=np.float64)
    uses = [(place, at) for at, option in enumerate(o for each in component.options for o in each) for place in option]
    rows, columns = (np.array([use[part] for use in uses], dtype=np.int64) for part in (0, 1))
    shape = len(component.capacities), len(unit)
    taken = csr_array((np.ones(len(uses)), (rows, columns)), shape=shape)
    chosen = csr_array((np.ones(len(unit)), (unit, np.arange(len(unit)))), shape=(len(weights), len(unit)))
    equal = np.concatenate([np.array(component.capacities, dtype=np.float64), weights])
    fixed = LinearConstraint(vstack([taken, chosen]), equal, equal)
    shown = np.zeros(len(unit), dtype=np.bool_)
    while not shown.all():
        news = (~shown).astype(np.float64)
        found = milp(
            -news,
            integrality=np.ones(len(unit), dtype=np.int64),
            bounds=Bounds(0, weights[unit]),
            constraints=[fixed, LinearConstraint(news[None, :], 1, np.inf)],
            options={"node_limit": NODES, "mip_rel_gap": HALF},
        )
        world = _rounded_solution(found.x)
        if world is None or not _is_world(world, fixed, equal):
            if found.status != _INFEASIBLE:
                return None
            break
        shown |= world > 0
    ends = np.cumsum([len(each) for each in component.options])
    return [each.tolist() for each in np.split(shown, ends[:-1])]


_INFEASIBLE = 2


def _rounded_solution(solution: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64] | None:
    return None if solution is None else np.round(solution)


def _is_world(world: npt.NDArray[np.float64], fixed: object, equal: npt.NDArray[np.float64]) -> bool:
    """Check a rounded solution, so that no witness is one by rounding only."""
    return bool(np.array_equal(fixed.A @ world, equal))  # type: ignore[attr-defined]  # its stubs leave it out
