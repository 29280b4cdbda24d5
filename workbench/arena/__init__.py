"""The arena on this machine: the competition's REST API and rules, without its account."""
