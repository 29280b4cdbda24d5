"""Matches played through the whole path while everything around them fails."""
