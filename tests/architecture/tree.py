"""The tree as the architecture tests read it: our own files, parsed once."""

import ast
import functools
import gc
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Parts of exchange_ops beside the pages that state no rules of the domain: in rooms, and as folders of their own.
NO_RULES = {"api_shapes", "client", "forms", "management", "migrations", "models", "templatetags", "wire"}
APPS = ("chaindata", "desk", "exchange_ops", "project", "sandbox", "wire")


@dataclass(frozen=True)
class Module:
    """One Python file of ours."""

    path: str
    text: str
    syntax: ast.Module

    @property
    def parts(self) -> tuple[str, ...]:
        """The path's pieces, the file's name without its ending last."""
        return Path(self.path).with_suffix("").parts

    @functools.cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the syntax, from the module itself down to the names."""
        return tuple(ast.walk(self.syntax))

    @property
    def is_domain(self) -> bool:
        """Whether the module states rules of an app."""
        if self.parts[0] == "exchange_ops":
            return len(self.parts) > 2 and not self.is_page and not NO_RULES & set(self.parts)
        return "domain" in self.parts

    @property
    def is_page(self) -> bool:
        """Whether the module answers people or programs."""
        return bool({"views", "pages", "api"} & set(self.parts[1:]))

    @property
    def may_meet_money(self) -> bool:
        """Whether an amount may pass through it as a value."""
        return self.parts[0] in {"wire", "sandbox"} or "wire" in self.parts or self.is_domain


@functools.cache
def production() -> tuple[Module, ...]:
    """Every module that ships, migrations apart: those are written by a machine."""
    return tuple(module for module in _modules((*APPS, "manage.py")) if "migrations" not in module.parts)


@functools.cache
def everything() -> tuple[Module, ...]:
    """Every module, tests and tools included."""
    return (*production(), *_modules(("tests", "tools")))


def functions(module: Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of the module, nested ones included."""
    return [node for node in module.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def imports(module: Module) -> set[str]:
    """Full names of all modules that this one imports, inside functions too."""
    found = set()
    for node in module.nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def texts() -> list[Path]:
    """Every text file that is kept: code, templates, styles, scripts, documents, settings of tools."""
    endings = {".py", ".html", ".css", ".js", ".md", ".toml", ".yml", ".yaml", ".txt", ".cfg", ".ini", ".json", ""}
    loose = [path for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".git")]
    folders = (*APPS, "tests", "tools", "docs", "templates", "static", ".ci")
    within = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [path for path in (*loose, *within) if path.suffix in endings and "__pycache__" not in path.parts]


def _modules(tops: tuple[str, ...]) -> list[Module]:
    """The million objects of the syntax are kept to the end: looking through them for garbage would take longest."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        found = [read(path) for top in tops for path in _paths(ROOT / top)]
    finally:
        if was_enabled:
            gc.enable()
    gc.freeze()
    return found


def _paths(start: Path) -> list[Path]:
    return sorted(start.rglob("*.py")) if start.is_dir() else [start]


def read(path: Path) -> Module:
    """One file, parsed."""
    text = path.read_text()
    return Module(str(path.relative_to(ROOT)), text, ast.parse(text))
