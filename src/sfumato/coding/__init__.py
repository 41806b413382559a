"""Where rows are touched, and nowhere else: coding, grouping and compiled kernels."""
