"""Fixtures for live experiments, the service and its pages."""
