"""Taxonomies for the nominal attributes of the made-up census."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.samples.census import OCCUPATIONS_PER_FIELD, make_occupation_names

FIELDS_PER_SECTOR = 4
SEXES: Sequence[str] = ("female", "male")
RELATIONSHIP_TAXONOMY: Mapping[str, object] = {
    "family": {
        "head or spouse": ["head", "spouse"],
        "descendants": ["child", "child-in-law", "grandchild"],
        "ascendants": ["parent", "parent-in-law"],
        "others of the family": ["sibling", "sibling-in-law", "other relative"],
    },
    "no family": ["partner or friend", "other non-relative", "institutional inmate"],
}
MARITAL_STATUS_TAXONOMY: Mapping[str, object] = {
    "married": ["married, together", "married, spouse absent", "separated"],
    "not married": ["divorced", "widowed", "never married"],
}
RACE_TAXONOMY: Mapping[str, object] = {
    "one race": {
        "white or black": ["white", "black"],
        "Asian": ["Chinese", "Japanese", "other Asian"],
        "others of one race": ["American Indian", "other race"],
    },
    "several races": ["two races", "three or more races"],
}


def make_census_taxonomies(occupations: int) -> dict[str, Taxonomy]:
    """Return a taxonomy for every nominal attribute of a census with so many occupations.

    Occupations are in fields of 12, and these in sectors of 4 fields.

    >>> {name: tree.hierarchy.height for name, tree in make_census_taxonomies(216).items()}
    {'sex': 1, 'relationship': 3, 'marital_status': 2, 'race': 3, 'occupation': 3}
    """
    return {
        "sex": Taxonomy(SEXES),
        "relationship": Taxonomy(RELATIONSHIP_TAXONOMY),
        "marital_status": Taxonomy(MARITAL_STATUS_TAXONOMY),
        "race": Taxonomy(RACE_TAXONOMY),
        "occupation": Taxonomy(_occupation_sectors(occupations)),
    }


def _occupation_sectors(occupations: int) -> dict[str, dict[str, list[str]]]:
    sectors: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for at, name in enumerate(make_occupation_names(occupations)):
        field = at // OCCUPATIONS_PER_FIELD
        sectors[f"sector {field // FIELDS_PER_SECTOR + 1}"][f"field {field + 1:02d}"].append(name)
    return {sector: dict(fields) for sector, fields in sectors.items()}
