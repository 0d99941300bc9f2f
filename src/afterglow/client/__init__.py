"""Client of the service: get the current variant, report rewards, give commands.

Needs the extra `client` and nothing of the server. The variant is kept as long as the service allows; while it
can't be reached, the last one or a default is served. Rewards are buffered, delivered in the background and counted
once.
"""

try:
    import httpx  # noqa: F401
except ModuleNotFoundError as missing:
    from afterglow.errors import MissingExtra

    raise MissingExtra("the client", "client") from missing

from afterglow.client.async_client import AsyncClient, AsyncExperiment
from afterglow.client.client import Client, Experiment
from afterglow.client.delivery import Delivery
from afterglow.client.outbox import Refused
from afterglow.client.signatures import check_signature
from afterglow.client.variant import Current

__all__ = [
    "AsyncClient",
    "AsyncExperiment",
    "Client",
    "Current",
    "Delivery",
    "Experiment",
    "Refused",
    "check_signature",
]
