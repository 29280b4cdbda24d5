"""The arena as a server on this machine."""
