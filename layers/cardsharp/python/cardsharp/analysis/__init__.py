"""Analysis of stored matches: replay, judged decisions, luck and ratings."""
