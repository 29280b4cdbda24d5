"""The function behind the HTTP API of any game."""
