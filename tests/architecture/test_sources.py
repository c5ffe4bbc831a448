"""Citations of the specifications: each is one that docs/sources.md explains, and what stands there is cited."""

import re
from functools import cache
from pathlib import Path

from tests.architecture import tree

SOURCES = tree.ROOT / "docs" / "sources.md"
# A name in the first column, and what it says; the word in brackets is for what the code does not cite.
ROW = re.compile(r"^\| `([^`]+)` \| (.+) \|$", re.MULTILINE)
BACKGROUND = "(background)"
# Folders in which "supplement 2.7" is that of one service; everywhere else the service is named.
ROOMS = {
    "exchange": ("exchange_ops", "sandbox/exchange", "tests/exchange_ops", "tests/golden/exchange"),
    "chain": ("chaindata", "sandbox/chain", "tests/chaindata", "tests/sandbox/chain", "tests/golden/chaindata"),
}
NUMBER = r"\d+(?:\.\d+)?"
NUMBERS = rf"{NUMBER}(?: \([^)]*\))?(?:(?:,| and| to) {NUMBER}(?: \([^)]*\))?)*"
SUPPLEMENT = re.compile(rf"\b(?:(exchange|chain) )?supplement ({NUMBERS})", re.IGNORECASE)
SECTION = re.compile(r"\b(exchange REST|exchange streams|chain data), (?=[A-Z])")
ANOTHER = re.compile(r"(?: \d[\d, and]*)?(?:, | and |; )")
STANDARD = re.compile(r"\b(BIP|RFC) (\d+(?:(?:,| and) \d+)*)")
OTHER_SPELLINGS = re.compile(
    r"\b(?:[Ss]pecification \d|REST \"|streams \"|[Ss]upplements?:? (?:section|§)|its supplement \d)"
)


def known():
    """Every source by its name, in the page's order."""
    return dict(ROW.findall(SOURCES.read_text()))


def pages():
    """(path, text on one line) of each file that may cite; a test's own vectors and this test don't."""
    for path in tree.texts():
        name = path.relative_to(tree.ROOT).as_posix()
        if path.suffix in {".py", ".md", ".json"} and path not in {SOURCES, Path(__file__)}:
            yield name, re.sub(r"\s*\n\s*(?:#+ )?", " ", path.read_text())


def service_of(name):
    return next((service for service, rooms in ROOMS.items() if name.startswith(rooms)), "")


def between(first, last, names):
    """The names of a range of sections; the two ends when one of them is not known."""
    if first not in names or last not in names:
        return [first, last]
    return names[names.index(first) : names.index(last) + 1]


def of_supplements(name, text, names):
    for found in SUPPLEMENT.finditer(text):
        service = (found[1] or service_of(name)).lower()
        prefix = f"{service} supplement " if service else "supplement of which service? "
        pieces = re.findall(rf"( to )?({NUMBER})(?: \([^)]*\))?", found[2])
        for at, (is_range, number) in enumerate(pieces):
            if is_range:
                yield from between(prefix + pieces[at - 1][1], prefix + number, names)
            else:
                yield prefix + number


def of_specifications(text, names):
    for found in SECTION.finditer(text):
        rest, first = text[found.end() : found.end() + 160], True
        while title := next(
            (each for each in titles(found[1], names) if re.match(rf"{re.escape(each)}\b", rest)), None
        ):
            yield f"{found[1]}, {title}"
            goes_on = ANOTHER.match(rest, len(title))
            rest, first = rest[goes_on.end() :] if goes_on else "", False
        if first:
            yield f"{found[1]}, {rest[:30]}"


def titles(specification, names):
    """The sections of a specification, the longest title first."""
    own = [name.removeprefix(f"{specification}, ") for name in names if name.startswith(f"{specification}, ")]
    return sorted(own, key=len, reverse=True)


def of_standards(text):
    for found in STANDARD.finditer(text):
        yield from (f"{found[1]} {number}" for number in re.findall(r"\d+", found[2]))


@cache
def citations():
    """(path, name of the source) of every citation in code, tests, files of vectors and documents."""
    names = list(known())
    return [
        (name, source)
        for name, text in pages()
        for source in (*of_supplements(name, text, names), *of_specifications(text, names), *of_standards(text))
    ]


def test_every_citation_has_its_line_in_the_sources():
    sources = known()
    assert not {f"{name}: {source}" for name, source in citations() if source not in sources}


def test_every_line_of_the_sources_is_cited_or_called_background():
    cited = {source for _, source in citations()}
    assert not [source for source, says in known().items() if (source in cited) == says.endswith(BACKGROUND)]


def test_the_sources_are_cited_in_one_way():
    assert not {f"{name}: {found[0]}" for name, text in pages() for found in OTHER_SPELLINGS.finditer(text)}


def test_the_citations_are_found_at_all():
    found = [source for _, source in citations()]
    assert len(found) > 500
    assert {"exchange supplement 2.7", "chain supplement 1.5", "exchange REST, Errors", "BIP 113"} <= set(found)
