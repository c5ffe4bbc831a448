"""What the description of the interface says besides the shapes: bodies take the members that are listed, no others."""

from typing import Any


def closed_bodies(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """A hook of the generator: the shapes of requests, whose names end with In, take no member that is not known."""
    for name, shape in result["components"]["schemas"].items():
        if name.endswith("In"):
            shape["additionalProperties"] = False
    return result
