"""Tools for Blef: the terminal, the page of a remote lobby, and the lab's adapter."""
