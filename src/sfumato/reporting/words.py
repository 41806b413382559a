"""What models, measures and policies mean, in sentences for people who never read the papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class LevelWords:
    """What the level of a model counts, and how it is compared with the limit."""

    title: str
    level: str
    compared: str


@dataclass(frozen=True, kw_only=True)
class ModelWords(LevelWords):
    """A model in words: what it promises, what its level counts, and what it leaves open.

    `promise` is filled with the model's parameters; `limit` and `level` say how they are compared. `further` adds
    a sentence for each parameter that is given and not false.
    """

    promise: str
    open: str
    further: Mapping[str, str] = field(default_factory=dict)


GROUP = "every group of records with equal quasi-identifiers"
FLAGGED_BUCKET = "every bucket of flagged cells"

SHARE = "least share of what is asked for that the worst group reaches"

MODEL_WORDS: dict[str, ModelWords] = {
    "k-anonymity": ModelWords(
        title="k-anonymity",
        promise="Every record shares its published quasi-identifiers with at least {others}.",
        level="records in the smallest group",
        compared="at least",
        open="It says nothing about sensitive values: a group whose records all share one value gives that value away.",
        further={"quasi": "Only these quasi-identifiers are looked at, together: {quasi}."},
    ),
    "distinct-l-diversity": ModelWords(
        title="distinct l-diversity",
        promise=f"{GROUP.capitalize()} shows at least {{l}} different values of “{{sensitive}}”.",
        level="different values in the least diverse group",
        compared="at least",
        open="One value may be far more frequent than the others of its group, so that an attacker can be "
        "nearly sure of it.",
    ),
    "frequency-l-diversity": ModelWords(
        title="frequency l-diversity",
        promise=f"In {GROUP}, no value of “{{sensitive}}” holds more than one in {{l}} records.",
        level="records per record of the most frequent value, in the worst group",
        compared="at least",
        open="An attacker may still learn that a value is more likely for a person than it is in the whole table.",
    ),
    "entropy-l-diversity": ModelWords(
        title="entropy l-diversity",
        promise=f"In {GROUP}, the values of “{{sensitive}}” are at least as spread out as {{l}} equally "
        "frequent values.",
        level="effective number of values in the worst group",
        compared="at least",
        open="The most frequent value may hold more than one in l records of a group, so that a guess can be "
        "better than the number suggests.",
    ),
    "recursive-l-diversity": ModelWords(
        title="recursive (c,l)-diversity",
        promise=f"In {GROUP}, the most frequent value of “{{sensitive}}” stays below {{c}} times all values "
        "from rank {l} on together.",
        level="largest quotient of the most frequent value and the rare ones",
        compared="below",
        open="An attacker may still learn that a value is more likely for a person than it is in the whole table.",
    ),
    "t-closeness": ModelWords(
        title="t-closeness",
        promise=f"In {GROUP}, the values of “{{sensitive}}” are distributed as in the whole table, up to a "
        "distance of {t} ({distance}).",
        level="distance of the farthest group",
        compared="at most",
        open="It says nothing about who is in the table, and what the table tells about all people of a kind "
        "it also tells about each of them.",
    ),
    "p-sensitive-k-anonymity": ModelWords(
        title="p-sensitive k-anonymity",
        promise=f"{GROUP.capitalize()} holds at least {{k}} records and at least {{p}} different values of "
        "“{sensitive}”.",
        level=SHARE,
        compared="at least",
        open="The values of a group may be alike in meaning, or one of them far more frequent than the others.",
    ),
    "p-plus-sensitive-k-anonymity": ModelWords(
        title="p+-sensitive k-anonymity",
        promise=f"{GROUP.capitalize()} holds at least {{k}} records, with values of “{{sensitive}}” from at least "
        "{p} different categories.",
        level=SHARE,
        compared="at least",
        open="One category may be far more frequent than the others of its group, so that an attacker can be "
        "nearly sure of it.",
    ),
    "hpk-anonymity": ModelWords(
        title="(H,p,k)-anonymity",
        promise=f"{GROUP.capitalize()} holds at least {{k}} records, with at least {{p}} different values of "
        "“{sensitive}” on at least {h} levels of sensitivity.",
        level=SHARE,
        compared="at least",
        open="One level may be far more frequent than the others of its group, so that an attacker can be "
        "nearly sure of it.",
    ),
    "alpha-k-anonymity": ModelWords(
        title="(alpha,k)-anonymity",
        promise=f"{GROUP.capitalize()} holds at least {{k}} records, and no value of “{{sensitive}}” holds more than a "
        "share of {alpha} of them.",
        level=SHARE,
        compared="at least",
        open="An attacker may still learn that a value is more likely for a person than it is in the whole table.",
        further={"values": "Only values that were named are protected."},
    ),
    "confidence-bounding": ModelWords(
        title="confidence bounding",
        promise=f"In {GROUP}, values of “{{sensitive}}” hold at most this share of the records: {{bounds}}.",
        level="largest share, or quotient of a share and its bound, in the worst group",
        compared="at most",
        open="An attacker may still learn that a value is more likely for a person than it is in the whole table.",
    ),
    "ke-anonymity": ModelWords(
        title="(k,e)-anonymity",
        promise=f"{GROUP.capitalize()} shows at least {{k}} different numbers of “{{sensitive}}”, the largest at least "
        "{e} above the least.",
        level=SHARE,
        compared="at least",
        open="Most numbers of a group may lie close together, so that an attacker can be nearly sure of their size.",
    ),
    "epsilon-m-anonymity": ModelWords(
        title="(epsilon,m)-anonymity",
        promise=f"In {GROUP}, at most one in {{m}} records has a number of “{{sensitive}}” within {{epsilon}} of any "
        "number of the group.",
        level="records per record in the most crowded place of the worst group",
        compared="at least",
        open="An attacker may still learn that a range of numbers is more likely for a person than in the whole table.",
        further={"relative": "The distance is a share of that number."},
    ),
    "nt-closeness": ModelWords(
        title="(n,t)-closeness",
        promise=f"In {GROUP} of fewer than {{n}} records, the values of “{{sensitive}}” are distributed as in the "
        "whole table, up to a distance of {t} ({distance}).",
        level="distance of the farthest small group",
        compared="at most",
        open="It says nothing about large groups: what is true of that many people may be learned about each of them.",
    ),
    "beta-likeness": ModelWords(
        title="beta-likeness",
        promise=f"In {GROUP}, the share of a value of “{{sensitive}}” exceeds its share in the whole table by at most "
        "{beta} times the latter.",
        level="largest gain over the table, in the worst group",
        compared="at most",
        open="An attacker may still rule out values that are rare in a group or absent from it.",
        further={"enhanced": "Frequent values are bounded more tightly, so that none becomes certain."},
    ),
    "delta-disclosure": ModelWords(
        title="delta-disclosure privacy",
        promise=f"In {GROUP}, each value of “{{sensitive}}” is less than 2 to the power of {{delta}} times as "
        "frequent, or as rare, as in the whole table.",
        level="largest change from the table, in bits, in the worst group",
        compared="below",
        open="It says nothing about who is in the table.",
        further={"present_only": "Values that are absent from a group were not looked at."},
    ),
    "kl-anonymity": ModelWords(
        title="(k,l)-anonymity",
        promise="Nobody's record is found with a chance above one in {k}, and nobody's value of “{sensitive}” is "
        "learned with a chance above one in {l}.",
        level=SHARE,
        compared="at least",
        open="An attacker who knows the values of other persons in the same bucket or group can rule these out.",
    ),
    "xy-anonymity": ModelWords(
        title="(X,Y)-anonymity",
        promise=f"{GROUP.capitalize()} is linked to at least {{k}} different values of “{{y}}”.",
        level=SHARE,
        compared="at least",
        open="It says nothing about the other columns; and one value may be far more frequent than the others of its "
        "group, unless its share is bounded.",
        further={
            "x": "Only these quasi-identifiers are looked at, together: {x}.",
            "h": "No value holds more than a share of {h} of a group.",
        },
    ),
    "k-map": ModelWords(
        title="k-map",
        promise=f"{GROUP.capitalize()} fits at least {{k}} persons of the population that the records are drawn from.",
        level="persons whom the worst group fits",
        compared="at least",
        open="It does not protect persons who are known to be in the table: a group may hold a single record.",
        further={
            "fraction": "Persons are estimated from records, which are a share of {fraction} of the population; for a "
            "group, the estimate is too high with a probability of at most {alpha}."
        },
    ),
    "delta-presence": ModelWords(
        title="delta-presence",
        promise="Nobody of the population is known to be in the table with a probability below {delta_min} or above "
        "{delta_max}.",
        level=SHARE,
        compared="at least",
        open="It says nothing about sensitive values: a group whose records all share one value gives it away.",
    ),
}

# What models are made of that nobody promises alone.
PART_WORDS: dict[str, LevelWords] = {
    "distinct-categories": LevelWords(
        title="distinct categories",
        level="different categories or levels in the least diverse group",
        compared="at least",
    ),
    "least-range": LevelWords(
        title="range", level="largest less the least number, in the narrowest group", compared="at least"
    ),
    "least-presence": LevelWords(
        title="least presence", level="lowest probability of being in the table", compared="at least"
    ),
    "highest-presence": LevelWords(
        title="highest presence", level="highest probability of being in the table", compared="at most"
    ),
}

ALWAYS_OPEN = (
    "The promise speaks of attackers who know quasi-identifiers. Who knows other columns may find records by them.",
    "It speaks of this table alone. Another release about the same people can undo it.",
    "It does not hide who is in the table, and it does not say that nobody can ever be recognized.",
)


@dataclass(frozen=True, kw_only=True)
class MeasureWords:
    """A measure in words: its name, what it says, and where its scale begins and ends."""

    title: str
    meaning: str
    scale: str
    share: bool = False


MEASURE_WORDS: dict[str, MeasureWords] = {
    "information-loss-rate": MeasureWords(
        title="Information loss rate",
        meaning="The mean distance of a record to the published center of its group, summed over the columns.",
        scale="0 as the original, at most the number of quasi-identifiers",
    ),
    "loss": MeasureWords(
        title="Loss",
        meaning="How much of its attribute's values a published cell may stand for, averaged over all "
        "quasi-identifying cells.",
        scale="0% exact values, 100% nothing left",
        share=True,
    ),
    "ncp": MeasureWords(
        title="Normalized certainty penalty (NCP)",
        meaning="How wide the published cells are, as a share of their attribute's whole range, averaged over "
        "all quasi-identifying cells.",
        scale="0% exact values, 100% nothing left",
        share=True,
    ),
    "discernibility": MeasureWords(
        title="Discernibility",
        meaning="For every record the number of records that it cannot be told from, summed up; a suppressed "
        "record counts the whole table.",
        scale="between the number of records and its square",
    ),
    "average-class-size": MeasureWords(
        title="Average class size",
        meaning="Records per group; suppressed records, if any, are one more group.",
        scale="1 if every record stands alone",
    ),
    "suppressed-share": MeasureWords(
        title="Suppressed share",
        meaning="How many of the records were left out.",
        scale="0% none, 100% all",
        share=True,
    ),
}

MISSING_WORDS = {
    "own-value": "a missing cell counts as a value of its own, which equals only itself",
    "matches-all": "a missing cell may be anything: it matches every value of a quasi-identifier and never "
    "makes a group more diverse; records that are missing in all quasi-identifiers are counted for nobody else",
}

ROLE_WORDS = {
    "quasi": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
    "identifier": "identifier",
}
BUCKET = "bucket"  # the role of columns that number buckets

# A form of published cells: an example, and what it means.
FORM_WORDS = {
    "exact values": ("", "the value itself"),
    "intervals": (
        "[20, 30)",
        "is any value from 20 up to 30; a square bracket includes its end, a round one does not",
    ),
    "taxonomy labels": ("", "a broader term that stands for every value below it"),
    "prefixes": ("537**", "is any value of five characters that begins with 537"),
    "sets": ("{a, b}", "is one of the values listed"),
    "suppressed": ("*", "is any value, or none"),
    "values of a bucket": ("", "a value of some record of the same bucket, nobody knows which"),
    "bucket numbers": ("", "records with the same number are in the same bucket; an empty cell is in none"),
}


def model_words(name: str) -> ModelWords:
    """Return the words for a model; of one that is not known here, only its name."""
    plain = ModelWords(
        title=name,
        promise=f"Every group of records with equal quasi-identifiers keeps {name}.",
        level="level of the worst group",
        compared="limit",
        open="See the documentation of this model for what it leaves open.",
    )
    return MODEL_WORDS.get(name, plain)


def level_words(name: str) -> LevelWords:
    """Return the words for what a model, or a part of one, counts."""
    return PART_WORDS.get(name) or model_words(name)


def promise_sentence(name: str, parameters: Mapping[str, Any]) -> str:
    """Say what a model promises with these parameters.

    >>> promise_sentence("k-anonymity", {"k": 5})
    'Every record shares its published quasi-identifiers with at least 4 others.'
    """
    filled = {key: _shown(value) for key, value in parameters.items()}
    if "k" in parameters:
        others = int(parameters["k"]) - 1
        filled["others"] = "1 other" if others == 1 else f"{others} others"
    words = model_words(name)
    further = [sentence for key, sentence in words.further.items() if parameters.get(key)]
    return " ".join(sentence.format_map(filled) for sentence in (words.promise, *further))


def _shown(value: object) -> object:
    if isinstance(value, Mapping):
        return f"as given for {len(value)} values"
    if isinstance(value, list | tuple):
        return ", ".join(f"“{name}”" for name in value)
    return f"{value:g}" if isinstance(value, float) else value


def measure_words(name: str) -> MeasureWords:
    """Return the words for a measure; of one that is not known here, only its name."""
    return MEASURE_WORDS.get(name, MeasureWords(title=name, meaning="", scale=""))
