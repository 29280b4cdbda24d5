"""Building blocks without dependencies: clock, queue, credentials, metrics and redaction."""
