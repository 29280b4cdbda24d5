"""Contests of any game: formats, their director, practice, what they keep, and their page."""
