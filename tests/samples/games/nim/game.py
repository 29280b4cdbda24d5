"""Nim, as the rest of the house knows it."""

from cardsharp.server.hosted.game_entry import define_hosted_game

GAME = define_hosted_game("nim", "Nim", "Nim, a sample of a whole game.", "perfect")
