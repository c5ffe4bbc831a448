"""docs/settings.md, made from the code that reads the environment: what is read there is on the page, and nothing else.

The `#:` lines right above a reading say what the variable does. Form, bounds and default are taken from the call; what
the call does not show stands in brackets at the end: `[secret; unit: days; form: ...; default: ...]`.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HEAD: Final = """# Settings

<!-- written by `manage.py house_tables --write` from the lines above each reading in the code: change it there -->

Every setting comes from the process's environment. An invalid value stops the start with one sentence.
Without any settings it is the demo: the sandbox, SQLite and a private Redis. [running.md](running.md) sets up a desk
step by step. Keep secrets out of files and screens that others can see: for each secret setting NAME, `NAME_FILE`
can name a file that holds it instead.
"""
_COLUMNS: Final = ("name", "what it does", "format and range", "unit", "default", "secret")
_NAME: Final = re.compile("[A-Z][A-Z_]+")
_TITLE: Final = re.compile(r"# (.+?) -{5,}")
_TEXT: Final = re.compile(r"(?P<says>.+?)(?: \[(?P<facts>(?:secret|unit|form|default)\b.*)\])?")
_NEXT_FACT: Final = re.compile(r"; (?=(?:secret|unit|form|default)\b)")


class CannotDescribe(ValueError):
    """A reading of the environment that the page can't show; its text says where it is and what it lacks."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A variable as the page shows it, each part as text; `section` is the title that it stands under."""

    name: str
    says: str
    form: str
    unit: str
    default: str
    secret: str
    section: str


@dataclass(frozen=True, slots=True)
class _Reading:
    """A place where a variable is read: the expression of its name, and what the call says of it."""

    key: ast.expr
    line: int
    form: str = ""
    default: ast.expr | None = None


def page(root: Path, apps: tuple[str, ...]) -> str:
    """The whole page for the code in the folders `apps` below `root`, the settings first; raises CannotDescribe."""
    first = root / "project" / "settings.py"
    settings: dict[str, Setting] = {}
    for path in (first, *sorted(path for app in apps for path in (root / app).rglob("*.py"))):
        text = path.read_text()
        if "environ" in text:
            section = "" if path == first else "Other settings"
            for name, reading in _readings(text, str(path.relative_to(root))):
                if name not in settings:
                    settings[name] = _setting(name, reading, text.splitlines(), section)
    sections = dict.fromkeys(setting.section for setting in settings.values())
    return HEAD + "".join(_section(title, settings.values()) for title in sections)


def _section(title: str, settings: Iterable[Setting]) -> str:
    rows = [
        _cells(f"`{each.name}`", each.says, each.form, each.unit, each.default, each.secret)
        for each in settings
        if each.section == title
    ]
    return "\n".join([f"\n## {title}\n", _cells(*_COLUMNS), "|---" * len(_COLUMNS) + "|", *rows, ""])


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _setting(name: str, reading: _Reading, lines: list[str], section: str) -> Setting:
    """What the lines above the reading and its call say together."""
    above = reading.line - 2
    comment: list[str] = []
    while lines[above].strip().startswith("#: "):
        comment.insert(0, lines[above].strip().removeprefix("#: "))
        above -= 1
    text = _TEXT.fullmatch(" ".join(comment))
    if text is None:
        raise CannotDescribe(f"{name} is read, but no line above it that starts with #: says what it does.")
    facts = dict(_fact(each) for each in _NEXT_FACT.split(text["facts"] or "") if each)
    default = facts.get("default") or _default(reading.default)
    if default is None:
        raise CannotDescribe(f"The default of {name} is computed; state it in the line above: [default: ...].")
    return Setting(
        name=name,
        says=text["says"],
        form=facts.get("form", reading.form),
        unit=facts.get("unit", ""),
        default=default,
        secret=facts.get("secret", ""),
        section=section or next(title[1] for line in lines[above::-1] if (title := _TITLE.fullmatch(line))),
    )


