"""HTTP client of an arena or service: transport, retries, budget and remote clock."""
