"""Reasons are sentences that know their kind and their values."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path

import pytest

import sfumato
from sfumato.inspection.reasons import SENTENCES, Reason

VALUES = {"where": "column name", "word": "zip", "distinct": 1200, "filled": 3400, "percent": 5, "what": "dates"}


@pytest.mark.parametrize("kind", SENTENCES)
def test_a_reason_is_its_sentence_and_can_be_copied(kind):
    fields = set(re.findall(r"{(\w+)", SENTENCES[kind]))
    given = {name: VALUES[name] for name in fields}
    reason = Reason(kind, **given)
    assert reason == SENTENCES[kind].format(**given)
    for other in (copy.deepcopy(reason), pickle.loads(pickle.dumps(reason))):  # noqa: S301 - made here
        assert (other, other.kind, dict(other.values)) == (reason, kind, given)


def test_every_sentence_is_used():
    room = Path(sfumato.__file__).parent / "inspection"
    code = "".join(path.read_text("utf-8") for path in room.glob("*.py") if path.name != "reasons.py")
    assert [kind for kind in SENTENCES if f'"{kind}"' not in code] == []
