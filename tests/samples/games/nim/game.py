"""Nim, as the rest of the house knows it."""

from cardsharp.host.listing import hosted

GAME = hosted("nim", "Nim", "Nim, a sample of a whole game.", "perfect")
