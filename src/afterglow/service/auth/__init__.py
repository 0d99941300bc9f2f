"""Authentication and authorisation: tokens, scopes and dashboard sessions."""
