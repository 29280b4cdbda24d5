"""Euchre: its rules, its players, and the service that a tournament's coordinator calls."""
