"""One signed call of a webhook, to an address that was checked."""

import asyncio
import secrets
import time

import httpx
import msgspec

from afterglow.client.signatures import signed, with_old_header
from afterglow.errors import AfterglowError
from afterglow.live.store.access import HookRow
from afterglow.service.background.addresses import located
from afterglow.service.views import moment

LIMIT = 10.0  # seconds for one delivery
PATIENCE = 5.0  # seconds for a test, for which somebody waits
TEST = "test"  # kind of the event that a test delivers; it is in no log


async def post(http: httpx.AsyncClient, hook: HookRow, reach: str, id_: str, body: bytes, limit: float) -> str | None:
    """Send a body; why that failed, or None."""
    try:
        async with asyncio.timeout(limit):
            url, host, tls_name = await located(hook.address, reach)
            headers = {
                "host": host, "content-type": "application/json", "user-agent": "afterglow-webhooks",
                **with_old_header(hook.secret, body, signed(hook.secret, body, id_, time.time())),
            }  # fmt: skip
            request = http.build_request(
                "POST", url, content=body, headers=headers, extensions={"sni_hostname": tls_name}
            )
            response = await http.send(request, stream=True)  # the body of the response is not read
            await response.aclose()
    except TimeoutError:
        return f"no answer within {limit:g} s"
    except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError, AfterglowError) as error:
        return str(error) or type(error).__name__
    return None if response.is_success else f"it answered {response.status_code}"


def calling(limit: float) -> httpx.AsyncClient:
    """An HTTP client without proxies and redirects, with the certificate authorities of this machine.

    Every delivery has its own connection: a connection opened for one name must not be reused for another name at the
    same address, whose certificate was not checked.
    """
    trust = httpx.create_ssl_context(trust_env=False)
    trust.load_default_certs()
    alone = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(timeout=limit, follow_redirects=False, trust_env=False, verify=trust, limits=alone)


def try_out(hook: HookRow, reach: str, now: float) -> str | None:
    """Deliver an event of kind `test`, signed like others; why that failed, or None. Call it from a worker thread."""
    event = {"experiment": "", "seq": 0, "at": moment(now), "kind": TEST, "body": {}, "verdict": None}

    async def run() -> str | None:
        async with calling(PATIENCE) as http:
            id_ = f"{TEST}/{secrets.token_hex(6)}"
            return await post(http, hook, reach, id_, msgspec.json.encode(event), PATIENCE)

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(run())
    finally:
        loop.close()  # unlike `asyncio.run` it doesn't wait for a name that is still being resolved
