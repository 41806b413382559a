"""What Sfumato writes and says, fixed by seeds, secrets and dates: a move of code changes none of it."""
