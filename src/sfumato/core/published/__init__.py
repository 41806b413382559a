"""Read a published table back: what its cells mean, which records form groups. Works on anyone's table."""
