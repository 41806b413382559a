"""Change the groups of a draft: one step, which returns the new draft."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.hierarchies.nesting import NestedGroups
    from sfumato.workbench.worker import WorkerState

CHANGE_NEEDS = ()
CHANGE_ASKS = ("hierarchy", "change")


def run_change(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:  # noqa: ARG001 - as all verbs are called
    """Return the draft after a change.

    The request has the draft as `hierarchy`, as a recipe holds it, and the `change`: what to `do`, the `labels` of
    values and groups that are marked, and where `to` or under which `name`.
    """
    from sfumato.hierarchies.nesting import NestedGroups
    from sfumato.hierarchies.settings import builder_from_dict

    groups = builder_from_dict(request["hierarchy"])
    change = request["change"]
    do = CHANGES.get(change.get("do"))
    labels = change.get("labels")
    if do is None or not isinstance(groups, NestedGroups) or not labels:
        raise InvalidParameterError("Mark a value or a group, then say what to do with it.")
    return {"hierarchy": do(groups, [str(label) for label in labels], change).to_dict()}


def _move_value(groups: NestedGroups, labels: list[str], change: Mapping[str, Any]) -> NestedGroups:
    from sfumato.hierarchies import add_values, move_label

    known = {label for level in groups.hierarchy.labels for label in level}
    new = [label for label in labels if label not in known]
    groups = add_values(groups, new, to=str(change["to"])) if new else groups
    for label in labels:
        groups = move_label(groups, label, to=str(change["to"])) if label in known else groups
    return groups


def _group_values(groups: NestedGroups, labels: list[str], change: Mapping[str, Any]) -> NestedGroups:
    from sfumato.hierarchies import add_values, create_group

    known = {label for level in groups.hierarchy.labels for label in level}
    new = [label for label in labels if label not in known]
    return create_group(add_values(groups, new) if new else groups, labels, str(change.get("name") or ""))


def _rename_group(groups: NestedGroups, labels: list[str], change: Mapping[str, Any]) -> NestedGroups:
    from sfumato.hierarchies import rename_group

    if len(labels) > 1:
        raise InvalidParameterError("Mark one group alone to rename it.")
    return rename_group(groups, labels[0], str(change.get("name") or ""))


def _merge_groups(groups: NestedGroups, labels: list[str], change: Mapping[str, Any]) -> NestedGroups:
    from sfumato.hierarchies import merge_groups

    return merge_groups(groups, labels, name=str(change["name"]) if change.get("name") else None)


def _split_group(groups: NestedGroups, labels: list[str], _: Mapping[str, Any]) -> NestedGroups:
    from sfumato.hierarchies import ungroup

    for label in labels:
        groups = ungroup(groups, label)
    return groups


def _shift_group(groups: NestedGroups, labels: list[str], change: Mapping[str, Any]) -> NestedGroups:
    from sfumato.hierarchies import shift_label

    return shift_label(groups, labels[0], by=-1 if change.get("by") == -1 else 1)


CHANGES: dict[str, Callable[[NestedGroups, list[str], Mapping[str, Any]], NestedGroups]] = {
    "move": _move_value,
    "group": _group_values,
    "rename": _rename_group,
    "merge": _merge_groups,
    "split": _split_group,
    "shift": _shift_group,
}
