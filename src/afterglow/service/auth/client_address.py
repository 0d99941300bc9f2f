"""Where a call comes from, for limits per address. Addresses are kept in memory only: not stored, not logged."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from starlette.types import Scope

from afterglow.service.settings import networks

Address = IPv4Address | IPv6Address


class Proxies:
    """The proxies whose `X-Forwarded-For` is believed; from all others it is ignored, since anybody can send it."""

    def __init__(self, trusted: str = "") -> None:
        self.trusted = networks(trusted)

    def caller(self, scope: Scope) -> str:
        """The address that a call comes from; the network of 64 bits for IPv6, which one customer usually has."""
        peer = read((scope.get("client") or ("", 0))[0])
        if peer is None:
            return "unknown"
        found, sent = peer, scope["sent"].get(b"x-forwarded-for", b"").decode("latin-1")
        for part in reversed(sent.split(",")):
            further = read(part.strip())
            if further is None or not self.trusts(found):
                break
            found = further
        return str(IPv6Network((found, 64), strict=False) if isinstance(found, IPv6Address) else found)

    def trusts(self, address: Address) -> bool:
        return any(address in network for network in self.trusted)


def read(text: str) -> Address | None:
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (isinstance(found, IPv6Address) and found.ipv4_mapped) or found
