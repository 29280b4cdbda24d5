"""`cardsharp blef`: what its help says; the commands are those that every game has."""

import cyclopts

_EXAMPLES = """\
Examples:
  cardsharp blef versus --bots 3                you against three bots
  cardsharp blef serve                          the API, on port 8000
  cardsharp blef bot --url URL --game UUID      our bot joins and plays
  cardsharp blef bot --url URL                  it plays in public games
  cardsharp blef show last                      what our bot did there, and why
  cardsharp blef duel bayes greedy --pairs 100  who is stronger
All take --json."""

app = cyclopts.App(name="blef", help_format="plaintext", help_epilogue=_EXAMPLES)
