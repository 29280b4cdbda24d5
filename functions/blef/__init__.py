"""The function of the Blef service."""
