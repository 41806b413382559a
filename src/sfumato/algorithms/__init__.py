"""Stage SEARCH: algorithms, one file each. They find what to publish; they never judge it."""
