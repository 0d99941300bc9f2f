"""Real parts that tests and benchmarks share: a service process, PostgreSQL, clients under faults."""
