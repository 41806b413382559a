"""A hierarchy as a tree for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato._validation import require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sfumato.hierarchies.hierarchy import Hierarchy


def draw_hierarchy(hierarchy: Hierarchy, *, max_children: int = 6) -> str:
    """Draw a hierarchy with the number of leaves in every node.

    A node that only repeats the one below it is drawn once. Control characters are
    replaced by a question mark.

    Parameters
    ----------
    hierarchy : what to draw.
    max_children : how many children of a node to show; the rest is counted.

    Examples
    --------
    >>> from sfumato.hierarchies.taxonomy import Taxonomy
    >>> tree = Taxonomy({"lung": ["flu", "cold"], "gut": ["ulcer", "colic", "hernia"]})
    >>> print(draw_hierarchy(tree.hierarchy, max_children=2))
    * (5)
    ├── lung (2)
    │   ├── flu
    │   └── cold
    └── gut (3)
        ├── ulcer
        ├── colic
        └── … 1 more
    """
    require(max_children >= 1, "draw", "max_children", "at least 1", max_children)
    root = f"{hierarchy.labels[-1][0]} ({len(hierarchy.leaves)})"
    return "\n".join([root, *_draw_branches(hierarchy, hierarchy.height, 0, max_children)])


def _draw_branches(hierarchy: Hierarchy, level: int, node: int, most: int) -> Iterator[str]:
    children = _children(hierarchy, level, node)
    shown = children[:most]
    for child in shown:
        last = child == children[-1]
        at, number = _deepest_repeat(hierarchy, level - 1, child)
        yield ("└── " if last else "├── ") + _format_node(hierarchy, at, number)
        for line in _draw_branches(hierarchy, at, number, most) if at else ():
            yield ("    " if last else "│   ") + line
    if len(children) > len(shown):
        yield f"└── … {len(children) - len(shown)} more{_format_hidden_leaves(hierarchy, level, node, len(shown))}"


def _children(hierarchy: Hierarchy, level: int, node: int) -> range:
    start, stop = np.searchsorted(hierarchy.levels[level], [node, node + 1])
    below = hierarchy.levels[level - 1]
    return range(int(below[start]), int(below[stop - 1]) + 1) if stop > start else range(0)


def _deepest_repeat(hierarchy: Hierarchy, level: int, node: int) -> tuple[int, int]:
    while level:
        children = _children(hierarchy, level, node)
        if len(children) > 1 or hierarchy.labels[level - 1][children[0]] != hierarchy.labels[level][node]:
            break
        level, node = level - 1, children[0]
    return level, node


def _format_hidden_leaves(hierarchy: Hierarchy, level: int, node: int, shown: int) -> str:
    if level == 1:
        return ""
    first = _children(hierarchy, level, node)[shown]
    stop = np.searchsorted(hierarchy.levels[level], node + 1)
    return f" ({stop - np.searchsorted(hierarchy.levels[level - 1], first)})"


def _format_node(hierarchy: Hierarchy, level: int, node: int) -> str:
    label = "".join(letter if letter.isprintable() else "?" for letter in hierarchy.labels[level][node])
    if not level:
        return label
    start, stop = np.searchsorted(hierarchy.levels[level], [node, node + 1])
    return f"{label} ({stop - start})"