def _fact(text: str) -> tuple[str, str]:
    """A piece of the brackets: "unit: days", or "secret" alone, which is a yes."""
    name, _, value = text.partition(":")
    return name, value.strip() or "yes"


def _default(node: ast.expr | None) -> str | None:
    """The default in words; None for one that is worked out when the settings are read."""
    match node:
        case None:
            return "none"
        case ast.Constant(value=bool(is_on)):
            return "on" if is_on else "off"
        case ast.Constant(value=int() | str() as value):
            return f"`{value}`" if value != "" else "none"
        case ast.IfExp(test=ast.Name(id="DEMO")) if (demo := _default(node.body)) and (real := _default(node.orelse)):
            return f"{real}; in the demo {demo}"
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id="DEMO")):
            return "on; in the demo off"
    return None


def _readings(text: str, place: str) -> Iterator[tuple[str, _Reading]]:
    """Every reading of the environment in a module, in the order of its lines, with the name of what is read."""
    module = ast.parse(text)
    constants = {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    arguments = {node.arg for node in ast.walk(module) if isinstance(node, ast.arg)}
    readings = [reading for node in ast.walk(module) if (reading := _reading(node)) is not None]
    for reading in sorted(readings, key=lambda each: each.line):
        key = reading.key
        if isinstance(key, ast.Name) and key.id in arguments:
            continue  # a helper, which reads what it is called with
        constant = constants.get(key.id) if isinstance(key, ast.Name) else key
        if not isinstance(constant, ast.Constant) or not _NAME.fullmatch(str(constant.value)):
            raise CannotDescribe(f"{place}:{reading.line} reads a variable whose name is not a literal.")
        yield str(constant.value), reading


def _reading(node: ast.AST) -> _Reading | None:
    """The reading that this expression is: of os.environ, by a helper of `environment`, or none."""
    match node:
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Attribute(attr="environ")]):
            return _Reading(node.left, node.lineno)
        case ast.Subscript(value=ast.Attribute(attr="environ"), ctx=ast.Load()):
            return _Reading(node.slice, node.lineno)
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="environ"), attr="get"), args=[key, *rest]):
            return _Reading(key, node.lineno, "text", next(iter(rest), None))
        case ast.Call(func=ast.Name(id="_kept_secret"), args=[key, *_]):
            return _Reading(key, node.lineno, "text")
        case ast.Call(func=ast.Attribute(value=ast.Name(id="environment"), attr=helper), args=[key, *rest]) if (
            helper in _FORMS
        ):
            named = [pair.value for pair in node.keywords if pair.arg == "default"]
            return _Reading(key, node.lineno, _FORMS[helper](node), next(iter([*rest, *named]), None))
    return None


def _argument(call: ast.Call, name: str) -> str:
    """A literal argument as words: a figure as it is, several texts as choices."""
    value = ast.literal_eval(next(pair.value for pair in call.keywords if pair.arg == name))
    if isinstance(value, tuple):
        return " or ".join(f"`{each}`" for each in value)
    return f"{value:,}"


# Of each helper of project/environment.py, what it takes.
_FORMS: Final[dict[str, Callable[[ast.Call], str]]] = {
    "integer": lambda call: f"whole number, {_argument(call, 'lowest')} to {_argument(call, 'highest')}",
    "flag": lambda call: "`1` or `0`",
    "choice": lambda call: _argument(call, "options"),
    "url": lambda call: f"address, {_argument(call, 'schemes')}",
    "text": lambda call: "text",
    "words": lambda call: "list, separated by commas",
    "networks": lambda call: "addresses and networks, separated by commas",
    "roles": lambda call: "",
    "role_networks": lambda call: "",
    "folder": lambda call: "folder used only by the desk",
    "listening_address": lambda call: "numeric address",
    "exchange_places": lambda call: "",
    "explorers": lambda call: "",
    "mail_server": lambda call: "",
    "key_ring": lambda call: "",
    "secret": lambda call: "text",
}
