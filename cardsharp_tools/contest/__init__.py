"""A contest on this machine."""
