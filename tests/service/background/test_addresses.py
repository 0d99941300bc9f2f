"""Webhooks lead to the public network, unless somebody says otherwise."""

import asyncio
from ipaddress import ip_address

import pytest

from afterglow.errors import BadValue
from afterglow.service.background.addresses import checked_url, located, public, refuse_private


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "::1", "fe80::1",
     "fd00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::", "fec0::1", "::7f00:1", "::a01:203",
     "192.88.99.1", "::ffff:192.88.99.1", "192.0.0.192", "168.63.129.16", "::ffff:0:127.0.0.1", "::ffff:168.63.129.16",
     "64:ff9b:1::7f00:1", "2001::7f00:1", "5f00::1", "3fff::1", "100::1", "198.18.0.1", "255.255.255.255", "240.0.0.1"],
)  # fmt: skip
def test_addresses_inside_are_recognised_in_every_disguise(address: str) -> None:
    assert not public(ip_address(address))


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "192.0.1.1", "168.63.129.17", "2606:4700:4700::1111", "2001:4860:4860::8888"]
)
def test_addresses_outside_are_open(address: str) -> None:
    assert public(ip_address(address))
    refuse_private("shop.example", [ip_address(address)], "public")


@pytest.mark.parametrize(
    "url",
    ["", "shop.example", "ftp://shop.example", "https://", "https://user:word@shop.example/", "https://shop.example/#x",
     "https://shop.example:99999/", "https://shop .example/", "http://localhost/", "http://a.localhost/",
     "http://[::1]/", "http://[::1/", "https://shop.example/" + "x" * 2000],
)  # fmt: skip
def test_an_address_that_cant_be_a_webhook_is_refused(url: str) -> None:
    with pytest.raises(BadValue, match=r"^url "):
        checked_url(url, "public")


def test_a_name_is_checked_by_where_it_leads_with_every_delivery() -> None:
    for name in ("127.1", "2130706433", "0x7f.1"):  # names that lead to this machine
        assert checked_url(f"http://{name}:8080/", "public")
        with pytest.raises(BadValue, match=r"127\.0\.0\.1\), which is not a public address"):
            asyncio.run(located(f"http://{name}:8080/", "public"))
    assert asyncio.run(located("http://127.0.0.1/hook?a=1", "any")) == (
        "http://127.0.0.1:80/hook?a=1", "127.0.0.1", "127.0.0.1",
    )  # fmt: skip
