"""Poller function."""
