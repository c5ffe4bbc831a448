"""Words of the house: names that say nothing, sentences that are missing, and what must not be written down."""

import ast
import re

from tests.architecture import tree

EMPTY_WORDS = {"Manager", "Helper", "Helpers", "Util", "Utils", "Common", "Processor", "Data", "Info"}
EMPTY_BEGINNINGS = ("do_", "process_", "handle_")
# Names that a framework or a library gives; nobody else may.
THEIRS = {"process_view", "process_request", "process_response", "process_exception", "process_template_response"}
THEIRS |= {"do_handshake"}
# Of a value they say that somebody did something with it, not what it is: no two of those called `told` were alike.
# Columns keep the names that their tables have, and states, which are written in capitals, the names of their machines.
SAY_NOT_WHAT = {"told", "asked", "given", "shown", "standing"}
SAY_NOT_WHAT_IN_PRODUCTION = {"found", "wanted", "known", "kept", "said", "left", "whole", "seen", "made"}
COLUMNS = {"standing", "wanted", "known", "made"}


def words(name):
    return re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+", name)


def says_nothing(node):
    if isinstance(node, ast.ClassDef):
        return bool(EMPTY_WORDS & set(words(node.name))) or node.name.endswith("Service")
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return is_function and node.name.startswith(EMPTY_BEGINNINGS) and node.name not in THEIRS


def test_names_say_something():
    # The sandbox's sockets answer callbacks whose names their library gives.
    modules = [module for module in tree.production() if module.parts[0] != "sandbox"]
    nowhere = {"utils", "helpers", "common", "data", "info", "managers", "services"}
    assert not [module.path for module in tree.production() if nowhere & set(module.parts)]
    assert not [
        f"{module.path}:{node.lineno} {node.name}" for module in modules for node in module.nodes if says_nothing(node)
    ]


def bound(module):
    """(line, name) of every variable, argument, attribute, function and class that this module names."""
    for node in module.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def test_values_are_named_by_what_they_are():
    found = []
    for module in tree.everything():
        words_here = SAY_NOT_WHAT | (set() if module.parts[0] == "tests" else SAY_NOT_WHAT_IN_PRODUCTION)
        for line, name in bound(module):
            word = name.strip("_").lower()
            if (
                word in words_here
                and not name.isupper()
                and not (word in COLUMNS and name == word and {"models", "api", "shapes"} & set(module.parts))
            ):
                found.append(f"{module.path}:{line} {name}")
    assert not found


def test_every_module_says_what_it_is_for():
    # A command has its help text, and a declaration of an app declares.
    silent = [
        module.path
        for module in tree.production()
        if module.text.strip()
        and not ast.get_docstring(module.syntax)
        and module.parts[-1] != "apps"
        and not ("commands" in module.parts and "help = " in module.text)
    ]
    assert not silent


def test_every_public_rule_says_what_it_promises():
    silent = [
        f"{module.path}:{node.lineno} {node.name}"
        for module in tree.production()
        if module.is_domain or module.parts[0] in {"wire", "sandbox"} or "wire" in module.parts
        for node in module.syntax.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert not silent


def called_from_outside():
    """(module, function) of every domain function that a page, a task, a command or a follower calls."""
    rules = {".".join(module.parts) for module in tree.production() if module.is_domain}
    called = set()
    for module in tree.production():
        if module.is_domain or "wire" in module.parts:
            continue
        names = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in module.nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if f"{node.module}.{alias.name}" in rules
        }
        for node in module.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
                called.add((names[node.value.id], node.attr))
    return called


def test_rules_are_called_by_name():
    """What others call of a domain takes keyword-only arguments; an account and what is asked of it may come first."""
    called = called_from_outside()
    approve = ("exchange_ops.withdrawals.decisions.approvals", "approve")
    assert approve in called, "the calls are no longer found where they should be"
    assert not [
        f"{module.path}:{node.lineno} {node.name}"
        for module in tree.production()
        if module.is_domain
        for node in module.syntax.body
        if isinstance(node, ast.FunctionDef)
        and (".".join(module.parts), node.name) in called
        and len(node.args.args) + len(node.args.posonlyargs) > 2
    ]


def test_the_wall_clock_is_read_in_one_place():
    readings = re.compile(r"(?:datetime\.now|datetime\.utcnow|timezone\.now|time\.time)\(")
    found = [
        f"{module.path}:{number}"
        for module in tree.production()
        if module.parts[0] in {"desk", "exchange_ops", "chaindata"} and module.path != "desk/clock.py"
        for number, line in enumerate(module.text.splitlines(), 1)
        if readings.search(line)
    ]
    assert not found


def is_docstring(part):
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


def test_nothing_is_left_for_later():
    found = []
    for module in tree.production():
        for number, line in enumerate(module.text.splitlines(), 1):
            if re.search(r"\b(TODO|FIXME|XXX)\b", line):
                found.append(f"{module.path}:{number}")
        for node in tree.functions(module):
            body = [part for part in node.body if not is_docstring(part)]
            if body and all(isinstance(part, ast.Pass) for part in body):
                found.append(f"{module.path}:{node.lineno} {node.name} does nothing")
    assert not found


def test_no_error_is_swallowed():
    found = [
        f"{module.path}:{node.lineno}"
        for module in tree.everything()
        for node in module.nodes
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or getattr(node.type, "id", "") in {"Exception", "BaseException"})
        and all(isinstance(part, ast.Pass | ast.Continue) for part in node.body)
    ]
    assert not found


def test_every_test_asserts_something():
    found = [
        f"{module.path}:{node.lineno} {node.name}"
        for module in tree.everything()
        if module.parts[0] == "tests"
        for node in tree.functions(module)
        if node.name.startswith("test_")
        and not any(isinstance(part, ast.Assert | ast.With | ast.AsyncWith | ast.Call) for part in ast.walk(node))
    ]
    assert not found


def test_no_file_names_one_machine():
    machine = re.compile(r"(?<![\w.])/(?:work|farm|root|home|opt)/[\w.]|/tmp/brief")
    found = []
    for path in tree.texts():
        if path.name in {"requirements.txt", "test_words.py"} or "vendor" in path.parts:
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if machine.search(line):
                found.append(f"{path.relative_to(tree.ROOT)}:{number}")
    assert not found
