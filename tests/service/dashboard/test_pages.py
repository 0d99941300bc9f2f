"""Who gets into the dashboard, and what a page may do there."""

import re
from collections.abc import Iterator
from itertools import pairwise
from time import monotonic

import httpx
import pytest

from afterglow.policies.registry import DEFAULT, named, names
from support.browser.visitor import START, Page, Visitor
from testbed.service import Serving, command

NAMES = {"shipping": ["49", "59", "69"], "hidden": ["a", "b"]}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("pages") / "experiments.db") as made:
        with made.client() as client:
            for name, variants in NAMES.items():
                body = {"name": name, "variants": variants, "window": 3, "reward_max": 10.0, "step_seconds": 3600}
                assert client.post("/v1/experiments", json=body).status_code == 201
        yield made


@pytest.fixture
def visitor(serving: Serving) -> Iterator[Visitor]:
    made = Visitor(serving.address)
    yield made
    made.close()


def cookie(visitor: Visitor, name: str) -> str:
    return next(line for line in visitor.answer.history[0].headers.get_list("set-cookie") if line.startswith(name))


def test_a_visitor_is_led_to_the_door_and_back(serving: Serving, visitor: Visitor) -> None:
    visitor.read("/experiments/shipping?until=5")
    assert visitor.path().startswith("/sign-in?next=")
    visitor.send("/sign-in", token=f" {serving.token}\n")
    assert visitor.path() == "/experiments/shipping?until=5"


def test_a_part_that_is_asked_for_too_late_leads_back_to_its_page(visitor: Visitor) -> None:
    asked = {"HX-Request": "true", "HX-Current-URL": f"{visitor.client.base_url}/experiments/shipping?until=5"}
    answer = visitor.client.get("/experiments/shipping/changes?seen=x", headers=asked)
    assert answer.status_code == 204
    assert answer.headers["hx-redirect"] == "/sign-in?next=/experiments/shipping%3Funtil%3D5"


def test_the_session_s_cookie_is_kept_from_scripts_and_other_sites(serving: Serving, visitor: Visitor) -> None:
    visitor.sign_in(serving.token)
    sent = cookie(visitor, "afterglow_session")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in sent.split(";")}
    assert "Secure" not in sent  # this service is reached without TLS
    assert serving.token.rpartition("_")[2] not in sent


@pytest.mark.parametrize("headers", [{"Origin": "https://experiments.example"}, {"X-Forwarded-Proto": "https"}])
def test_the_cookie_of_a_visitor_by_tls_is_for_tls_alone(
    serving: Serving, visitor: Visitor, headers: dict[str, str]
) -> None:
    visitor.read("/sign-in")
    visitor.send("/sign-in", headers, token=serving.token)
    assert "Secure" in cookie(visitor, "afterglow_session")


def test_a_session_is_no_token_and_a_token_is_no_session(serving: Serving, visitor: Visitor) -> None:
    visitor.sign_in(serving.token)
    id_, _, secret = visitor.client.cookies["afterglow_session"].partition(".")
    with serving.client(f"ag_{id_}_{secret}") as client:
        assert client.get("/v1/experiments").status_code == 401
    for forged in (serving.token, f"{id_}.x", f"{id_}.", "." * 200, "x" * 5000):
        other = httpx.get(f"{serving.address}/", cookies={"afterglow_session": forged}, trust_env=False)
        assert other.headers["location"] == "/sign-in"


def test_who_signs_out_is_out_with_every_copy_of_the_cookie(serving: Serving, visitor: Visitor) -> None:
    visitor.sign_in(serving.token)
    copy = visitor.client.cookies["afterglow_session"]
    visitor.send("/sign-out")
    assert visitor.path() == "/sign-in"
    assert "afterglow_session" not in visitor.client.cookies
    visitor.client.cookies.set("afterglow_session", copy)
    visitor.read("/")
    assert visitor.path() == "/sign-in"


def test_sessions_are_listed_can_be_revoked_and_leave_no_trace(serving: Serving, visitor: Visitor) -> None:
    def listed() -> list[str]:
        rows = command("token", "list", "--db", serving.db).stdout.splitlines()
        return [row.split()[0] for row in rows if "dashboard, signed in with" in row]

    before = set(listed())
    visitor.sign_in(serving.token)
    (session,) = set(listed()) - before
    visitor.send("/sign-out")
    assert session not in listed()
    visitor.sign_in(serving.token)
    (session,) = set(listed()) - before
    command("token", "revoke", "--db", serving.db, session)
    until = monotonic() + START
    while visitor.path() != "/sign-in":
        visitor.read("/")
        assert monotonic() < until
    visitor.send("/sign-in", token=serving.token)
    assert session not in listed()


@pytest.mark.parametrize("token", ["", "ag_x_y", "nonsense", "ag_" + "a" * 500])
def test_a_wrong_token_is_refused_beside_its_field(visitor: Visitor, token: str) -> None:
    visitor.read("/sign-in")
    page = visitor.send("/sign-in", token=token)
    assert visitor.answer.status_code == 401
    assert "unknown token: mistyped, expired or revoked" in page.text
    assert "afterglow_session" not in visitor.client.cookies


