"""Nim: a whole small game, as docs/add-a-game.md explains it."""
