"""The hot calls are described from the types that they are decoded and encoded with."""

import httpx
import msgspec
import pytest

from afterglow.service.api.fast_openapi import SCHEMAS
from afterglow.service.api.fast_routes import BATCH, DECODER, ReceiptBody, RewardBody


def test_every_field_of_the_types_is_described() -> None:
    for kind, name in ((RewardBody, "Reward"), (ReceiptBody, "Receipt")):
        fields = msgspec.structs.fields(kind)
        assert list(SCHEMAS[name]["properties"]) == [one.name for one in fields]
        assert SCHEMAS[name]["required"] == [one.name for one in fields if one.required]


def test_the_document_of_the_service_names_them(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    call = document["paths"]["/v1/experiments/{name}/rewards"]["post"]
    sent = call["requestBody"]["content"]["application/json"]["schema"]
    one = {"$ref": "#/components/schemas/Reward"}
    assert one in sent["anyOf"]
    assert {"type": "array", "items": one, "maxItems": BATCH} in sent["anyOf"]
    answer = call["responses"]["202"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/Receipt"}
    assert document["components"]["schemas"]["Reward"] == SCHEMAS["Reward"]
    assert not {"RewardBody", "ReceiptBody"} & set(document["components"]["schemas"])


@pytest.mark.parametrize("field", ["key", "amount", "step", "metric", "unit"])
def test_a_limit_that_is_described_is_the_limit_that_is_kept(field: str) -> None:
    described = SCHEMAS["Reward"]["properties"][field]
    limits = next((one for one in described.get("anyOf", []) if one["type"] != "null"), described)
    good = {"key": "a", "amount": 1}
    if "maxLength" in limits:
        bounds = [("x" * limits["maxLength"], True), ("x" * (limits["maxLength"] + 1), False), ("", False)]
    else:
        bounds = [(limits["minimum"], True), (limits["minimum"] - 1, False)]
        bounds += [(limits["maximum"], True), (limits["maximum"] + 1, False)] if "maximum" in limits else []
    for value, fine in bounds:
        body = msgspec.json.encode(good | {field: value})
        if fine:
            DECODER.decode(body)
        else:
            with pytest.raises(msgspec.ValidationError):
                DECODER.decode(body)