def test_a_token_that_may_not_read_opens_no_page(serving: Serving, visitor: Visitor) -> None:
    token = serving.new_token("decide", "report")
    visitor.sign_in(token)
    assert visitor.answer.status_code == 403
    assert "this token has no read access" in visitor.page.text


def test_a_session_ends_with_its_token(serving: Serving, visitor: Visitor) -> None:
    token = serving.new_token("read")
    visitor.sign_in(token)
    assert visitor.path() == "/"
    command("token", "revoke", "--db", serving.db, token.split("_")[1])
    with serving.client(token) as client:
        until = monotonic() + START
        while client.get("/v1/experiments").status_code == 200:
            assert monotonic() < until
    visitor.read("/")
    assert visitor.path() == "/sign-in"
    assert "Your session has ended" in visitor.page.text


def test_a_mistyped_address_is_a_page_for_browsers_and_a_document_for_programs(visitor: Visitor) -> None:
    visitor.read("/experimnets", Accept="text/html,*/*")
    assert visitor.answer.status_code == 404
    assert "there is nothing at /experimnets" in visitor.page.text.lower()
    assert visitor.client.get("/experimnets").headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/experiments/shipping/nothing", "/ofrep/v1/nothing"])
def test_a_mistyped_address_of_a_call_is_the_same_page_and_needs_no_token(
    serving: Serving, visitor: Visitor, path: str
) -> None:
    visitor.sign_in(serving.token).read(path, Accept="text/html,*/*")
    assert visitor.answer.status_code == 404
    assert f"there is nothing at {path}" in visitor.page.text.lower()
    assert "/tokens" in visitor.page.links
    program = visitor.client.get(path)
    assert (program.status_code, program.headers["content-type"]) == (401, "application/problem+json")
    for known in ("/v1/experiments", "/v1/experiments/shipping/current", "/v1/experiments/shipping/rewards"):
        assert visitor.client.get(known, headers={"Accept": "text/html"}).status_code == 401


def test_the_pages_about_the_api_have_the_navigation_of_whoever_reads_them(serving: Serving, visitor: Visitor) -> None:
    for path in ("/docs", "/problems/overloaded"):
        signed_out = visitor.read(path)
        assert "/new" not in signed_out.links
        assert not signed_out.forms
    visitor.sign_in(serving.token)
    for path in ("/docs", "/problems/overloaded"):
        signed_in = visitor.read(path)
        assert {"/", "/new", "/plan", "/tokens", "/docs"} <= set(signed_in.links)
        assert [form.action for form in signed_in.forms] == ["/sign-out"]
    visitor.read("/docs")
    visitor.send("/sign-out")
    assert "/new" not in visitor.read("/docs").links


def test_the_form_has_recommended_policies_first_and_all_others_after_them(serving: Serving, visitor: Visitor) -> None:
    groups = visitor.sign_in(serving.token).read("/new").soup.select("#policy optgroup")
    assert [group["label"] for group in groups] == ["Recommended", "Others"]
    first, others = ([str(one["value"]) for one in group.select("option")] for group in groups)
    assert first[0] == DEFAULT
    assert sorted(first + others) == sorted(name for name in names() if not named(name).privileged)


def test_nobody_is_led_to_another_site(serving: Serving, visitor: Visitor) -> None:
    visitor.read("/sign-in?next=//elsewhere.example/")
    visitor.send("/sign-in", token=serving.token)
    assert visitor.path() == "/"


def test_forms_of_other_sites_are_refused(serving: Serving, visitor: Visitor) -> None:
    visitor.sign_in(serving.token)
    visitor.read("/experiments/shipping/actions/pause")
    action = "/experiments/shipping/actions/pause"
    other = Visitor(serving.address).sign_in(serving.token)
    stranger = other.read(action).forms[-1].fields["mark"]
    for mark in ("", "0" * 64, "é", stranger):
        assert "was sent from another site" in visitor.send(action, reason="a trick", mark=mark).text
        assert visitor.answer.status_code == 403
        visitor.read(action)
    visitor.send(action, {"Sec-Fetch-Site": "cross-site"}, reason="a trick")
    assert visitor.answer.status_code == 403
    bare = visitor.client.post(action, data={"reason": "a trick"})
    assert bare.status_code == 403
    other.close()
    with serving.client() as client:
        assert client.get("/v1/experiments/shipping").json()["status"]["phase"] == "running"


def test_signing_in_needs_a_form_of_ours_too(serving: Serving, visitor: Visitor) -> None:
    answer = visitor.client.post("/sign-in", data={"token": serving.token})
    assert answer.status_code == 403
    assert "afterglow_session" not in visitor.client.cookies


