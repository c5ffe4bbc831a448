"""Which test files reach which files of the tree, and from how far: read from imports and names, running nothing."""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from project.bootstrap import ROOT

_TOPS = ("chaindata", "desk", "exchange_ops", "project", "sandbox", "tools", "wire")
# So many steps from a test to what it reaches; further away nearly everything reaches nearly everything.
MOST_STEPS = 3
_CONFTEST_STEPS = 2  # a conftest serves many tests that never ask for what it imports
_PAGE_FOLDERS = ("templates", "static")
PAGES = {".html", ".js", ".css", ".svg"}
_ADDRESSED = {"views", "views.py", "pages", "api", "api.py", "admin", "commands", "tasks.py", "urls.py", "templatetags"}
_ANSWERING = {"views", "api", "pages", "test_views.py", "test_api.py"}
_OF_ROOMS = {"chaindata", "desk", "exchange_ops", "sandbox"}  # folders of rooms, no rooms themselves
_WORDS = re.compile(r"[a-z]{4,}")
_TOO_COMMON = {"test", "tests", "browser", "views", "static", "templates", "html", "page", "pages", "exchange", "live"}
_TOO_COMMON |= {"chaindata", "desk", "project", "init"}


@dataclass(frozen=True, slots=True)
class Reached:
    """The test files of some changed files, each with its distance, and the changed files without a test.

    The distance is the number of steps, and one more for a test of another room: 0 is a test that changed itself.
    """

    tests: Mapping[str, int]
    untested: tuple[str, ...]


def tests_of(changed: Iterable[str]) -> Reached:
    """The tests that reach these files (paths below the root; what is gone reaches nothing any more)."""
    importers = _importers()
    texts = _texts()
    distances: dict[str, int] = {}
    untested = []
    for path in changed:
        near = dict.fromkeys(texts.of_room(path), MOST_STEPS) | _near(path, importers, texts)
        if not near:
            untested.append(path)
        for test, steps in near.items():
            distance = steps + (0 < steps and not _is_of_room(test, path))
            distances[test] = min(distance, distances.get(test, distance))
    return Reached(distances, tuple(untested))


def _is_of_room(test: str, path: str) -> bool:
    """Whether the test is about the room of this file, by its folder or its name."""
    folders = [part for part in Path(path).parts[:-1] if part not in _ADDRESSED | {"templates", "static", "js", "css"}]
    room = folders[-1] if folders and folders[-1] not in _OF_ROOMS else Path(path).stem
    app = folders[0] if folders else ""
    parts = Path(test).parts
    return room in {*parts[1:-1], Path(test).stem.removeprefix("test_")} and (not app or app in parts or "e2e" in parts)


def _near(path: str, importers: Mapping[str, Mapping[str, int]], texts: "_Texts") -> dict[str, int]:
    if path.endswith(".py"):
        tests = _reaching({path: 0}, importers)
        if tests and not _ADDRESSED & set(Path(path).parts):
            return tests
        # Pages, tasks and commands are reached by address or name; what stands beside them mirrors the tree.
        others = texts.about_the_same(path) or texts.naming(path) or texts.beside(path)
        return dict.fromkeys(others, 1) | tests
    if Path(path).suffix in PAGES:
        rendering = dict.fromkeys(texts.rendering(path), 1)
        tests = _reaching(rendering, importers) | dict.fromkeys(texts.about_the_same(path), 1)
        if path.endswith(".js"):  # what a script does shows where a browser runs it
            tests = dict.fromkeys(texts.browsing, MOST_STEPS) | tests
        return tests or dict.fromkeys(texts.browsing, MOST_STEPS)
    return dict.fromkeys(texts.naming(path), 1)


