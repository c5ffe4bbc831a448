"""The sandbox's rooms: no import circle, types included, and no folder that takes long to look through."""

import ast
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


# They say nothing about the type or the meaning of a value.
EMPTY_NAMES = {"told", "asked", "given", "shown", "standing"}


def bound(node):
    """The name that a node gives to a value, a function or a class; empty when it gives none."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.Attribute(attr=name, ctx=ast.Store()):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.alias(name=name, asname=asname):
            return asname or name
    return ""


def test_the_names_of_the_sandbox_say_what_they_are():
    assert not [
        f"{module.path}:{node.lineno} {bound(node)}"
        for module in sandbox_modules().values()
        for node in module.nodes
        if bound(node).lower().strip("_") in EMPTY_NAMES
    ]


def test_a_name_that_says_nothing_is_found():
    found = [
        bound(node) for node in ast.walk(ast.parse("def shown(asked): self.told = asked; given, b = 1, c.standing"))
    ]
    assert sorted(set(found) & EMPTY_NAMES) == ["asked", "given", "shown", "told"]
