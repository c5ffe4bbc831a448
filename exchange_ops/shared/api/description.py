"""What the description of the interface says besides the shapes: bodies take the members that are listed, no others."""

from typing import Any


def closed_bodies(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """A hook of the generator: the shapes of requests, whose names end with In, take no member that is not known."""
    for name, shape in result["components"]["schemas"].items():
        if name.endswith("In"):
            shape["additionalProperties"] = False
            shape["properties"] = {member: _once(schema) for member, schema in shape["properties"].items()}
    return result


def _once(schema: dict[str, Any]) -> dict[str, Any]:
    """A text that may be empty, said once: the generator makes it one of two shapes, and nothing fits both of them."""
    match schema:
        case {"oneOf": [{"type": "string", "pattern": _} as text, {"type": "string", "maxLength": 0}]}:
            return {**text, **{name: value for name, value in schema.items() if name != "oneOf"}}
    return schema
