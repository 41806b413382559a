"""What measures and policies mean, in sentences for people who have not read the papers; models bring their own."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.models.base import PrivacyModel
from sfumato.models.words import ModelWords

COMPARED = {
    ("min", False): "at least",
    ("min", True): "above",
    ("max", False): "at most",
    ("max", True): "below",
}

ALWAYS_OPEN = (
    "The promise is about attackers who know quasi-identifiers. Those who know other columns may find records by them.",
    "It is about this table alone. Another release about the same people can undo it.",
    "It does not hide who is in the table, and it does not mean that nobody can ever be recognized.",
)


@dataclass(frozen=True, kw_only=True)
class MeasureWords:
    """A measure in words: its name, its meaning, and the ends of its scale."""

    title: str
    meaning: str
    scale: str
    share: bool = False


MEASURE_WORDS: dict[str, MeasureWords] = {
    "information-loss-rate": MeasureWords(
        title="Information loss rate",
        meaning="The mean distance of a record from the published center of its group, summed over the columns.",
        scale="0 like the original, at most the number of quasi-identifiers",
    ),
    "loss": MeasureWords(
        title="Loss",
        meaning="The share of its attribute's values that a published cell may represent, averaged over all "
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
    "lost-precision": MeasureWords(
        title="Lost precision",
        meaning="How high the published cells stand in their hierarchies, as a share of the height, averaged over all "
        "quasi-identifying cells; 100% minus this is Sweeney's precision.",
        scale="0% exact values, 100% nothing left",
        share=True,
    ),
    "minimal-distortion": MeasureWords(
        title="Minimal distortion",
        meaning="The number of quasi-identifying cells that do not show their value any more.",
        scale="0 if none is generalized, at most the number of these cells",
    ),
    "discernibility": MeasureWords(
        title="Discernibility",
        meaning="The number of records that each record is indistinguishable from, summed; a suppressed "
        "record counts as the whole table.",
        scale="between the number of records and its square",
    ),
    "average-class-size": MeasureWords(
        title="Average class size",
        meaning="Records per group; suppressed records, if any, form one more group.",
        scale="1 if every record is unique",
    ),
    "classification-metric": MeasureWords(
        title="Classification metric",
        meaning="The share of records that are left out or whose sensitive value is not the most frequent one of their "
        "group.",
        scale="0% groups tell the value of everybody in them, which is good for prediction and bad for these persons",
        share=True,
    ),
    "suppressed-share": MeasureWords(
        title="Suppressed share",
        meaning="The share of records that were left out.",
        scale="0% none, 100% all",
        share=True,
    ),
}

UTILITY_WORDS = {
    "mean-shift": "largest shift of a mean, in standard deviations; 0 is best",
    "covariance-error": "relative error of covariances; 0 is best",
    "correlation-difference": "largest difference of correlations; 0 is best",
    "tabulation-distance": "share of records in the wrong cell of a cross-tabulation, on average; 0 is best",
    "regression-overlap": "common share of the confidence intervals of regression coefficients; 1 is best",
}

STEP_WORDS = {
    "changed-cells": "The share of the cells that are not what they were",
    "scaled-change": "The mean change of a number, in standard deviations over the root of 2 (IL1s per cell)",
    "mean-shift": "The largest change of a mean, in standard deviations",
    "spread-change": "The largest relative change of a standard deviation",
    "correlation-change": "The largest change of a correlation",
    "interval-risk": "The share of persons whose masked numbers are all within 0.05 standard deviations of their own",
    "total-variation": "The largest difference between the shares of values before and after, summed and halved",
    "rank-shift": "How far values moved in rank on average, as a share of the records",
    "candidates": "How many records are within reach of a person in every column, on average",
    "intersection-hit": "The chance to take the person's own record out of these",
    "moved-units": "The share of the units that moved to another place",
    "risky-units": "How many units stood out at their place before",
    "stuck-units": "How many of these stayed, for want of a similar unit elsewhere",
    "stand-out-true": "The share of those who stand out at their published place that are really from there",
    "distance-change": "The largest change of a distance between two records, as a share of the largest distance",
    "known-records": "How many records an adversary knows, with their rows",
    "recovered": "The share of all other records that she computes from these, within 0.05 standard deviations",
    "length-link": "The share of persons whose record is found by its distance from the mean alone",
    "component-correlation": "How well columns guessed from the published numbers alone correlate with the true ones",
    "coded-cells": "How many cells lay beyond the bound",
    "largest-change": "The largest change, in bases",
    "hidden-cells": "How many cells are hidden",
    "hidden-share": "The share of the cells that are hidden",
    "cost": "The weights of the hidden cells, summed",
    "exposed-persons": "How many persons fit fewer than k of the published records",
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
FILE_WORDS = {
    "separator": "“{}” between cells",
    "encoding": "the encoding {}",
    "decimal": "“{}” as the decimal mark",
    "date_format": "days written {}",
}
FORM_WORDS = {
    "exact values": ("", "the value itself"),
    "masked values": ("", "a value that masking may have changed"),
    "intervals": (
        "[20, 30)",
        "is any value from 20 up to 30; a square bracket includes its end, a round one does not",
    ),
    "taxonomy labels": ("", "a broader term that may be any value below it"),
    "prefixes": ("537**", "is any value of five characters that begins with 537"),
    "suffixes": ("**715", "is any value of five characters that ends with 715"),
    "sets": ("{a, b}", "is one of the values listed"),
    "suppressed": ("*", "is any value, or none"),
    "values of a bucket": ("", "a value of some record in the same bucket; nobody can tell which"),
    "bucket numbers": ("", "records with the same number are in the same bucket; an empty cell is in none"),
}


def words_of(model: PrivacyModel) -> ModelWords:
    """Return a model's own words; of one that has none, only its name."""
    return model.words or ModelWords(title=model.name)


def compared(model: PrivacyModel) -> str:
    """Return how the level of a model is compared with its limit.

    >>> from sfumato.models import KAnonymity
    >>> compared(KAnonymity(k=5))
    'at least'
    """
    return COMPARED[model.bound, model.strict]


def measure_words(name: str) -> MeasureWords:
    """Return the words for a measure; for an unknown measure, only its name."""
    return MEASURE_WORDS.get(name, MeasureWords(title=name, meaning="", scale=""))
