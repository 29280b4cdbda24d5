"""Names that a user may give instead of the id of a match."""

LAST_MATCH = "last"  # the name of the match that was played last
