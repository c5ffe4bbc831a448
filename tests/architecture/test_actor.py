"""What no person did was done by System: no page, sentence, file or answer for programs has another name for it."""

import re

from desk.audit.words import SYSTEM
from tests.architecture import tree

# Other names in the place of an actor: after "by", as a whole value, or where a person's name would stand.
OTHER_NAMES = re.compile(
    r"%\}\s*(?:by )?(?:the desk|the system|the worker)(?: itself)?\s*\{%|default:\"(?:the desk|desk)(?: itself)?\""
    r"|else \"(?:the desk|The desk|desk|nobody|Nobody)\"|(?:decided|rejected|frozen|froze|cancelled|added) by the desk",
)


def test_no_page_or_sentence_has_another_name_for_the_system():
    templates = [path for app in ("templates", *tree.APPS) for path in (tree.ROOT / app).rglob("*.html")]
    modules = [tree.ROOT / module.path for module in tree.production() if module.parts[0] in tree.APPS]
    assert len(templates) > 200
    assert len(modules) > 500
    other = {
        f"{path.relative_to(tree.ROOT)}: {match[0]}"
        for path in (*templates, *modules)
        for match in OTHER_NAMES.finditer(path.read_text())
    }
    assert not other


def test_the_search_finds_what_it_should():
    for text in ("{% else %}the desk itself{% endif %}", "{% else %} by the desk{% endif %}", 'or else "The desk"'):
        assert OTHER_NAMES.search(text), text
    assert not OTHER_NAMES.search(f"{{% else %}}{SYSTEM}{{% endif %}}")
