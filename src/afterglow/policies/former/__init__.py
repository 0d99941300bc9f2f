"""Versions of policies that earlier code decided with: stored agents and experiments go on with them."""

__all__: list[str] = []
