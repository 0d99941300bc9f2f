"""The HTTP API: routes by resource, their models, and the OpenAPI document."""
