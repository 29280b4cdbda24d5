"""The HTTP edge that every game's service shares; it knows no game."""
