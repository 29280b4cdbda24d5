"""A game as its rules: service, bot, replay, drawing and judge that the house makes of them."""
