"""The competition's server: its REST API, rules, long polls and pages, without its account."""
