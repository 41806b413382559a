"""What is kept of a group of records: their number, their sums, and their sums of products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.io._values import Numbers

Whole = npt.NDArray[np.int64]

MIN_DEVIATION = 1e-100  # a column that varies less counts as constant


def standard_deviations(values: Numbers) -> Numbers:
    """Return the standard deviation of every column, and 1 for a constant one."""
    return replace_tiny((values - values[0]).std(axis=0))


def replace_tiny(deviations: Numbers) -> Numbers:
    """Replace deviations too small to divide by with 1."""
    return np.where(deviations > MIN_DEVIATION, deviations, 1.0)


def standardize(values: Numbers, scales: Numbers) -> Numbers:
    """Return scaled deviations from the mean of all records; large numbers that differ little keep their digits."""
    shifted = values - values[0]
    return np.asarray((shifted - shifted.mean(axis=0)) / scales)


@dataclass(frozen=True, eq=False, repr=False)
class GroupStatistics:
    r"""Sizes, means and scatter of many groups at once [1]_.

    The method needs $r$, $Sum(i)$ and $Sum(i, j)$ of each group. They are stored as the mean $Sum(i)/r$ and the scatter
    $Sum(i,j) - Sum(i)\,Sum(j)/r$, which are equivalent and do not lose the digits of large numbers that differ little.

    Parameters
    ----------
    sizes : the number of records of every group.
    means : a row for every group.
    scatter : a matrix for every group, the sums of products of deviations from the mean.

    References
    ----------
    .. [1] Aggarwal, Yu, "A condensation approach to privacy preserving data mining", EDBT 2004.
       https://doi.org/10.1007/978-3-540-24741-8_12

    Examples
    --------
    >>> pair = GroupStatistics.from_rows(np.array([[1.0, 0.0], [3.0, 4.0]]), np.array([0, 0]), 1)
    >>> pair.means, pair.covariances
    (array([[2., 2.]]), array([[[1., 2.],
            [2., 4.]]]))
    """

    sizes: Whole
    means: Numbers
    scatter: Numbers

    @classmethod
    def from_rows(cls, values: Numbers, labels: Whole, groups: int) -> GroupStatistics:
        """Summarize records by the number of their group; no group is empty."""
        order = np.argsort(labels, kind="stable")
        values, labels = values[order], labels[order]
        sizes = np.bincount(labels, minlength=groups).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        shifted = values - values[0]
        shifts = np.add.reduceat(shifted, starts, axis=0) / sizes[:, None]
        deviations = shifted - shifts[labels]
        width = values.shape[1]
        scatter = np.empty((groups, width, width))
        for i in range(width):
            products = deviations[:, i:] * deviations[:, i : i + 1]
            scatter[:, i, i:] = scatter[:, i:, i] = np.add.reduceat(products, starts, axis=0)
        return cls(sizes, values[0] + shifts, scatter)

    @classmethod
    def from_sums(cls, sizes: Whole, sums: Numbers, products: Numbers) -> GroupStatistics:
        """Convert sums and sums of products as they are printed in the literature."""
        means = sums / sizes[:, None]
        return cls(sizes, means, products - sums[:, :, None] * means[:, None, :])

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def sums(self) -> Numbers:
        """Sum(i) of every group."""
        return np.asarray(self.means * self.sizes[:, None])

    @property
    def products(self) -> Numbers:
        """Sum(i, j) of every group."""
        return np.asarray(self.scatter + self.sums[:, :, None] * self.means[:, None, :])

    @property
    def covariances(self) -> Numbers:
        """Sum(i,j)/r - Sum(i) Sum(j)/r^2 of every group, symmetric to the last digit."""
        return np.asarray((self.scatter + self.scatter.swapaxes(1, 2)) / (2 * self.sizes[:, None, None]))

    def axes(self, scales: Numbers) -> tuple[Numbers, Numbers]:
        """Return the variances along the axes of every group, smallest first, and the axes as columns.

        Columns are divided by their scales first, so that their units do not matter. Variances that rounding made
        negative are 0, no axis leaves the plane of a constant column, and the largest component of every axis is
        positive.
        """
        covariances = self.covariances / (scales[:, None] * scales)
        variances, directions = np.linalg.eigh(covariances)
        directions[np.diagonal(covariances, axis1=1, axis2=2) == 0] = 0.0
        largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=1)[:, None], axis=1)
        directions = np.where(largest < 0, -directions, directions)
        return np.maximum(variances, 0.0), directions

    def split(self, scales: Numbers) -> tuple[GroupStatistics, GroupStatistics]:
        r"""Split every group along its longest axis, as if its records were spread evenly.

        The range along that axis is $R = \sqrt{12 \lambda}$; the means move by $R/4$ to both sides, $\lambda$ becomes
        $\lambda/4$, and the axes stay. Both halves together have the mean and the covariance of the whole.
        """
        variances, directions = self.axes(scales)
        step = directions[:, :, -1] * np.sqrt(12 * variances[:, -1:]) / 4 * scales
        variances[:, -1] /= 4
        scaled = directions * scales[None, :, None]
        covariances = (scaled * variances[:, None, :]) @ scaled.swapaxes(1, 2)
        first = (self.sizes + 1) // 2
        return (
            GroupStatistics(first, self.means - step, covariances * first[:, None, None]),
            GroupStatistics(self.sizes - first, self.means + step, covariances * (self.sizes - first)[:, None, None]),
        )
