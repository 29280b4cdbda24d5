"""The alarms of template.yaml held against recorded metrics, as CloudWatch would do it."""
