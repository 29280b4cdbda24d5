"""HTML pages of the arena."""
