"""Stored matches of Euchre: replay and decisions."""
