"""Bots that play card games from the cloud: what every Cardsharp function shares."""
