"""Settings of the service, in order of precedence: flags, environment (`AFTERGLOW_*`), TOML file, defaults."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Any

from afterglow.checks import between, choice, whole
from afterglow.errors import BadFormat, BadValue, UnknownName, argument

PREFIX = "AFTERGLOW_"
LEVELS = ("debug", "info", "warning", "error")
MEANINGS = MappingProxyType({
    "db": "Database of the experiments: a SQLite file, or postgresql://….",
    "host": "Address to listen on.",
    "port": "Port to listen on; 0 chooses a free one.",
    "auth": "Require tokens; may be off on loopback addresses only.",
    "queue": "Maximum rewards waiting to be committed; more are refused with 503.",
    "workers": "Threads for calls that read or change experiments.",
    "streams": "Maximum event streams at the same time; four fifths of them with one token.",
    "connections": "Maximum connections at the same time; more are refused with 503.",
    "body_limit": "Maximum bytes of a request body.",
    "bodies": "Maximum bytes of all request bodies at the same time; more are refused with 503.",
    "time_limit": "Seconds for a call, for its headers and body to arrive, and for its response to be read.",
    "rate_limit": "Calls per second and token, with bursts of twice that; 0 sets no limit.",
    "max_age": "Seconds, 60 at most, for which clients may use an answer: an emergency command reaches them in it.",
    "stop_seconds": "Seconds to finish accepted work when stopping.",
    "metrics": "Access to /metrics: everybody (open), tokens with the scope read (token); auto: open on this machine.",
    "trusted_proxies": "Proxies whose X-Forwarded-For is believed: addresses or networks, with commas between them.",
    "webhooks": "Allowed webhook addresses: public, any, or off.",
    "log_level": "Minimum level of log messages; debug includes every request for a variant and every reward.",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    db: str = "experiments.db"
    host: str = "127.0.0.1"
    port: int = 8321
    auth: bool = True
    queue: int = 20_000
    workers: int = 8
    streams: int = 100
    connections: int = 5_000
    body_limit: int = 1 << 20
    bodies: int = 1 << 26
    time_limit: float = 10.0
    rate_limit: float = 10_000.0
    max_age: int = 60
    stop_seconds: float = 10.0
    metrics: str = "auto"
    trusted_proxies: str = ""
    webhooks: str = "public"
    log_level: str = "info"

    def __post_init__(self) -> None:
        if not self.db:
            raise BadValue(f"{argument('db')} must be a file or postgresql://…, got ''")
        within("port", self.port, 0, 65_535)
        within("queue", self.queue, 1000, 10_000_000)  # one full batch at least
        within("workers", self.workers, 1, 256)
        within("streams", self.streams, 0, 10_000)
        within("connections", self.connections, 1, 1_000_000)
        within("body_limit", self.body_limit, 1 << 10, 1 << 30)
        within("bodies", self.bodies, 1 << 10, 1 << 40)
        between("time_limit", self.time_limit, 0.05, 3600)
        between("rate_limit", self.rate_limit, 0, 1e9)
        within("max_age", self.max_age, 0, 60)
        between("stop_seconds", self.stop_seconds, 0.1, 3600)
        choice("metrics", self.metrics, ("auto", "open", "token"))
        networks(self.trusted_proxies)
        choice("webhooks", self.webhooks, ("public", "any", "off"))
        choice("log_level", self.log_level, LEVELS)
        if not self.auth and not loopback(self.host):
            raise BadValue(
                f"without tokens the service listens on loopback addresses only, got host {self.host!r}; "
                "leave auth on, or use host 127.0.0.1",
                field="host",
            )

    @property
    def metrics_need_token(self) -> bool:
        return self.metrics == "token" or (self.metrics == "auto" and not loopback(self.host))


def within(name: str, value: int, least: int, most: int) -> None:
    if not least <= whole(name, value, least) <= most:
        raise BadValue(f"{argument(name)} must be at most {most:,}, got {value:,}")


def networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """The networks that a text names, with commas between them; an address is a network of one."""
    try:
        return tuple(ip_network(one.strip()) for one in text.split(",") if one.strip())
    except ValueError as error:
        raise BadValue(
            f"{argument('trusted_proxies')} must be addresses or networks with commas between them, such as "
            f"10.0.0.5,10.1.0.0/16, got {text!r}"
        ) from error


def loopback(host: str) -> bool:
    """Whether an address is a loopback address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def settings_from(flags: Mapping[str, Any], environment: Mapping[str, str], file: str | Path | None) -> ServiceSettings:
    """The effective settings; flags that are None were not given."""
    config = file if file is not None else environment.get(f"{PREFIX}CONFIG")
    chosen: dict[str, Any] = read_file(Path(config)) if config else {}
    for name in TYPES:
        written = environment.get(PREFIX + name.upper())
        if written is not None:
            chosen[name] = read_text(name, written, PREFIX + name.upper())
    return ServiceSettings(**{**chosen, **{name: value for name, value in flags.items() if value is not None}})


def read_file(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFormat(f"{path} is not TOML: {error}") from error
    for name, value in values.items():
        if name not in TYPES:
            raise UnknownName("setting", name, TYPES, f"available in {path}: {', '.join(TYPES)}")
        fits = isinstance(value, TYPES[name]) or (TYPES[name] is float and isinstance(value, int))
        if not fits or (isinstance(value, bool) and TYPES[name] is not bool):
            raise BadValue(f"{argument(name)} in {path} must be {WORDS[TYPES[name]]}, got {value!r}")
    return values


def read_text(name: str, text: str, where: str) -> Any:
    """A value of the environment in the type of its setting."""
    kind = TYPES[name]
    if kind is bool:
        if text.lower() not in YES_NO:
            raise BadValue(f"{where} must be true or false, got {text!r}")
        return YES_NO[text.lower()]
    try:
        return kind(text)
    except ValueError as error:
        raise BadValue(f"{where} must be {WORDS[kind]}, got {text!r}") from error


TYPES: Mapping[str, type] = {each.name: type(each.default) for each in fields(ServiceSettings)}
WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
YES_NO = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
