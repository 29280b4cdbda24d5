"""Pages and charts of a contest."""
