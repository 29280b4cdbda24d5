"""Measurements as commands; they print figures and promise none."""
