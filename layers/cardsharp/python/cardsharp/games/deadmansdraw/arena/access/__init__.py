"""Access to the arena: users, authentication, quotas and rate limits."""
