"""Read a published table back: what its cells mean and which records form groups. Works on any table."""
