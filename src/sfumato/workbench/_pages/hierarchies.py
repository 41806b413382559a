"""Hierarchies: how each quasi-identifier may become coarser; every kind of hierarchy can be made and changed here."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sfumato._locale.messages import Messages
from sfumato.hierarchies._steps import UNITS
from sfumato.workbench._session import Session

# Which quasi-identifiers have values that their hierarchy misses: for the studio, and for the search to refuse.


def current_hierarchy(desk: Session, number: int) -> dict[str, Any] | None:
    """Return the hierarchy of a column as the recipe holds it; an order is an ordered group of single values."""
    from sfumato.hierarchies.ordered_groups import OrderedGroups

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


TAB_BY_TYPE = {
    "intervals": "intervals",
    "dates": "intervals",
    "tree": "taxonomy",
    "order": "ordered-groups",
    "prefixes": "prefixes",
}
NUMBERS, DATES = ("whole numbers", "real numbers"), ("dates", "datetimes")
MAX_OPEN = 120  # values of a tree that is drawn unfolded


def page_context(desk: Session, say: Messages, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001 - as all pages are called
    """Arrange the quasi-identifiers, and for the chosen one its tabs, its draft and what the draft does."""
    numbers = quasi_identifier_numbers(desk)
    listed = [_column_entry(desk, number) for number in numbers]
    if not listed:
        return {"listed": [], "column": None, "uncounted": []}
    number = _chosen_column(listed, query.get("column", ""))
    saved = current_hierarchy(desk, number)
    tabs = _tabs(desk.inspection["attributes"][number]["kind"])
    own = _matching_tab(saved, tabs)
    tab = query["tab"] if query.get("tab") in tabs else own or tabs[0]
    asked = _tab_request(number, saved, tab, adopted=tab == own)
    after = numbers[numbers.index(number) + 1 :]
    return {
        "listed": listed,
        "column": {**desk.inspection["attributes"][number], "number": number},
        "tabs": tabs,
        "tab": tab,
        "asked": asked,
        "adopted": tab == own,
        "saved": saved,
        "is_hierarchy": desk.columns[number] in desk.recipe.schema.hierarchies,
        "seen": None if asked is None else _preview_context(desk.result("preview", **asked)),
        "units": list(UNITS),
        "uncounted": missing_coverage_requests(desk),
        "next": None if not after else {"number": after[0], "name": desk.columns[after[0]]},
        "fragment_of": {
            "attributes": {desk.columns[number]: desk.recipe.to_dict()["attributes"][desk.columns[number]]}
        },
    }


def _column_entry(desk: Session, number: int) -> dict[str, Any]:
    hierarchy, coverage = current_hierarchy(desk, number), hierarchy_coverage(desk, number)
    tabs = _tabs(desk.inspection["attributes"][number]["kind"])
    return {
        "number": number,
        "name": desk.columns[number],
        "tab": None
        if hierarchy is None
        else _matching_tab(hierarchy, tabs) or _matching_tab(hierarchy, list(TAB_BY_TYPE)),
        "levels": None if hierarchy is None else _height(desk, number),
        "coverage": coverage,
    }


def _height(desk: Session, number: int) -> int | None:
    """Return the number of levels of a hierarchy, as far as it is known without the values."""
    builder = desk.recipe.schema.hierarchies.get(desk.columns[number])
    settings = {} if builder is None else builder.to_dict()
    for name in ("widths", "cuts", "lengths"):
        if name in settings:
            return len(settings[name]) + 2
    tree = getattr(builder, "hierarchy", None)
    return None if tree is None else tree.height + 1


def _chosen_column(listed: Sequence[Mapping[str, Any]], wanted: str) -> int:
    """Return the column that is asked for, or the first with values left, or the first."""
    known = {str(each["number"]): each["number"] for each in listed}
    left = [each["number"] for each in listed if (each["coverage"] or {}).get("uncovered")]
    return int(known.get(wanted, (left or [listed[0]["number"]])[0]))


def _tabs(kind: str) -> list[str]:
    """Return the tabs that fit a kind of values."""
    ranges = ["intervals"] if kind in NUMBERS else ["dates"] if kind in DATES else []
    return [*ranges, "tree", "order", "prefixes", "file"]


def _matching_tab(hierarchy: Mapping[str, Any] | None, tabs: Sequence[str]) -> str | None:
    """Return the tab of a hierarchy, if there is one that fits."""
    return next((tab for tab in tabs if hierarchy and TAB_BY_TYPE.get(tab) == hierarchy["kind"]), None)


def _tab_request(number: int, saved: Mapping[str, Any] | None, tab: str, *, adopted: bool) -> dict[str, Any] | None:
    """Return the request for what a tab shows: what the recipe has, or else a proposal of its kind."""
    if tab == "file":
        return None
    asked: dict[str, Any] = {"column": number, "hierarchy": saved}
    return asked if adopted else {**asked, "kind": TAB_BY_TYPE[tab]}


def _preview_context(seen: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Give every branch a key that stays when others move, and list the groups that something can be moved to."""
    if seen is None or seen.get("outline") is None:
        return None if seen is None else dict(seen)
    branches = [_with_key(each) for each in seen["outline"]["branches"]]
    shown = list(_flatten_branches(branches))
    return {
        **seen,
        "branches": branches,
        "groups": [each["label"] for each in shown if each["level"]],
        "unfolded": len(shown) <= MAX_OPEN,
    }


def _with_key(branch: Mapping[str, Any]) -> dict[str, Any]:
    key = f"{zlib.crc32(branch['label'].encode()):08x}"
    return {**branch, "key": key, "children": [_with_key(each) for each in branch["children"]]}


def _flatten_branches(branches: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for each in branches:
        yield each
        yield from _flatten_branches(each["children"])
