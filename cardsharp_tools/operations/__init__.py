"""A deployed stack as its operator sees and steers it: through AWS's API, from this machine."""
