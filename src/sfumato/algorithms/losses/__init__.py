"""Losses by which recodings can be compared, by name."""

from __future__ import annotations

from sfumato.algorithms.losses.average_class_size import AverageClassSizeLoss
from sfumato.algorithms.losses.base import LossSetting, RecodingLoss
from sfumato.algorithms.losses.classification import ClassificationLoss
from sfumato.algorithms.losses.discernibility import DiscernibilityLoss
from sfumato.algorithms.losses.entropy import EntropyLoss
from sfumato.algorithms.losses.loss import LeafLoss
from sfumato.algorithms.losses.precision import PrecisionLoss

LOSSES: dict[str, type[RecodingLoss]] = {
    loss.name: loss
    for loss in (
        LeafLoss,
        PrecisionLoss,
        DiscernibilityLoss,
        AverageClassSizeLoss,
        EntropyLoss,
        ClassificationLoss,
    )
}

__all__ = ["LOSSES", "LossSetting", "RecodingLoss"]
