"""The Blef service on this machine: an HTTP front before the function that the cloud runs."""
