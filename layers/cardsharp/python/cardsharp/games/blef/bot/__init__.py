"""The bot that plays Blef at a service."""
