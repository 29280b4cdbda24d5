"""Matches in a browser on this machine: where they come from, and the pages over them."""
