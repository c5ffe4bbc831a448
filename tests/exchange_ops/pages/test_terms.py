"""The terms that pages can't do without are explained at the foot of each page that uses them."""

import re
from html import unescape

import pytest
from django.template import Context, Template

from desk import clock
from desk.templatetags.terms import TERMS
from tests.architecture import tree
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db

NAMED = re.compile(r"\{% terms ([^%]+) %\}")
PAGES = (
    ("/", "hold"),
    ("/withdrawals/", "echo"),
    ("/approvals/", "quorum"),
    ("/transfers/", "bank account and trading account"),
    ("/orders/", "maker and taker"),
    ("/ledger/", "ledger"),
    ("/policy/", "step-up"),
    ("/system/", "follower"),
    ("/chain/", "mempool"),
    ("/chain/tokens/", "baton"),
    ("/chain/tools/script/", "script"),
    ("/chain/tools/broadcasts/", "raw transaction"),
    ("/markets/", "ask and bid"),
)


def named():
    """The terms that each template names."""
    found = {path: NAMED.findall(path.read_text()) for path in sorted((tree.ROOT / "templates").rglob("*.html"))}
    return {name: re.findall(r'"([^"]+)"', "".join(tags)) for name, tags in found.items() if tags}


@pytest.mark.parametrize(("path", "term"), PAGES)
def test_a_page_says_once_what_its_terms_mean(client, treasury, path, term):
    client.force_login(treasury)
    rows.account()
    page = client.get(path).content.decode()
    assert page.count("Terms on this page") == 1
    words = unescape(re.search(r'<details class="terms">.*?</details>', page, re.DOTALL)[0])
    assert f"<dt>{term.capitalize()}</dt><dd>{TERMS[term]}</dd>" in words
    assert "open" not in words.partition("<summary>")[0]


def test_each_term_is_named_by_a_page_and_each_page_names_terms_that_are_there():
    assert {term for terms in named().values() for term in terms} == set(TERMS)


def test_every_page_names_its_terms():
    """What is left out: forms of one's own account, which have none, and pages that only point at others."""
    plain = {"account", "mfa", "exchange_ops/find.html", "exchange_ops/api_docs.html", "chaindata/no_address.html"}
    plain |= {"desk/thread.html", "desk/lists/name.html"}
    silent = [
        str(path.relative_to(tree.ROOT / "templates"))
        for path in (tree.ROOT / "templates").rglob("*.html")
        if re.search(r'{% extends "(base|chaindata/tools/base|desk/lists/page).html" %}', path.read_text())
        and "{% terms" not in path.read_text()
        and path.name != "base.html"
    ]
    assert [name for name in silent if name not in plain and name.partition("/")[0] not in plain] == []


def test_a_term_that_nobody_explained_is_an_error():
    with pytest.raises(KeyError):
        Template('{% terms "hodl" %}').render(Context())


def test_a_term_is_explained_in_one_sentence_or_two():
    assert not {term: text for term, text in TERMS.items() if not text.endswith(".") or len(text) > 180}


def test_what_was_opened_of_a_page_that_reads_itself_stays_open():
    """What opens keeps its state by its id when the part around it is read again (static/js/fragments.js)."""
    parts = [path for path in (tree.ROOT / "templates/exchange_ops").rglob("_*.html") if "small" in path.read_text()]
    opens = [tag for path in parts for tag in re.findall(r'<details class="changes small"[^>]*>', path.read_text())]
    assert len(opens) >= 7
    assert [tag for tag in opens if "id=" not in tag] == []


def test_a_digest_stands_behind_details(signed_in, treasury, operator):
    row = rows.held(operator, now=clock.now())
    page = signed_in(treasury).get(f"/withdrawals/{row.pk}/").content.decode()
    details = re.search(r'<details class="changes small" id="digest-of-content">.*?</details>', page, re.DOTALL)[0]
    assert row.digest in details
