"""Kuhn poker, as the rest of the house knows it."""

from cardsharp.host.listing import hosted

GAME = hosted("kuhn", "Kuhn poker", "Kuhn poker: three cards, one bet, and bluffs.", "optimum")
