"""No module imports another in a circle, types included. In the apps a late import, which says why, breaks one."""

import ast

from tests.architecture import tree


def by_name():
    """Every module that ships by its full name; a package has that of its folder."""
    return {".".join(module.parts).removesuffix(".__init__"): module for module in tree.production()}


def imports_at_the_top(module):
    """Full names of what the module imports when it is loaded, or for its types; `tree.imports` has late ones too."""
    late = {inner for function in tree.functions(module) for inner in ast.walk(function) if is_import(inner)}
    nodes = [node for node in module.nodes if is_import(node) and node not in late]
    return tree.imports(tree.Module(module.path, "", ast.Module(body=nodes, type_ignores=[])))


def is_import(node):
    return isinstance(node, ast.Import | ast.ImportFrom)


def imported(names, modules):
    """Those of these modules whose names are imported: a package only when it is named itself."""
    candidates = ((name, name.rpartition(".")[0]) for name in names)
    return {each for pair in candidates if (each := next((one for one in pair if one in modules), ""))}


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


def test_no_modules_import_each_other_in_a_circle():
    modules = by_name()
    read = {name: tree.imports if name.startswith("sandbox") else imports_at_the_top for name in modules}
    assert not circles({name: imported(read[name](module), modules) for name, module in modules.items()})


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b": {"c"}, "c": {"b"}}
