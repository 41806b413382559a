"""Read a series of releases for attacks: who is in which group, the truth, and what rows show beside the value."""

from __future__ import annotations

import numpy as np

from sfumato.attacks.series.setting import AttributeSeries, SeriesSetting, VisibleRows
from sfumato.coding.grouping import group_columns
from sfumato.exceptions import SchemaError
from sfumato.judging.series.versions import Versions, encode_texts_together, visible_columns
from sfumato.table.values import format_values


def read_series_setting(versions: Versions, *, targets: int, seed: int) -> SeriesSetting:
    """Read all releases; attributes that change are left out."""
    for each in versions.versions:
        if not each.evidence.published.num_rows:
            raise SchemaError(f"Of {each.name} no row is published; leave it out of the series.")
    schema = versions.schema
    permanent = [name for name in versions.attributes if name not in schema.transient]
    read = {name: _read(versions, name) for name in permanent}
    if versions.unplaced:
        raise SchemaError(
            f"{versions.unplaced:,} persons fit several groups of a release, so nothing tells who is where; give the "
            "correspondence of each release."
        )
    return SeriesSetting(read, targets=targets, seed=seed)


def _read(versions: Versions, name: str) -> AttributeSeries:
    """Read what all releases tell about one attribute, and the truth."""
    history = versions.history(name)
    assert history.truth is not None  # noqa: S101 - made from originals
    return AttributeSeries(history, history.truth.max(axis=0), _visible_rows(versions, name))


def _visible_rows(versions: Versions, name: str) -> tuple[VisibleRows, ...]:
    """Give what rows show beside the value a number; nothing if they show nothing."""
    shown = [each.evidence.published for each in versions.versions]
    stand = [visible_columns(table, versions.schema, name) for table in shown]
    names = [each for each in stand[0] if all(each in some for some in stand)]
    if not names:
        return ()
    coded = [encode_texts_together([format_values(table[each]) for table in shown]) for each in names]
    columns, widths = [np.concatenate(codes) for codes, _ in coded], [len(values) + 1 for _, values in coded]
    ends = np.cumsum([table.num_rows for table in shown])[:-1]
    seen = np.split(group_columns(columns, widths).labels.astype(np.int64), ends)
    groups = [each.groups_of(name) for each in versions.versions]
    return tuple(map(VisibleRows, groups, versions.coded(name)[0], seen))
