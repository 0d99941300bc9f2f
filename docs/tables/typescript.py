"""The types of the TypeScript client, generated from the OpenAPI document: python docs/tables/typescript.py."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tables.calls import openapi

FILE = Path(__file__).parents[2] / "clients/typescript/src/types.ts"
NAMES = ("Current", "Problem", "Receipt", "Reward")
HEAD = "/** Types of the service, generated from its OpenAPI document by docs/tables/typescript.py. */\n"
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def source() -> str:
    """The whole file."""
    schemas = openapi()["components"]["schemas"]
    return HEAD + "".join(interface(name, schemas[name]) for name in NAMES)


def interface(name: str, schema: dict[str, Any]) -> str:
    needed = set(schema.get("required", ()))
    rows = [property_of(key, one, key in needed) for key, one in schema["properties"].items()]
    return f"\nexport interface {name} {{\n{''.join(rows)}}}\n"


def property_of(name: str, schema: dict[str, Any], needed: bool) -> str:
    about = schema.get("description")
    comment = f"  /** {about} */\n" if about else ""
    return f"{comment}  {name}{'' if needed else '?'}: {type_of(schema)};\n"


def type_of(schema: dict[str, Any]) -> str:
    """A schema as a type; the types of the client are strings, numbers, lists and objects of them."""
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(type_of(one) for one in schema["anyOf"]))
    if schema["type"] == "array":
        return f"Array<{type_of(schema['items'])}>"
    if schema["type"] == "object":
        inner = "; ".join(f"{key}: {type_of(one)}" for key, one in schema["properties"].items())
        return f"{{ {inner} }}"
    return PLAIN[schema["type"]]


if __name__ == "__main__":
    FILE.write_text(source(), encoding="utf-8")
