"""Signatures of webhooks."""

import pytest

from afterglow.client.signatures import check_signature, signed
from afterglow.errors import NotAllowed

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_a_signature_is_that_of_the_standard() -> None:
    made = signed(SECRET, b'{"test": 2432232314}', "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330.4)
    assert made == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }  # fmt: skip


@pytest.mark.parametrize("secret", [SECRET, "agwh_of_an_earlier_release"])
def test_a_signature_holds_for_its_secret_its_body_its_id_and_its_time(secret: str) -> None:
    body = b'{"seq": 1}'
    made = signed(secret, body, "shipping/1", 1000.9)
    check_signature(secret, body, {name.title(): value for name, value in made.items()}, now=1200.0)
    check_signature(secret, body, made | {"webhook-signature": f"v2,x {made['webhook-signature']}"}, now=1200.0)
    for used, sent, given, now in (
        ("other", body, made, 1000.0),
        (secret, b'{"seq": 2}', made, 1000.0),
        (secret, body, made | {"webhook-timestamp": "1001"}, 1000.0),
        (secret, body, made | {"webhook-id": "shipping/2"}, 1000.0),
        (secret, body, made, 1301.0),
        (secret, body, made, 600.0),
        (secret, body, {}, 1000.0),
        (secret, body, made | {"webhook-timestamp": "é", "webhook-signature": "v1,é"}, 1000.0),
    ):
        with pytest.raises(NotAllowed, match="don't act on it"):
            check_signature(used, sent, given, now=now)
