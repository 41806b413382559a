"""Small tables of persons, their visits and jobs, for tests of what is joined by a person."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

import sfumato as sf
from sfumato.tables.relational.relation import Relation

WARDS = {"heart": "inner", "lung": "inner", "skin": "outer"}
TREE = sf.hierarchies.Taxonomy({"inner": ["heart", "lung"], "outer": ["skin"]})
AGES = sf.hierarchies.Intervals(10)
PERSONS = sf.Schema(identifiers=["name"], quasi_identifiers=["age"], sensitive=["smokes"], hierarchies={"age": AGES})
VISITS = sf.Schema(quasi_identifiers=["ward", "year"], sensitive=["disease"], hierarchies={"ward": TREE})
JOBS = sf.Schema(quasi_identifiers=["job"])


def relations(people, visits, jobs=()):
    """Make tables of (age, smokes), (person, ward, year) and (person, job)."""
    ages = pa.table(
        {
            "person": list(range(10, 10 + len(people))),
            "name": [f"name {number}" for number in range(len(people))],
            "age": [age for age, _ in people],
            "smokes": [smokes for _, smokes in people],
        }
    )
    found = {"people": Relation(data=ages, schema=PERSONS)}
    if visits:
        person, ward, year = zip(*visits, strict=True)
        table = pa.table(
            {"person": [10 + each for each in person], "ward": ward, "year": year, "disease": ["flu"] * len(visits)}
        )
        found["visits"] = Relation(data=table, schema=VISITS)
    if jobs:
        person, job = zip(*jobs, strict=True)
        table = pa.table({"who": [str(10 + each) for each in person], "job": job})
        found["jobs"] = Relation(data=table, schema=JOBS, key="who")
    return found


def nameless(tables):
    """Leave out the names, as if the tables were published as they are."""
    people = tables["people"]
    return tables | {"people": replace(people, data=people.data.drop_columns(["name"]))}
