"""Reasons are sentences that know their kind and their values."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path

import pytest

import sfumato
from sfumato._locale.messages import load_messages
from sfumato.hierarchies._round_intervals import NESTED
from sfumato.tables.inspection._patterns import DATES, PERSONAL
from sfumato.tables.inspection._profiles import CellType
from sfumato.tables.inspection._roles import Reason

KINDS = [kind for kind in load_messages("en").subset("reasons") if "." not in kind]
VALUES = {"where": "column name", "word": "zip", "distinct": 1200, "filled": 3400, "percent": 5, "what": "dates"}
VALUES |= {"other": "diagnosis", "width": 5, "count": 12}


@pytest.mark.parametrize("kind", KINDS)
def test_a_reason_is_its_sentence_and_can_be_copied(kind):
    fields = set(re.findall(r"{(\w+)", load_messages("en").entries[f"reasons.{kind}"]))
    given = {name: VALUES[name] for name in fields}
    reason = Reason(kind, **given)
    assert reason == load_messages("en")(f"reasons.{kind}", **given)
    assert "{" not in reason + reason.render(load_messages("zh"))
    for other in (copy.deepcopy(reason), pickle.loads(pickle.dumps(reason))):  # noqa: S301 - made here
        assert (other, other.code, dict(other.values)) == (reason, kind, given)


def test_every_sentence_is_used():
    package = Path(sfumato.__file__).parent / "tables" / "inspection"
    lines = [line for path in package.glob("*.py") for line in path.read_text("utf-8").splitlines()]
    code = "\n".join(line for line in lines if not line.lstrip().startswith(">>>"))  # an example uses no sentence
    assert [kind for kind in KINDS if f'"{kind}"' not in code] == []


def test_what_values_look_like_has_words_in_every_language():
    told = {pattern.looks_like for pattern in (*PERSONAL, DATES)} | {kind.value for kind in CellType}
    told |= {f"{unit}s" for unit in NESTED}
    assert told == set(load_messages("zh").subset("reasons.what"))


def test_a_reason_is_told_in_chinese():
    reason = Reason("looks-like", percent=97, what="e-mail addresses")
    assert reason.render(load_messages("zh")) == "97% 的不同取值看起来像电子邮箱地址"
    found = Reason("secret", where="column label", word="salary")
    assert (
        load_messages("zh")(f"reasons.{found.code}", **found.values)
        == "列标签含有“salary”：不应让任何人得知某人的这一信息"
    )
