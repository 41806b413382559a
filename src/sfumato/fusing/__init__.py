"""Stage FUSE: several owners of attributes of the same persons make one anonymous table without showing their own."""