@pytest.mark.parametrize(
    ("media", "body", "status"),
    [
        ("application/json", b"{}", 415),
        ("application/x-www-form-urlencoded", b"reason=%ff", 400),
        ("application/x-www-form-urlencoded", b"a=1&" * 60, 400),
        ("application/x-www-form-urlencoded", b"reason=" + b"a" * 100_000, 413),
    ],
)
def test_a_form_that_is_none_is_refused_with_a_page(visitor: Visitor, media: str, body: bytes, status: int) -> None:
    answer = visitor.client.post("/sign-in", content=body, headers={"Content-Type": media})
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")


def test_scopes_decide_which_buttons_there_are(serving: Serving, visitor: Visitor) -> None:
    visitor.sign_in(serving.new_token("read"))
    assert not [link for link in visitor.read("/experiments/shipping").links if "/actions/" in link]
    assert "/new" not in visitor.page.links
    for path in ("/experiments/shipping/actions/pin", "/new"):
        visitor.read(path)
        assert visitor.answer.status_code == 403
    operator = Visitor(serving.address).sign_in(serving.new_token("read", "operate"))
    assert [link for link in operator.read("/experiments/shipping").links if link.endswith("/actions/pin")]
    assert "/new" not in operator.page.links
    operator.close()


def test_a_token_for_one_experiment_shows_that_one(serving: Serving, visitor: Visitor) -> None:
    visitor.sign_in(serving.new_token("read", "operate", experiments=["shipping"]))
    assert "/experiments/shipping" in visitor.page.links
    assert "hidden" not in visitor.page.text
    for path in ("/experiments/hidden", "/experiments/hidden/totals", "/experiments/hidden/actions/pin"):
        visitor.read(path)
        assert visitor.answer.status_code == 403


@pytest.mark.parametrize("path", ["/", "/sign-in", "/new", "/plan", "/tokens", "/webhooks", "/audit",
                                  "/experiments/shipping", "/experiments/shipping/actions/stop",
                                  "/experiments/shipping/steps/0", "/experiments/shipping/log",
                                  "/experiments/none-such", "/docs", "/problems/overloaded"])  # fmt: skip
def test_every_page_keeps_to_itself(serving: Serving, path: str) -> None:
    visitor = Visitor(serving.address)
    if path != "/sign-in":
        visitor.sign_in(serving.token)
    page = visitor.read(path)
    policy = visitor.answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert visitor.answer.headers["cache-control"] == "no-store"
    assert page.inline == []
    assert "<style" not in visitor.answer.text
    assert "<script>" not in visitor.answer.text
    assert page.loads
    assert all(one.startswith("/") and not one.startswith("//") for one in [*page.loads, *page.links] if one[0] != "#")
    markup = re.sub(r"<pre.*?</pre>", "", visitor.answer.text, flags=re.DOTALL)  # without examples of JSON
    assert "http" not in markup.replace(serving.address, "").replace("http-equiv", "")
    for address in page.loads:
        assert visitor.client.get(address).status_code in (200, 204), address
    visitor.close()


def test_every_control_has_a_label(serving: Serving, visitor: Visitor) -> None:
    visitor.sign_in(serving.token)
    pages = [
        "/new",
        "/tokens",
        "/webhooks",
        *(f"/experiments/shipping/actions/{action}" for action in ("pin", "void", "stop", "disable")),
    ]
    for path in pages:
        page: Page = visitor.read(path)
        if visitor.answer.status_code == 409:
            continue  # no step is closed yet that could be void
        for control in page.controls:
            named = control.get("id") in page.labels or control["in a label"] == "True" or "aria-label" in control
            assert named or control.get("type") == "hidden", control


@pytest.mark.parametrize("path", ["/", "/sign-in", "/new", "/plan", "/tokens", "/webhooks", "/audit",
                                  "/experiments/shipping", "/experiments/shipping/actions/pin",
                                  "/experiments/shipping/steps/0", "/experiments/shipping/log",
                                  "/experiments/none-such", "/docs", "/problems/overloaded"])  # fmt: skip
def test_headings_lead_through_every_page_and_no_name_is_used_twice(serving: Serving, path: str) -> None:
    visitor = Visitor(serving.address)
    if path != "/sign-in":
        visitor.sign_in(serving.token)
    page = visitor.read(path)
    assert page.headings[0] == 1
    assert all(1 < deep <= before + 1 for before, deep in pairwise(page.headings))
    assert len(page.ids) == len(set(page.ids))
    visitor.close()


def test_assets_are_kept_for_good_under_the_address_of_their_content(serving: Serving, visitor: Visitor) -> None:
    for address in visitor.read("/sign-in").loads:
        answer = visitor.client.get(address)
        assert "immutable" in answer.headers["cache-control"]
        again = visitor.client.get(address, headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304
        assert "immutable" not in visitor.client.get(address.partition("?")[0]).headers["cache-control"]
    assert visitor.client.get("/assets/none.css").status_code == 404


def test_an_unknown_experiment_is_a_page_that_says_so(serving: Serving, visitor: Visitor) -> None:
    visitor.sign_in(serving.token)
    assert "no experiment named 'shiping'" in visitor.read("/experiments/shiping").text.lower()
    assert visitor.answer.status_code == 404
