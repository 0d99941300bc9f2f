"""Pages for admins: tokens, webhooks and the audit."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from afterglow.client.signatures import check_signature
from support.browser.visitor import Visitor
from testbed.service import Serving

Received = list[tuple[dict[str, str], bytes]]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("access") / "experiments.db", webhooks="any") as made:
        with made.client() as client:
            body = {"name": "shipping", "variants": ["49", "59"], "window": 3, "reward_max": 10.0}
            assert client.post("/v1/experiments", json=body).status_code == 201
        yield made


@pytest.fixture
def admin(serving: Serving) -> Iterator[Visitor]:
    made = Visitor(serving.address).sign_in(serving.token)
    yield made
    made.close()


@pytest.fixture
def receiver() -> Iterator[tuple[str, Received, list[int]]]:
    """An address that keeps what it is sent, and answers with the last of a list of codes."""
    received: Received = []
    codes = [204]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            received.append((dict(self.headers.items()), body))
            self.send_response(codes[-1])
            self.end_headers()

        def log_message(self, *given: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook?key=hidden", received, codes
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_token_is_created_shown_once_used_and_revoked(serving: Serving, admin: Visitor) -> None:
    admin.read("/tokens")
    admin.send("/tokens", label="till 4", scope_report="on", scope_read="on", experiments="shipping", expires="30d")
    shown = admin.page.soup.select_one("#secret")
    assert shown is not None
    token = shown.get_text()
    id_ = token.split("_")[1]
    assert admin.answer.headers["cache-control"] == "no-store"
    assert token.rpartition("_")[2] not in admin.read("/tokens").text
    row = f"tr:has(a[href='/tokens/{id_}/revoke'])"
    (listed,) = admin.page.soup.select(row)
    assert "till 4" in listed.get_text()
    assert "read, report" in listed.get_text()
    assert not listed.select("[data-label='last use'] time")
    with serving.client(token) as client:
        assert client.get("/v1/experiments/shipping").status_code == 200
        assert admin.read("/tokens").soup.select(f"{row} [data-label='last use'] time")  # it was used
        assert "can’t be undone" in admin.read(f"/tokens/{id_}/revoke").text
        admin.send(f"/tokens/{id_}/revoke")
        assert "Token revoked." in admin.page.text
        assert client.get("/v1/experiments/shipping").status_code == 401
    assert admin.read(f"/tokens/{id_}/revoke").text.find("no valid token") > 0
    text = admin.read("/audit").text
    who = serving.token.split("_")[1]
    assert f"first start ({who}) created token {id_} (till 4: read, report; shipping)" in text
    assert f"first start ({who}) revoked token {id_}" in text
    assert f"first start ({who}) signed in" in text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"label": "none"}, "a token needs a scope"),
        ({"scope_read": "on", "expires": "soon"}, "a lifetime is a number and s, m, h, d or w"),
        ({"scope_read": "on", "label": "\u202eevil"}, "label must be at most 200 printable characters"),
    ],
)
def test_a_wrong_token_is_refused_with_what_was_typed(admin: Visitor, fields: dict[str, str], said: str) -> None:
    admin.read("/tokens")
    assert said in admin.send("/tokens", **fields).text
    assert admin.answer.status_code == 422
    assert admin.form("/tokens").fields["label"] == fields.get("label", "")


def test_a_webhook_is_created_tested_and_deleted(
    serving: Serving, admin: Visitor, receiver: tuple[str, Received, list[int]]
) -> None:
    url, received, codes = receiver
    admin.read("/webhooks")
    admin.send("/webhooks", url=url, kinds="pin, unpin")
    shown = admin.page.soup.select_one("#secret")
    assert shown is not None
    secret = shown.get_text()
    (action,) = [form.action for form in admin.page.forms if form.action.endswith("/test")]
    assert "accepted an event of kind test" in admin.send(action).text
    headers, body = received[-1]
    check_signature(secret, body, headers)
    assert b'"kind":"test"' in body
    assert "hidden" not in admin.page.text  # the query may be a secret
    codes.append(500)
    assert "failed: it answered 500" in admin.send(action).text
    delete = action.replace("/test", "/delete")
    assert "Nothing more is sent to" in admin.read(delete).text
    admin.send(delete)
    assert "Webhook deleted." in admin.page.text
    assert "There is none yet." in admin.page.text
    assert "deleted webhook" in admin.read("/audit").text


def test_a_wrong_webhook_is_refused(admin: Visitor) -> None:
    for url, kinds, said in (
        ("ftp://shop.example", "", "url must begin with http:// or https://"),
        ("https://shop.example/hook", "pins", "kinds must be among create, "),
    ):
        admin.read("/webhooks")
        assert said in admin.send("/webhooks", url=url, kinds=kinds).text


@pytest.mark.parametrize(("scopes", "experiments"), [(("read", "operate"), None), (("admin",), ["shipping"])])
def test_only_admins_for_all_experiments_see_these_pages(
    serving: Serving, scopes: tuple[str, ...], experiments: list[str] | None
) -> None:
    visitor = Visitor(serving.address).sign_in(serving.new_token(*scopes, experiments=experiments))
    assert "/tokens" not in visitor.page.links
    for path in ("/tokens", "/webhooks", "/audit"):
        visitor.read(path)
        assert visitor.answer.status_code == 403
    visitor.close()


def test_the_bar_leads_admins_to_these_pages_and_names_their_token(admin: Visitor) -> None:
    page = admin.read("/")
    assert "/tokens" in page.links
    assert "first start (admin)" in page.text
