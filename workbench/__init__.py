"""Tools for this machine only: the local arena, the local cloud and the command line."""
