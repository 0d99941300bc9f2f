"""Allowed addresses of webhooks, as a protection against server-side request forgery.

A name is resolved for every delivery and all its addresses are checked. The connection goes to an address that was
checked, so that the name can't resolve to another one in between.
"""

import asyncio
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from afterglow.errors import BadValue

LONGEST = 2000
LABEL = 63  # characters of each part of a host name
ANYWHERE = "any"
SPECIAL_4 = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
)  # fmt: skip  # all of IANA's registry of special purposes, multicast and reserved
SPECIAL_6 = ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")  # in 2000::/3
CLOUD = ("168.63.129.16/32",)  # public by number, yet a service of the cloud's host for its virtual machines
OPEN_6 = ip_network("2000::/3")  # the only part of IPv6 that is given out: all IPv4 in disguise but 6to4 lies elsewhere
CLOSED = tuple(ip_network(net) for net in (*SPECIAL_4, *SPECIAL_6, *CLOUD))


def checked_url(url: str, reach: str) -> str:
    """A URL that can be called; host names are resolved and checked at each delivery."""
    parts = split(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadValue(f"url must begin with http:// or https:// and name a host, got {url!r}")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise BadValue("url must have no user, password or fragment; deliveries are signed")
    if len(url) > LONGEST or not url.isascii() or not url.isprintable() or " " in url:
        raise BadValue(f"url must be at most {LONGEST:,} printable ASCII characters without spaces")
    if any(not 0 < len(label) <= LABEL for label in parts.hostname.removesuffix(".").split(".")):
        raise BadValue(f"url must name a host whose parts have 1 to {LABEL} characters, got {parts.hostname!r}")
    try:
        literal = [ip_address(parts.hostname)]
    except ValueError:
        literal = []
    refuse_private(parts.hostname, literal, reach)
    return url


def split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise BadValue(f"url can't be read: {error}") from error
    return parts


def refuse_private(host: str, found: Iterable[IPv4Address | IPv6Address], reach: str) -> None:
    """Refuse loopback and private addresses, unless any address is allowed."""
    if reach == ANYWHERE:
        return
    inside = [str(address) for address in found if not public(address)]
    if inside or host == "localhost" or host.endswith(".localhost"):
        raise BadValue(
            f"url points to {host} ({', '.join(inside) or 'this machine'}), which is not a public address; the "
            "setting webhooks = 'any' allows it"
        )


def public(address: IPv4Address | IPv6Address) -> bool:
    """Whether it is a public address, by a list of our own: what Python knows of it depends on its release."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return public(address.ipv4_mapped)
    if isinstance(address, IPv6Address) and address not in OPEN_6:
        return False
    return address.is_global and not any(address in net for net in CLOSED)


async def located(url: str, reach: str) -> tuple[str, str, str]:
    """The URL with an IP address as its host, the value of the Host header, and the name for TLS."""
    parts = split(url)
    host = str(parts.hostname)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    numbers = [ip_address(str(where[4][0]).partition("%")[0]) for where in found]
    refuse_private(host, numbers, reach)
    number = f"[{numbers[0]}]" if isinstance(numbers[0], IPv6Address) else str(numbers[0])
    direct = parts._replace(netloc=f"{number}:{port}")
    return direct.geturl(), parts.netloc, host
