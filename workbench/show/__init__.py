"""What every floor of the workbench shows people and programs, and how."""
