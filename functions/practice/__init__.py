"""The practice function."""
