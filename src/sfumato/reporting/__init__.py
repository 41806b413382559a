"""Stage PUBLISH: the folders that go out and stay in, with the pages that explain them."""
