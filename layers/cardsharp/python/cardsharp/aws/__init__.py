"""Adapters to AWS: clients, DynamoDB tables, SQS queues, SSM secrets and telemetry."""
