"""Signatures of webhooks."""

import pytest

from afterglow.client.signatures import check_signature, signature
from afterglow.errors import NotAllowed


def test_a_signature_holds_for_its_secret_its_body_and_its_time() -> None:
    body = b'{"seq": 1}'
    header = signature("secret", body, 1000.9)
    check_signature("secret", body, header, now=1200.0)
    for secret, sent, given, now in (
        ("other", body, header, 1000.0),
        ("secret", b'{"seq": 2}', header, 1000.0),
        ("secret", body, header.replace("t=1000", "t=1001"), 1000.0),
        ("secret", body, header, 1301.0),
        ("secret", body, header, 600.0),
        ("secret", body, "", 1000.0),
        ("secret", body, "t=é,v1=é", 1000.0),
    ):
        with pytest.raises(NotAllowed, match="don't act on it"):
            check_signature(secret, sent, given, now=now)
