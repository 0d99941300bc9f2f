"""Charts of the dashboard: what templates draw, computed from steps and estimates."""
