"""The HTTP service that answers a tournament coordinator's questions in Euchre."""
