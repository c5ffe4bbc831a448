"""Coins that are not on the chain link to a public explorer, where the settings name one, and tell it nothing more."""

import pytest

from chaindata.templatetags.chain import chain_link, chain_page, explorer_link
from project.environment import Explorer
from tests.chaindata.views.rows import OURS

BTC = Explorer("https://a.example/tx/{tx}", "https://a.example/address/{address}")


@pytest.fixture(autouse=True)
def _explorers(settings):
    settings.CHAIN_NETWORKS = ("test", "regtest")
    settings.EXPLORERS = {"BTC": BTC, "ETH": Explorer("https://b.example/{tx}", ""), "BCH": BTC}


def test_a_coin_with_an_explorer_links_there_and_keeps_its_copy_button():
    link = chain_link("tx", "ab" * 32, "BTC")
    assert f'href="https://a.example/tx/{"ab" * 32}"' in link
    assert 'rel="noopener noreferrer"' in link
    assert "data-copy" in link
    assert 'href="https://a.example/address/bc1q"' in chain_page("address", "bc1q", "BTC")


@pytest.mark.parametrize(("kind", "currency"), [("address", "ETH"), ("tx", "XRP"), ("block", "BTC"), ("tx", "")])
def test_without_an_explorer_for_it_there_is_no_link(kind, currency):
    assert explorer_link(kind, "ab" * 32, currency) == ""
    assert "<a " not in chain_link(kind, "ab" * 32, currency or "XRP")


def test_what_is_on_this_chain_never_leads_out():
    assert "a.example" not in chain_link("tx", "ab" * 32)
    assert "a.example" not in chain_page("address", OURS.cash_address)
    assert explorer_link("tx", "ab" * 32, "BCH") == ""


@pytest.mark.parametrize("value", ['"><script>', "../../x", "a b", "https://evil.example", "?q=1#f"])
def test_an_odd_value_stays_inside_its_place(value):
    link = explorer_link("tx", value, "BTC")
    place = link.partition('href="')[2].partition('"')[0]
    assert place.startswith("https://a.example/tx/")
    assert not set(place.removeprefix("https://a.example/tx/")) & set('"<>/?# ')
    assert "<script" not in link
