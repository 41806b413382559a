"""Propose the scale of a column, the order of its values and a hierarchy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.coding.domain import nearly_unique
from sfumato.exceptions import HierarchyError
from sfumato.hierarchies import HierarchyBuilder, Intervals, Prefixes, Taxonomy
from sfumato.hierarchies.proposing import propose_hierarchy
from sfumato.inspection.names import NameHint, NameMeaning, is_code
from sfumato.inspection.orders import MAX_VALUES, find_known_order
from sfumato.inspection.profile import CellType, ValueProfile
from sfumato.inspection.reasons import Reason
from sfumato.schema.roles import Role
from sfumato.schema.scales import Scale
from sfumato.table.values import format_distinct_values

LONGEST_POSTCODE = 12
MAX_CATEGORIES = 1_000


class ProposedScale(NamedTuple):
    """A scale with its order or hierarchy, and the reasons for it."""

    scale: Scale
    order: tuple[str, ...] | None = None
    hierarchy: HierarchyBuilder | None = None
    reasons: tuple[Reason, ...] = ()


def propose_scale(
    profile: ValueProfile, hint: NameHint | None, role: Role, ordered: Sequence[str] | None = None
) -> ProposedScale:
    """Propose a scale; quasi-identifiers with a useful automatic hierarchy get it.

    `ordered` categories, which a dataframe can state, make it ordinal. A flat taxonomy says no more than a nominal
    scale, so none is proposed.
    """
    if ordered is not None and role is not Role.IDENTIFIER:
        present = set(profile.values.to_pylist())
        order = tuple(each for each in ordered if each in present)
        return ProposedScale(Scale.ORDINAL, order=order, reasons=(Reason("stated-order"),))
    meaning = hint.meaning if hint else None
    if role is Role.QUASI and meaning is NameMeaning.POSTCODE and profile.kind in {CellType.TEXT, CellType.WHOLE}:
        postcodes = _find_postcodes(profile)
        if postcodes is not None:
            return postcodes
    categories = _categories(profile, meaning, role) if profile.kind is CellType.WHOLE else None
    if categories is not None:
        return categories
    if profile.kind.ordered:
        hierarchy = _propose_useful_hierarchy(profile.values, profile.known_counts) if role is Role.QUASI else None
        told = _rounded(hierarchy) if isinstance(hierarchy, Intervals) else ()
        reasons = (Reason("contains", what=str(profile.kind)), *told)
        return ProposedScale(Scale.NUMERIC, hierarchy=hierarchy, reasons=reasons)
    if profile.kind is CellType.BOOLEAN:
        return ProposedScale(Scale.NOMINAL, reasons=(Reason("contains", what=str(profile.kind)),))
    return _text_scale(profile, role)


def _categories(profile: ValueProfile, meaning: NameMeaning | None, role: Role) -> ProposedScale | None:
    """Find whole numbers that stand for categories: codes of a classification are no amounts, however large."""
    code = role is not Role.IDENTIFIER and is_code(profile.name)
    if not code and (meaning is not NameMeaning.CATEGORY or profile.distinct > MAX_CATEGORIES):
        return None
    hierarchy = (
        _propose_useful_hierarchy(format_distinct_values(profile.values)) if code and role is Role.QUASI else None
    )
    reasons = (Reason("stands-for-categories"),)
    if hierarchy is not None:
        return ProposedScale(Scale.CATEGORICAL, hierarchy=hierarchy, reasons=reasons)
    if role is Role.QUASI and nearly_unique(profile.distinct, profile.rows):
        return None
    return ProposedScale(Scale.NOMINAL, reasons=reasons)


def _text_scale(profile: ValueProfile, role: Role) -> ProposedScale:
    words = profile.values.to_pylist() if profile.distinct <= MAX_VALUES else []
    order = find_known_order(words) if role is not Role.IDENTIFIER else None
    if order is not None:
        return ProposedScale(Scale.ORDINAL, order=tuple(order), reasons=(Reason("known-order"),))
    hierarchy = _propose_useful_hierarchy(profile.values) if role is Role.QUASI else None
    if isinstance(hierarchy, Prefixes):
        return ProposedScale(Scale.CATEGORICAL, hierarchy=hierarchy, reasons=(Reason("codes"),))
    return ProposedScale(Scale.NOMINAL)


def _find_postcodes(profile: ValueProfile) -> ProposedScale | None:
    codes = format_distinct_values(profile.values)
    if not pc.all(pc.match_substring_regex(codes, rf"^[0-9A-Za-z -]{{1,{LONGEST_POSTCODE}}}\z")).as_py():
        return None
    lengths = pc.min_max(pc.utf8_length(codes)).as_py()
    reasons = [Reason("postcodes")]
    if profile.kind is CellType.WHOLE and lengths["min"] < lengths["max"]:
        reasons.append(Reason("lost-zeros"))
    return ProposedScale(Scale.CATEGORICAL, hierarchy=Prefixes(), reasons=tuple(reasons))


def _rounded(intervals: Intervals) -> Iterator[Reason]:
    """Say where the narrowest intervals begin and end, so that what is published is rounded outward to there."""
    if intervals.cuts is not None:
        yield Reason("round-cuts", count=len(intervals.cuts[0]) - 1)
    elif intervals.is_date_based:
        yield Reason("round-units", what=f"{intervals.widths[0]}s")
    else:
        yield Reason("round-widths", width=intervals.widths[0])


def _propose_useful_hierarchy(values: pa.Array, counts: npt.NDArray[np.int64] | None = None) -> HierarchyBuilder | None:
    try:
        found = propose_hierarchy(values, counts)
    except HierarchyError:
        return None
    return None if isinstance(found, Taxonomy) else found
