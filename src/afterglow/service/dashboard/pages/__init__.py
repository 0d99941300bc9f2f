"""Pages of the dashboard: functions from a visit to a response, one page per file."""
