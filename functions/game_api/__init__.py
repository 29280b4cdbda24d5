"""Lambda function for the HTTP API of any game."""
