"""Director function."""
