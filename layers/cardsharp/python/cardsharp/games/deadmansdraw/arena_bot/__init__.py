"""The bot that plays Dead Man's Draw at an arena."""
