"""What the network has already is said before anything is drafted, and can't be asked for."""

import pytest

from chaindata.broadcasts import explanation, requests
from chaindata.broadcasts.models import ChainBroadcast
from desk import clock
from tests.chaindata.broadcasts.test_broadcasts import HEX, PAYMENT
from tests.chaindata.views import rows
from tests.chaindata.views.test_token_pages import text_of

pytestmark = pytest.mark.django_db
PAGE = "/chain/tools/transaction/"


@pytest.fixture(autouse=True)
def _networks(settings, monkeypatch):
    settings.CHAIN_NETWORKS = ("regtest", "test")
    monkeypatch.setattr("desk.outbox._send", lambda *arguments: None)
    rows.tip(22, at=clock.now())


def known(height):
    body = rows.details(PAYMENT.txid, height=height)
    rows.answered("get_transaction_details", body, at=clock.now(), txid=PAYMENT.txid)


@pytest.mark.parametrize(
    ("height", "sentence"),
    [
        (20, "This transaction is already in block 20, with 3 confirmations."),
        (22, "This transaction is already in block 22, with 2 confirmations."),
        (None, "This transaction is already in the mempool, awaiting a block."),
    ],
)
def test_the_page_says_so_first_and_offers_no_form(make_person, signed_in, height, sentence):
    known(height)
    response = signed_in(make_person("treasury")).post(PAGE, {"hex": HEX})
    text = text_of(response)
    assert sentence in text
    assert text.index(sentence) < text.index("Total output")
    assert "No need to broadcast it again." in text
    assert "Broadcast 0" not in text


def test_nobody_is_held_up_by_what_was_not_read_or_is_not_there(make_person, signed_in):
    client = signed_in(make_person("treasury"))
    assert "already" not in text_of(client.post(PAGE, {"hex": HEX})).partition("Effect")[2][:400]
    rows.turned_down("get_transaction_details", "missing", at=clock.now(), problem="None.", txid=PAYMENT.txid)
    assert explanation.explain_text(text=HEX, now=clock.now()).already == ""


def test_it_can_not_be_asked_for(make_person):
    known(20)
    words = {"text": HEX, "digest": requests.digest_of(PAYMENT.raw), "reason": "Pay.", "answer": {}, "session_key": ""}
    with pytest.raises(requests.CannotBroadcast, match="already in block 20"):
        requests.ask(**words, person=make_person("treasury"), now=clock.now())
    assert not ChainBroadcast.objects.exists()
