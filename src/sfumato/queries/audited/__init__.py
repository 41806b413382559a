"""Stage QUERY: exact answers, denied where they and earlier ones would tell a person's value."""
