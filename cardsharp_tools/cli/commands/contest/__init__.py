"""`cardsharp contest` and its sub-commands."""
