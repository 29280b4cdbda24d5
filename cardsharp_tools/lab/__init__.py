"""The lab: strategies against each other, in process and at full speed."""
