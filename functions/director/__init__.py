"""The director function."""
