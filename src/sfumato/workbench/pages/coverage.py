"""Which quasi-identifiers have values that their hierarchy misses: for the studio, and for the search to refuse."""

from __future__ import annotations

from typing import Any

from sfumato.workbench.desk import Session


def current_hierarchy(desk: Session, number: int) -> dict[str, Any] | None:
    """Return the hierarchy of a column as the recipe holds it; an order is an ordered group of single values."""
    from sfumato.hierarchies import OrderedGroups

    schema, name = desk.recipe.schema, desk.columns[number]
    if name in schema.hierarchies:
        return dict(schema.hierarchies[name].to_dict())
    if name in schema.orders:
        return OrderedGroups(schema.orders[name]).to_dict()
    return None


def quasi_identifier_numbers(desk: Session) -> list[int]:
    """Return the numbers of the quasi-identifiers, in the order of the table."""
    return [number for number, name in enumerate(desk.columns) if name in desk.recipe.schema.quasi_identifiers]


def hierarchy_coverage(desk: Session, number: int) -> dict[str, Any] | None:
    """Return how many values of a column are `uncovered`, or its `problem`; None if that is not known yet."""
    hierarchy = current_hierarchy(desk, number)
    if hierarchy is None:
        return {"uncovered": 0}
    seen = desk.result("preview", column=number, hierarchy=hierarchy)
    if seen is not None:
        return {"uncovered": len(seen["outline"]["uncovered"])}
    found: dict[str, Any] | None = desk.result("coverage", column=number, hierarchy=hierarchy)
    return found


def missing_coverage_requests(desk: Session) -> list[dict[str, Any]]:
    """Return the requests whose results are missing to tell the coverage of all quasi-identifiers."""
    return [
        {"column": number, "hierarchy": current_hierarchy(desk, number)}
        for number in quasi_identifier_numbers(desk)
        if hierarchy_coverage(desk, number) is None
    ]


def uncovered_columns(desk: Session) -> list[dict[str, Any]]:
    """Return the quasi-identifiers whose hierarchy is known to miss values: number, name, and how many."""
    found = []
    for number in quasi_identifier_numbers(desk):
        coverage = hierarchy_coverage(desk, number) or {}
        if coverage.get("uncovered") or "problem" in coverage:
            found.append({"number": number, "name": desk.columns[number], "values": coverage.get("uncovered", 0)})
    return found
