"""Kuhn poker, as the rest of the house knows it."""

from cardsharp.server.hosted.game_entry import define_hosted_game

GAME = define_hosted_game(
    "kuhn", "Kuhn poker", "Kuhn poker: three cards, one bet, and bluffs.", "optimum"
)
