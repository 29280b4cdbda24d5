"""Blef: rounds with few cards, solved exactly."""
