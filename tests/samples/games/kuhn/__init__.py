"""Kuhn poker: the smallest game with bluffs, hosted from its rules alone."""
