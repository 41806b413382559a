"""The only place that touches rows: coding, grouping and compiled kernels."""
