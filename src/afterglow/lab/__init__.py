"""The laboratory: studies, statistics, reports, and an environment for other people's agents."""
