"""The shapes of a description of an interface (OpenAPI 3.0, as the desk serves it) as types of Python."""

import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

Schema = Mapping[str, Any]

_PLAIN: Final = {"string": "str", "integer": "int", "boolean": "bool", "number": "float"}
_PREFIX: Final = "#/components/schemas/"


class CannotGenerate(Exception):
    """The description has something that no type stands for yet; the text says where."""


def annotation(schema: Schema) -> str:
    """The type of a value. Amounts, moments and days are texts, as they travel. Raises `CannotGenerate`."""
    type_text = _bare(schema)
    return f"{type_text} | None" if schema.get("nullable") and not type_text.endswith("None") else type_text


def _bare(schema: Schema) -> str:
    type_text = ""
    match schema:
        case {"$ref": str(reference)}:
            type_text = reference.removeprefix(_PREFIX)
        case {"allOf": [one]}:
            type_text = annotation(one)
        case {"oneOf": list(several)}:
            type_text = " | ".join(annotation(one) for one in several)
        case {"enum": list(words)}:
            type_text = literal(words)
        case {"type": "array", "items": items}:
            type_text = f"list[{annotation(items)}]"
        case {"type": "object", "additionalProperties": dict(values)}:
            type_text = f"dict[str, {annotation(values)}]"
        case {"type": str(kind)} if kind in _PLAIN:
            type_text = _PLAIN[kind]
    if not type_text:
        raise CannotGenerate(f"There is no type for {dict(schema)}.")
    return type_text


def literal(words: list[Any]) -> str:
    """The type of one of these words; "None" among them is beside it."""
    texts = ", ".join(f'"{word}"' for word in words if word is not None)
    return f"Literal[{texts}]" + (" | None" if None in words else "")


def module(schemas: Mapping[str, Schema]) -> str:
    """The module with every shape, those that another one is made of before it, else in the order of their names."""
    head = (
        '"""The shapes of what is sent and answered. Written by `manage.py client_package`: don\'t edit it.\n\n'
        "Amounts are texts with an exact decimal number, moments are texts in ISO 8601 with their offset.\n"
        '"""\n\nfrom typing import Literal, NotRequired, TypedDict\n'
    )
    words = [line for name, schema in sorted(schemas.items()) if "enum" in schema for line in _words(name, schema)]
    shapes = [line for name in _in_order(schemas) for line in _shape(name, schemas[name])]
    return "\n".join([head, *words, *shapes]) + "\n"


def _in_order(schemas: Mapping[str, Schema]) -> list[str]:
    """The names of the shapes with members. Raises `CannotGenerate` where two are made of each other."""
    names: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise CannotGenerate(f"{name} is made of itself.")
        if name in names or "enum" in schemas[name]:
            return
        for inner in re.findall(rf"{_PREFIX}(\w+)", str(schemas[name])):
            visit(inner, (*above, name))
        names.append(name)

    for name in sorted(schemas):
        visit(name, ())
    return names


def _words(name: str, schema: Schema) -> Iterator[str]:
    texts = [f'    "{word}",' for word in schema["enum"]]
    if len(texts) == 1:
        yield f"{name} = {literal(schema['enum'])}"
        return
    yield f"{name} = Literal["
    yield from texts
    yield "]"


def _shape(name: str, schema: Schema) -> Iterator[str]:
    required = set(schema.get("required", ()))
    yield "\n"
    yield f"class {name}(TypedDict):"
    yield from docstring(schema.get("description") or f"{name}.", "    ")
    yield ""
    for member, shape in schema["properties"].items():
        if not member.isidentifier() or keyword.iskeyword(member):
            raise CannotGenerate(f"{name}.{member} can't be a member.")
        kind = annotation(shape)
        yield f"    {member}: {kind if member in required else f'NotRequired[{kind}]'}"


def docstring(text: str, indent: str) -> Iterator[str]:
    """Lines of a docstring no wider than 120 characters: a sentence, or a sentence and the rest."""
    words = re.sub(r"\s+", " ", text.strip()).replace("\\", "\\\\")
    if len(words) + len(indent) <= 114:
        yield f'{indent}"""{words}"""'
        return
    lines, line = [], f'{indent}"""'
    for word in words.split(" "):
        if len(line) + len(word) > 118:
            lines.append(line.rstrip())
            line = indent
        line += f"{word} "
    yield from [*lines, line.rstrip(), f'{indent}"""']
