"""What a release has lost, measured on the published table."""

from sfumato.judging.measures.average_class_size import AverageClassSize
from sfumato.judging.measures.base import Metric, MetricInput
from sfumato.judging.measures.classification_metric import ClassificationMetric
from sfumato.judging.measures.discernibility import Discernibility
from sfumato.judging.measures.loss import Loss
from sfumato.judging.measures.lost_precision import LostPrecision
from sfumato.judging.measures.minimal_distortion import MinimalDistortion
from sfumato.judging.measures.ncp import NormalizedCertaintyPenalty
from sfumato.judging.measures.suppressed_share import SuppressedShare

__all__ = [
    "AverageClassSize",
    "ClassificationMetric",
    "Discernibility",
    "Loss",
    "LostPrecision",
    "Metric",
    "MetricInput",
    "MinimalDistortion",
    "NormalizedCertaintyPenalty",
    "SuppressedShare",
]
