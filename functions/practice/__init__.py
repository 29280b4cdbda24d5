"""Practice function."""
