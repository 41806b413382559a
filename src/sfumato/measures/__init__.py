"""What a release has lost, measured on the published table."""

from sfumato.measures.average_class_size import AverageClassSize
from sfumato.measures.base import Measure, Measured
from sfumato.measures.discernibility import Discernibility
from sfumato.measures.loss import Loss
from sfumato.measures.ncp import NormalizedCertaintyPenalty
from sfumato.measures.suppressed_share import SuppressedShare

__all__ = [
    "AverageClassSize",
    "Discernibility",
    "Loss",
    "Measure",
    "Measured",
    "NormalizedCertaintyPenalty",
    "SuppressedShare",
]
