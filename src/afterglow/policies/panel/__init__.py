"""`panel-elimination`: units are compared within the same steps, and arms that fall behind are dropped."""

from afterglow.policies.panel.elimination import policy

__all__ = ["policy"]
