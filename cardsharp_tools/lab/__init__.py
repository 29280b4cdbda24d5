"""Lab: it measures strategies against each other, in process and at full speed."""