def _reaching(start: Mapping[str, int], importers: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Every test file within `MOST_STEPS` of the files to start from."""
    steps, ahead = dict(start), dict(start)
    while ahead:
        path = min(ahead, key=lambda each: ahead[each])
        here = ahead.pop(path)
        for importer, weight in importers.get(path, {}).items():
            if here + weight <= MOST_STEPS and here + weight < steps.get(importer, MOST_STEPS + 1):
                steps[importer] = ahead[importer] = here + weight
    return {path: count for path, count in steps.items() if Path(path).name.startswith("test_")}


@functools.cache
def _importers() -> Mapping[str, Mapping[str, int]]:
    """For every file the files that import it, with their steps. Read once in a process, like the texts."""
    # Of the tools that verify installs; `up` runs without it.
    import grimp

    graph = grimp.build_graph("tests", *_TOPS, cache_dir=None)
    files = {module: file for module in graph.modules if (file := _file(module))}
    importers: dict[str, dict[str, int]] = {}
    for importer, file in files.items():
        for imported in graph.find_modules_directly_imported_by(importer):
            if imported in files:
                importers.setdefault(files[imported], {})[file] = 1
        if Path(file).name.startswith("test_"):
            for folder in Path(file).parents:
                if (ROOT / folder / "conftest.py").exists():
                    importers.setdefault(str(folder / "conftest.py"), {})[file] = _CONFTEST_STEPS
    return importers


def _file(module: str) -> str:
    base = module.replace(".", "/")
    return next((path for path in (f"{base}.py", f"{base}/__init__.py") if (ROOT / path).exists()), "")


class _Texts:
    """What the files say about each other by name."""

    def __init__(self) -> None:
        self._tests = _read(ROOT / "tests", "test_*.py")
        self._pages = {path: text for folder in _PAGE_FOLDERS for path, text in _read(ROOT / folder).items()}
        self._code = {path: text for top in _TOPS for path, text in _read(ROOT / top, "*.py").items()}

    def naming(self, path: str) -> list[str]:
        """Tests that name this file, the command that it is, or else its folder."""
        command = f'"{Path(path).stem}"'
        by_file = [test for test, text in self._tests.items() if Path(path).name in text or command in text]
        folder = Path(path).parent.name
        if by_file or not folder:
            return by_file
        return [test for test, text in self._tests.items() if f'"{folder}"' in text or f"/{folder}/" in text]

    def rendering(self, path: str) -> list[str]:
        """Modules that render this template or this file's page, directly or through other pages."""
        queue, pages = [path], {path}
        while queue:
            name = _called(queue.pop())
            using = [page for page, text in self._pages.items() if name in text and page not in pages]
            pages.update(using)
            queue += using
        names = [f'"{_called(page)}"' for page in pages if page.endswith(".html")]
        return [code for code, text in self._code.items() if any(name in text for name in names)]

    def about_the_same(self, path: str) -> list[str]:
        """Tests of pages about the same subject, by the words of their paths."""
        words = _words(path)
        return [test for test in {*self.browsing, *self.of_pages} if words & _words(test)]

    def beside(self, path: str) -> list[str]:
        """Tests in the folder that mirrors this file's."""
        folder = Path("tests", path).parent
        return [test for test in self._tests if Path(test).parent == folder]

    def of_room(self, path: str) -> list[str]:
        """Tests about this file's room."""
        return [test for test in self._tests if _is_of_room(test, path)]

    @property
    def browsing(self) -> list[str]:
        """Tests that drive a browser."""
        return [test for test, text in self._tests.items() if "mark.browser" in text]

    @property
    def of_pages(self) -> list[str]:
        """Tests that ask for pages."""
        return [test for test in self._tests if _ANSWERING & set(Path(test).parts)]


@functools.cache
def _texts() -> _Texts:
    return _Texts()


def _words(path: str) -> set[str]:
    return set(_WORDS.findall(path)) - _TOO_COMMON


def _called(path: str) -> str:
    """By which name pages and code ask for a template or a static file."""
    if path.endswith(".html"):
        return path.removeprefix("templates/")
    return f"/{Path(path).name}"


def _read(folder: Path, pattern: str = "*") -> dict[str, str]:
    paths = (path for path in folder.rglob(pattern) if path.suffix in {".py", *PAGES} and "vendor" not in path.parts)
    return {str(path.relative_to(ROOT)): path.read_text(errors="replace") for path in paths if path.is_file()}
