"""Contests: who meets whom next, and the director who sees that it is played."""
