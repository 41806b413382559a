"""What models, measures and cells are called, in the words of some language; those of plugins in their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato._locale.messages import Messages, load_messages
from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models.base import GroupModel

ENGLISH = load_messages("en")
COMPARED = {
    ("min", False): "at least",
    ("min", True): "above",
    ("max", False): "at most",
    ("max", True): "below",
}
SHARES = {"loss", "ncp", "lost-precision", "classification-metric", "suppressed-share"}
BUCKET = "bucket"  # the role of columns that number buckets
FORMS = (
    "exact values",
    "masked values",
    "intervals",
    "taxonomy labels",
    "prefixes",
    "suffixes",
    "sets",
    "suppressed",
    "values of a bucket",
    "bucket numbers",
)
EXAMPLES = {"intervals": "[20, 30)", "prefixes": "537**", "suffixes": "**715", "sets": "{a, b}", "suppressed": "*"}


@dataclass(frozen=True, kw_only=True)
class MetricTexts:
    """A measure in words: its name, its meaning, and the ends of its scale."""

    title: str
    meaning: str
    scale: str
    share: bool = False


def model_texts(model: GroupModel | type[GroupModel], words: Messages = ENGLISH) -> ModelDescription:
    """Return a model's words in a language; its own English ones if that has none, and only its name without any.

    >>> from sfumato.models import KAnonymity
    >>> model_texts(KAnonymity, load_messages("zh")).sentence({"k": 5})
    '每条记录的准标识符发布值，至少与另外 4 条记录相同。'
    """
    return (model.description or ModelDescription(title=model.name)).translated(model.name, words)


def comparison_text(model: GroupModel) -> str:
    """Return how the level of a model is compared with its limit.

    >>> from sfumato.models import KAnonymity
    >>> comparison_text(KAnonymity(k=5))
    'at least'
    """
    return COMPARED[model.bound, model.strict]


def metric_texts(name: str, words: Messages = ENGLISH) -> MetricTexts:
    """Return the words for a measure; for an unknown measure, only its name."""
    said = {part: words.get(f"measures.{name}.{part}", "") for part in ("title", "meaning", "scale")}
    return MetricTexts(**{**said, "title": said["title"] or name}, share=name in SHARES)


def masking_step_texts(step: Mapping[str, Any], words: Messages) -> dict[str, Any]:
    """Return a masking step, as its record tells it, in the words of a language; its own words if that has none."""
    name = step["step"]
    return {
        **step,
        "title": words.get(f"masking.step.{name}", name),
        "words": words.get(f"steps.{name}.promise", step["words"]),
        "open": words.get(f"steps.{name}.open", step["open"]),
    }
