"""A proposed recipe as TOML, with the reasons as comments above the lines they explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato import __version__
from sfumato.cli.printing import printable
from sfumato.models.base import PrivacyModel
from sfumato.models.k_anonymity import KAnonymity
from sfumato.release.proposing import USUAL_K, propose_recipe

if TYPE_CHECKING:
    from sfumato.inspection.detect import Inspection
    from sfumato.table.read import Loaded


def commented_recipe(source: str, found: Inspection, loaded: Loaded) -> str:
    """Write a recipe that can be run on the inspected table as it stands, or edited first."""
    import tomli_w

    recipe = propose_recipe(found, loaded.table, reading=loaded.reading)
    content = recipe.to_dict()
    attributes, models = content.pop("attributes"), content.pop("models")
    algorithm = {"algorithm": content.pop("algorithm")}
    source_table = {"input": content.pop("input")}
    reasons = {each.name: each.reasons for each in found.proposals}
    parts = [
        _comment(
            f"Proposed by sfumato {__version__} for {source}: {found.rows:,} rows, {len(found.proposals):,} columns.",
            "Check every role, then run: sfumato anonymize FILE --recipe THIS --out DIR",
            "Roles: identifier (never published), quasi (others may know it; generalized),",
            "sensitive (nobody should learn it), insensitive (published unchanged).",
        ),
        tomli_w.dumps(content),
        _comment("The table, and how it is read.", *loaded.remarks) + tomli_w.dumps(source_table),
    ]
    parts += [
        _comment(*reasons[name]) + tomli_w.dumps({"attributes": {name: entry}}) for name, entry in attributes.items()
    ]
    parts += [
        _comment(*_about(model, found)) + "[[models]]\n" + tomli_w.dumps(entry)
        for model, entry in zip(recipe.models, models, strict=True)
    ]
    return "\n".join([*parts, tomli_w.dumps(algorithm)])


def _about(model: PrivacyModel, found: Inspection) -> list[str]:
    if isinstance(model, KAnonymity):
        few = [f"The table has only {found.rows} rows."] if found.rows < USUAL_K else []
        return ["Every group has at least k records.", *few]
    return [f"Every group has at least l different values of {model.attributes[0]!r}."]


def _comment(*lines: str) -> str:
    return "".join(f"# {printable(line)}\n" for line in lines)
