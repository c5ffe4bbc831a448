"""The sandbox's rooms: no import circle, types included, and no folder that takes long to look through."""

from collections import Counter
from pathlib import Path

from tests.architecture import tree

MOST_FILES = 20


def sandbox_modules():
    """Every module of the sandbox by its full name; a package has that of its folder."""
    return {
        ".".join(module.parts).removesuffix(".__init__"): module
        for module in tree.production()
        if module.parts[0] == "sandbox"
    }


def imported(module, names):
    """The modules among `names` that this one imports: those of its own folder's `__init__` only when named."""
    found = set()
    for name in tree.imports(module):
        known = next((each for each in (name, name.rpartition(".")[0]) if each in names), None)
        if known is not None:
            found.add(known)
    return found


def circles(graph):
    """What is left when every module that imports nothing (more), and then each that nothing imports, is taken away."""
    left = {name: set(needs) - {name} for name, needs in graph.items()}
    while free := [name for name, needs in left.items() if not needs & set(left)]:
        for name in free:
            del left[name]
    while unused := set(left) - {need for needs in left.values() for need in needs}:
        for name in unused:
            del left[name]
    return left


def test_no_modules_of_the_sandbox_import_each_other_in_a_circle():
    modules = sandbox_modules()
    assert not circles({name: imported(module, set(modules)) for name, module in modules.items()})


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b": {"c"}, "c": {"b"}}


def test_no_folder_of_the_sandbox_has_more_files_than_one_looks_through():
    folders = Counter(str(Path(module.path).parent) for module in sandbox_modules().values())
    assert not {folder: files for folder, files in folders.items() if files > MOST_FILES}
