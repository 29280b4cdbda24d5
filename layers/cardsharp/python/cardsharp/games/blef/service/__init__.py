"""Blef's HTTP service."""
