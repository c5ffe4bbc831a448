"""The scripts of the pages: modules that name what they need of each other, and nothing that is everybody's."""

import re

import pytest

from tests.architecture import tree

FOLDER = tree.ROOT / "static" / "js"
# They have to run before anything else of the page does, so they are no modules; neither leaves a name behind.
FIRST = {"trusted", "early"}
MODULES = sorted(path.stem for path in FOLDER.glob("*.js") if path.stem not in FIRST)
IMPORT = re.compile(r'^import (?:.+ from )?"\./([\w-]+)\.js";$', re.MULTILINE)
A_GLOBAL = re.compile(r"\b(?:window|globalThis|self)\.[\w.]+\s*=[^=]")


def needs(name):
    """The modules that this one imports, by the names of their files."""
    return IMPORT.findall((FOLDER / f"{name}.js").read_text())


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_what_is_there_and_leaves_no_name_behind(name):
    text = (FOLDER / f"{name}.js").read_text()
    assert len(re.findall(r"^import ", text, re.MULTILINE)) == len(needs(name)), "each import is on one line"
    assert set(needs(name)) <= set(MODULES)
    assert not A_GLOBAL.search(text), A_GLOBAL.search(text)


def test_no_module_needs_itself_over_others():
    ready, left = set(), {name: set(needs(name)) for name in MODULES}
    while left:
        free = [name for name, wanted in left.items() if wanted <= ready]
        assert free, f"a circle in {sorted(left)}"
        ready |= set(free)
        left = {name: wanted for name, wanted in left.items() if name not in ready}


def test_a_page_loads_modules_as_modules():
    for path in (tree.ROOT / "templates").rglob("*.html"):
        for script in re.findall(r"<script[^>]*>", path.read_text()):
            ours = re.search(r'static "js/([\w-]+)\.js"', script)
            if ours and ours[1] not in FIRST:
                assert 'type="module"' in script, (path, script)
