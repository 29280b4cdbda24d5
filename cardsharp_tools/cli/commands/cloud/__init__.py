"""`cardsharp cloud` and its sub-commands."""
