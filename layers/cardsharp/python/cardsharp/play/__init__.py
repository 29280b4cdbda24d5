"""Interfaces between games and strategies: strategies, decisions and simulation."""
