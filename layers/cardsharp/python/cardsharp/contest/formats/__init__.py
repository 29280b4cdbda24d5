"""Formats of contests: who plays whom in each round, and the standings."""
