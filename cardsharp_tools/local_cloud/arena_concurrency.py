"""Concurrent executions that an arena in the cloud needs: one figure for preflight and costs."""

# A test measures those of a team: `cardsharp bot` looks for a match while it plays one. A client
# that sends one request after the other, as the starters do, takes one.
TEAM_EXECUTIONS = 2
DIRECTOR_EXECUTIONS = 2  # a tick, and a turn of a team that the stack plays; more turns wait


def arena_executions(teams: int) -> int:
    """Return how many functions of an arena run at once at most in a contest of so many teams."""
    return TEAM_EXECUTIONS * teams + DIRECTOR_EXECUTIONS
