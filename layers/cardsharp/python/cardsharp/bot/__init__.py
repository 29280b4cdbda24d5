"""Ports to the cloud (queue, match log, secrets, clock) and their adapters; knows no game."""
