"""The pages of the chain: what they show of answers that are fresh, old, absent, failed or negative; their cost."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chaindata.cache.models import ChainAnswer
from chaindata.headers.models import ChainHeader, ChainReorganisation
from chaindata.shared import addresses
from chaindata.wire import cash_accounts, merkle
from chaindata.wire.cash_accounts import Payment, Registration
from chaindata.wire.hashing import from_display_hex
from chaindata.wire.scripts import steps
from chaindata.wire.tokens import payloads
from desk import clock, topics
from exchange_ops.addresses.models import DepositAddress
from tests.chaindata.views import rows
from tests.chaindata.views.rows import OURS, THEIRS, h
from tests.exchange_ops import rows as desk_rows

pytestmark = pytest.mark.django_db

TXID = h(5, "e")
SEND = steps.returning(
    [b"SLP\0", b"\x01", b"SEND", bytes.fromhex(h(2, "f")), (1250).to_bytes(8, "big"), (0).to_bytes(8, "big")]
).hex()


def text_of(response):
    body = response.content.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body.partition('<main id="main" tabindex="-1">')[2])).split())


def main_of(page):
    """What a page says of its own, and the strip: what every page is told by notifications is no part of it."""
    return page.partition('<main id="main"')[2].partition('<div id="notices"')[0]


def parts_of(page):
    """The attributes of each part that is read again, by its id."""
    tags = [tag for tag in re.findall(r"<[a-z]+ [^>]*>", main_of(page)) if "data-follow=" in tag]
    found = [dict(re.findall(r'([a-z-]+)="([^"]*)"', tag)) for tag in tags]
    return {part["id"]: part for part in found}


def home(height=200, *, blocks=3, waiting=1, at=None):
    """A chain of which everything was read."""
    at = at or clock.now()
    rows.tip(height, at=at, blocks=blocks)
    rows.answered("get_blockchain_info", rows.chain_state(height), at=at)
    for each in range(height - blocks + 1, height + 1):
        body = rows.block(each, txids=[h(each, "e")], tip_height=height)
        rows.answered("get_block_by_hash", body, at=at, hash=h(each))
    pool = {"size": waiting, "bytes": 226 * waiting, "usage": 1000, "maxmempool": 300_000_000, "mempoolminfee": 0.00001}
    rows.answered("get_mempool_info", pool, at=at)
    entry = {"size": 226, "fee": 0.00000452, "modifiedfee": 0.00000452, "time": int(at.timestamp()), "height": height}
    entry |= dict.fromkeys(("descendantcount", "ancestorcount"), 1)
    entry |= dict.fromkeys(("descendantsize", "ancestorsize"), 226)
    entry |= dict.fromkeys(("descendantfees", "ancestorfees"), 452) | {"depends": []}
    rows.answered("get_raw_mempool", {h(n, "d"): entry for n in range(waiting)}, at=at, verbose=True)
    tips = [
        {"height": height - 9, "hash": h(height - 9, "9"), "branchlen": 2, "status": "valid-fork"},
        {"height": height, "hash": h(height), "branchlen": 0, "status": "active"},
    ]
    rows.answered("get_chain_tips", tips, at=at)


def address_read(*, transactions=1, unspent=1, at=None, page=0, pages=1):
    """Everything about our address was read."""
    at, address = at or clock.now(), OURS.cash_address
    forms = {"legacyAddress": OURS.legacy_address, "cashAddress": address, "slpAddress": OURS.slp_address}
    figures = {"balance": 1.25, "balanceSat": 125_000_000, "totalReceived": 3, "totalReceivedSat": 300_000_000}
    figures |= {"totalSent": 1.75, "totalSentSat": 175_000_000, "unconfirmedBalance": -0.5}
    figures |= {"unconfirmedBalanceSat": -50_000_000, "unconfirmedTxApperances": 1, "txApperances": 12}
    figures |= {"transactions": [], "currentPage": 0, "pagesTotal": 1}
    rows.answered("get_address_details", figures | forms, at=at, address=address)
    txs = [rows.details(h(n, "e"), height=n or None) for n in range(transactions)]
    listed = {"pagesTotal": pages, "txs": txs, "currentPage": page}
    rows.answered("get_address_transactions", listed | forms, at=at, address=address, page=page)
    outputs = [
        {"txid": h(n, "e"), "vout": 0, "amount": 1, "satoshis": 100_000_000, "confirmations": 2, "height": 3}
        for n in range(unspent)
    ]
    held = {"utxos": outputs, "scriptPubKey": rows.paying(OURS), "asm": ""}
    rows.answered("get_address_utxos", held | forms, at=at, address=address)
    rows.answered("get_slp_balances_of_address", [], at=at, address=address)
    rows.answered("get_token_balances_of_address", "No tokens found.", at=at, address=address)
    rows.turned_down("find_cash_accounts", "missing", at=at, account=address)


# The first page ------------------------------------------------------------------------------------------------------


def test_the_first_page_shows_the_tip_the_last_blocks_what_waits_and_the_branches(client):
    home()
    text = text_of(client.get("/chain/"))
    for piece in ("Block 200", "regtest", "199", "198", "25.0000", "452", "2.00", "Active", "2 blocks long"):
        assert piece in text, piece
    assert "Side branch, valid" in text


def test_a_chain_of_which_nothing_was_read_is_asked_for_and_says_so(client):
    response = client.get("/chain/")
    assert response.status_code == 200
    assert text_of(response).count("loading") >= 4
    operations = set(ChainAnswer.objects.values_list("operation", flat=True))
    assert {
        "get_blockchain_info",
        "get_raw_mempool",
        "get_chain_tips",
        "get_node_info",
        "get_network_info",
    } <= operations


def test_what_failed_is_said_beside_what_is_still_known(client):
    home(at=clock.now() - timedelta(minutes=5))
    row = ChainAnswer.objects.get(operation="get_chain_tips")
    rows.failed(row, problem="The chain-data service did not answer.", now=clock.now())
    text = text_of(client.get("/chain/"))
    assert "sync failed synced 5 min ago" in text
    assert "The chain-data service did not answer. Showing the last known data." in text
    assert "Side branch, valid" in text


def test_blocks_that_left_the_chain_are_told_of(client):
    home()
    columns = {"old_tip": h(200, "b"), "old_height": 200, "new_tip": h(200), "new_height": 200}
    ChainReorganisation.objects.create(found_at=clock.now() - timedelta(minutes=4), common_height=198, **columns)
    assert "Reorganisation: 2 blocks above 198 replaced, detected 4 min ago" in text_of(client.get("/chain/"))


def test_blocks_are_paged_by_their_height(client):
    home()
    page = client.get("/chain/?below=150").content.decode()
    heights = [int(one) for one in re.findall(r"data-row-link>([0-9]+)<", page)]
    assert heights == list(range(150, 140, -1))
    assert "?below=140" in page
    assert "?below=160" in page


@pytest.mark.parametrize("below", ["-1", "abc", "9" * 40, "0", ""])
def test_an_odd_height_in_the_query_is_no_error(client, below):
    home()
    assert client.get("/chain/", {"below": below}).status_code == 200


# A block -------------------------------------------------------------------------------------------------------------


def block(height=7, *, tip=9, count=1, **changes):
    at = clock.now()
    rows.tip(tip, at=at)
    txids = [h(n, "e") for n in range(count)]
    body = rows.block(height, txids=txids, tip_height=tip, **changes)
    rows.answered("get_block_by_hash", body, at=at, hash=h(height))
    rows.answered("get_block_by_height", body, at=at, height=height)
    for txid in txids[:20]:
        rows.answered("get_transaction_details", rows.details(txid, height=height), at=at, txid=txid)


@pytest.mark.parametrize("named", ["7", "007", h(7), h(7).upper()])
def test_a_block_is_shown_by_height_and_by_hash_however_it_is_typed(client, named):
    block()
    text = text_of(client.get(f"/chain/block/{named}/"))
    for piece in ("Block 7", h(7), "In main chain", "3 confirmations", "328 bytes", "25.00000000", "207fffff", "226"):
        assert piece in text, piece


def test_the_transactions_of_a_block_are_checked_against_our_own_copy_of_its_header(client):
    block(count=3)
    sentences = "matches the header and its proof of work", "does not match this block"
    assert sentences[1] in text_of(client.get("/chain/block/7/")), "that header has another root"
    root = merkle.root([from_display_hex(h(n, "e")) for n in range(3)])
    rows.header(7, at=clock.now(), root=root)
    page = text_of(client.get("/chain/block/7/"))
    assert (sentences[0] in page, sentences[1] in page) == (True, False)
    ChainHeader.objects.filter(height=7).delete()
    page = text_of(client.get("/chain/block/7/"))
    assert (sentences[0] in page, sentences[1] in page) == (False, False), "nothing is said without a header of our own"


def test_a_block_off_the_chain_is_said_to_be_so(client):
    block(isMainChain=False, confirmations=-1)
    assert "This block is not in the main chain." in text_of(client.get(f"/chain/block/{h(7)}/"))


def test_a_height_behind_the_tip_is_no_block_yet(client):
    rows.tip(9, at=clock.now())
    rows.turned_down("get_block_by_height", "missing", at=clock.now(), height=12)
    response = client.get("/chain/block/12/")
    assert response.status_code == 404
    text = text_of(response)
    assert "Block 12 has not been mined yet." in text
    assert "The latest block is 9" in text


def test_a_hash_that_no_block_has_leads_to_the_transactions(client):
    rows.turned_down("get_block_by_hash", "missing", at=clock.now(), hash=TXID)
    response = client.get(f"/chain/block/{TXID}/")
    assert response.status_code == 404
    assert "No block has this hash." in text_of(response)
    assert f"/chain/tx/{TXID}/" in response.content.decode()


def test_the_transactions_of_a_block_are_paged(client):
    block(count=45)
    last = client.get("/chain/block/7/?page=99").content.decode()
    assert len(re.findall(r'href="/chain/tx/', last)) == 5
    assert "?page=2" in last
    assert client.get("/chain/block/7/?page=-3").status_code == 200


# A transaction -------------------------------------------------------------------------------------------------------


def transaction(*, height=3, **changes):
    rows.tip(4, at=clock.now())
    body = rows.details(TXID, height=height, **changes)
    rows.answered("get_transaction_details", body, at=clock.now(), txid=TXID)
    rows.answered("get_raw_transaction", "0200", at=clock.now(), txid=TXID, verbose=False)


def test_a_transaction_shows_what_it_spends_what_it_makes_and_what_it_pays(client):
    transaction()
    response = client.get(f"/chain/tx/{TXID.upper()}/")
    text, page = text_of(response), response.content.decode()
    for piece in ("In a block", "2 confirmations", "1.00 sat/byte", "226 bytes", "2 bytes in hexadecimal"):
        assert piece in text, piece
    assert "1 input" in text
    assert "3 outputs" in text
    assert "1.5000 0000" in text, "an input's value comes in satoshis and is shown in coins"
    assert re.search(r"spent by .{0,40} , unconfirmed", text)
    assert "unspent" in text
    assert "hello there" in text
    for address in (OURS, THEIRS):
        assert f"/chain/address/{address.cash_address}/" in page
    assert f"/chain/tx/{h(9, 'd')}/" in page


def test_a_coinbase_spends_nothing_and_pays_no_fee(client):
    body = rows.details(TXID, vin=[{"coinbase": "0103", "sequence": 1, "n": 0}], isCoinBase=True)
    del body["valueIn"], body["fees"]
    rows.answered("get_transaction_details", body, at=clock.now(), txid=TXID)
    text = text_of(client.get(f"/chain/tx/{TXID}/"))
    assert "block reward" in text
    assert "none (block reward)" in text


def test_an_unknown_transaction_is_said_first_and_a_block_of_that_hash_is_offered(client):
    rows.turned_down("get_transaction_details", "missing", at=clock.now(), txid=h(7))
    rows.turned_down("get_raw_transaction", "missing", at=clock.now(), txid=h(7), verbose=False)
    response = client.get(f"/chain/tx/{h(7)}/")
    assert response.status_code == 404
    assert "Transaction not found." in text_of(response)
    block()
    assert "This is a block hash: block 7" in text_of(client.get(f"/chain/tx/{h(7)}/"))


def test_a_part_of_an_unknown_transaction_can_be_swapped_in(client):
    rows.turned_down("get_transaction_details", "missing", at=clock.now(), txid=TXID)
    response = client.get(f"/chain/tx/{TXID}/", headers={"HX-Request": "true", "HX-Target": "facts"})
    assert response.status_code == 200, "htmx swaps nothing of another status in"


def said_by(script):
    """The outputs of a transaction whose first carries a message."""
    carried = rows.output(0, "0.00000000", script)
    return [carried, *(rows.output(n, "0.00000546", rows.paying(OURS)) for n in (1, 2))]


@pytest.mark.parametrize(
    ("valid", "sentence"), [(True, "with 12.50 MEOW"), (False, "Invalid The inputs hold too little.")]
)
def test_a_simple_ledger_message_is_read_judged_and_counted(client, valid, sentence):
    transaction(vout=said_by(SEND))
    verdict = {"txid": TXID, "valid": valid} | ({} if valid else {"invalidReason": "The inputs hold too little."})
    rows.answered("validate_slp_transaction", verdict, at=clock.now(), txid=TXID)
    token = {"id": h(2, "f"), "decimals": 2, "symbol": "MEOW", "name": "Meow"}
    rows.answered("get_slp_token", token, at=clock.now(), tokenId=h(2, "f"))
    text = text_of(client.get(f"/chain/tx/{TXID}/"))
    assert "SLP: SEND" in text
    assert sentence in text
    assert ("MEOW" in text.partition("outputs")[2]) == valid


def test_a_message_that_no_layer_has_judged_yet_says_so(client):
    transaction(vout=said_by(SEND))
    text = text_of(client.get(f"/chain/tx/{TXID}/"))
    assert "Not loaded yet" in text
    assert "with 1,250 base units" in text


def test_a_property_message_shows_the_layers_verdict(client):
    script = payloads.carrier(payloads.SimpleSend(property_id=3, amount=1000).raw).hex()
    transaction(vout=said_by(script))
    body = {"txid": TXID, "fee": "226", "sendingaddress": THEIRS.cash_address, "ismine": False, "version": 0}
    body |= {"type_int": 0, "type": "Simple Send", "confirmations": 2, "propertyid": 3, "precision": "2"}
    body |= {"amount": "10.00", "valid": False, "invalidreason": "Sender has insufficient balance"}
    rows.answered("get_token_transaction", body, at=clock.now(), txid=TXID)
    text = text_of(client.get(f"/chain/tx/{TXID}/"))
    for piece in (
        "Property tokens: Simple Send",
        "Invalid",
        "Sender has insufficient balance",
        "property 3",
        "10.00",
    ):
        assert piece in text, piece


def test_a_registration_of_a_cash_account_is_named(client):
    script = cash_accounts.script_of(Registration("Jonathan", (Payment(1, OURS.hash),))).hex()
    transaction(vout=said_by(script))
    response = client.get(f"/chain/tx/{TXID}/")
    assert "Cash account: Registration" in text_of(response)
    assert "Jonathan" in text_of(response)


@pytest.mark.parametrize("script", ["", "6a", "zz", "6a4c", "6aff", "6a04534c5000", "00" * 20_000])
def test_a_script_of_any_kind_is_shown_and_never_an_error(client, script):
    transaction(vout=said_by(script))
    assert client.get(f"/chain/tx/{TXID}/").status_code == 200


def test_what_a_stranger_wrote_into_the_chain_stays_text(client):
    transaction(vout=said_by(steps.returning([b"<script>alert(1)</script>"]).hex()))
    page = client.get(f"/chain/tx/{TXID}/").content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize(
    "odd",
    [
        {"size": 0, "fees": 0},
        {"fees": -1, "valueIn": -1},
        {"blockheight": -7},
        {"blocktime": 10**17, "time": 10**17},
        {"blocktime": -(10**12)},
        {"confirmations": -3, "locktime": 2**32 - 1, "version": -1},
        {"vin": [], "vout": []},
        {"vin": [{"n": 0, "sequence": 0, "txid": h(1), "vout": 0, "value": 10**18, "addr": "nobody"}]},
        {"valueOut": 10**30},
    ],
)
def test_odd_figures_of_a_service_are_no_error(client, odd):
    transaction(**odd)
    assert client.get(f"/chain/tx/{TXID}/").status_code == 200
    assert client.get(f"/api/v1/chain/transactions/{TXID}/").status_code == 200


def test_a_transaction_of_very_many_outputs_shows_the_first_hundred(client):
    transaction(vout=[rows.output(n, "0.00000546", rows.paying(OURS)) for n in range(150)])
    page = client.get(f"/chain/tx/{TXID}/").content.decode()
    assert page.count('id="out-') == 100
    assert client.get(f"/chain/tx/{TXID}/?sides=all").content.decode().count('id="out-') == 150


# An address ----------------------------------------------------------------------------------------------------------

REGTEST = addresses.forms(OURS.legacy_address, networks=[addresses.allowed_networks()[0]]).cash_address


@pytest.mark.parametrize(
    "spelled",
    [
        OURS.cash_address,
        OURS.cash_address.upper(),
        OURS.cash_address.partition(":")[2],
        OURS.legacy_address,
        OURS.slp_address,
        REGTEST,
    ],
)
def test_every_form_of_an_address_leads_to_one_page(client, spelled):
    address_read()
    response = client.get(f"/chain/address/{spelled}/")
    text, page = text_of(response), response.content.decode()
    for form in (OURS.legacy_address, OURS.hash.hex()):
        assert form in text.replace(" ", ""), form
    for form in (OURS.cash_address, OURS.slp_address, REGTEST):
        assert f'data-copy="{form}"' in page, form
    assert '<svg class="qr" role="img"' in page
    for piece in ("1.2500 0000", "−0.5000 0000", "3.0000 0000", "and 1 unconfirmed", "No tokens or cash accounts"):
        assert piece in text, piece


def test_an_address_shows_what_each_transaction_changed_there(client):
    address_read(transactions=2)
    text = text_of(client.get(f"/chain/address/{OURS.cash_address}/"))
    assert "+1.0000 0000 Unconfirmed" in text
    assert "+1.0000 0000 1 2" in text, "height and confirmations"


def test_the_tokens_of_an_address_are_named_as_soon_as_their_names_are_read(client):
    address_read()
    held = {"tokenId": TXID, "balance": 7, "balanceString": "7", "slpAddress": OURS.slp_address, "decimalCount": 0}
    rows.answered("get_slp_balances_of_address", [held], at=clock.now(), address=OURS.cash_address)
    page = client.get(f"/chain/address/{OURS.cash_address}/").content.decode()
    token = rows.answered("get_slp_token", {"id": TXID, "symbol": "EMBR"}, at=clock.now(), tokenId=TXID)
    assert f"chain-answer:{token.key}" in parts_of(page)["tokens"]["data-follow"].split()
    assert "EMBR 7" in text_of(client.get(f"/chain/address/{OURS.cash_address}/"))


def test_the_transactions_of_an_address_are_paged_by_the_service(client):
    address_read(page=1, pages=3)
    page = client.get(f"/chain/address/{OURS.cash_address}/?page=2").content.decode()
    assert "?page=1" in page
    assert "?page=3" in page
    client.get(f"/chain/address/{OURS.cash_address}/?page=3")
    wanted = ChainAnswer.objects.filter(operation="get_address_transactions")
    assert sorted(row.arguments["page"] for row in wanted) == [1, 2]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (OURS.cash_address[:-1] + ("q" if OURS.cash_address[-1] != "q" else "p"), "checksum"),
        ("bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", "main network"),
        ("Bchtest:" + OURS.cash_address.partition(":")[2], "mixed"),
        ("x" * 200, ""),
        ("<b>", ""),
        ("%00", ""),
    ],
)
def test_what_is_no_address_is_said_first_and_nothing_is_asked(client, text, reason):
    response = client.get(f"/chain/address/{text}/")
    assert response.status_code == 404
    assert text_of(response).startswith("Chain Not an address")
    assert reason in text_of(response)
    assert not ChainAnswer.objects.exists()


@pytest.mark.parametrize("spelled", [OURS.cash_address, REGTEST, OURS.legacy_address])
def test_an_address_that_others_pay_us_at_is_said_to_be_ours(client, spelled):
    account = desk_rows.account(now=clock.now())
    seen = {"currency": "BCH", "first_seen_at": clock.now(), "seen_at": clock.now()}
    DepositAddress.objects.create(account=account, address=spelled, **seen)
    assert "ours: deposit address of Main desk" in text_of(client.get(f"/chain/address/{OURS.slp_address}/"))
    transaction()
    page = client.get(f"/chain/tx/{TXID}/").content.decode()
    assert page.count('title="deposit address of Main desk"') == 1, "the other output is somebody else's"


def test_odd_figures_of_a_service_are_no_error_on_any_page(client):
    home()
    at, address = clock.now(), OURS.cash_address
    rows.answered("get_chain_tips", [{"height": -1, "hash": "z" * 64, "branchlen": -2, "status": "<b>"}], at=at)
    state = rows.chain_state(200) | {"bestblockhash": "/" * 64, "difficulty": 10**40, "chain": "<u>"}
    rows.answered("get_blockchain_info", state, at=at)
    odd = {"previousblockhash": "?" * 64, "nextblockhash": " " * 64, "time": -1, "reward": -1, "tx": ["." * 64]}
    block(**odd)
    address_read()
    forms = {"legacyAddress": "", "cashAddress": "", "scriptPubKey": ""}
    outputs = [{"txid": "#" * 64, "vout": -1, "amount": -1, "satoshis": -1, "confirmations": 2}]
    outputs += [outputs[0] | {"height": 10**12}]
    rows.answered("get_address_utxos", {"utxos": outputs} | forms, at=at, address=address)
    held = {"tokenId": "%" * 64, "balance": 1, "balanceString": "1e3", "slpAddress": "", "decimalCount": 99}
    rows.answered("get_slp_balances_of_address", [held], at=at, address=address)
    owned = {"propertyid": -3, "balance": "1", "reserved": "0"}
    rows.answered("get_token_balances_of_address", [owned], at=at, address=address)
    for path in ("/chain/", "/chain/block/7/", f"/chain/address/{address}/"):
        response = client.get(path)
        assert response.status_code == 200, path
        assert "<b>" not in response.content.decode()
        assert "<u>" not in response.content.decode()


# All of them ---------------------------------------------------------------------------------------------------------


PAGES = ("/chain/", "/chain/block/7/", f"/chain/tx/{TXID}/", f"/chain/address/{OURS.cash_address}/")


@pytest.mark.parametrize("path", PAGES)
def test_each_part_follows_what_can_change_it_and_answers_for_itself(client, auditor, path):
    home()
    block()
    transaction()
    address_read()
    parts = parts_of(client.get(path).content.decode())
    assert parts
    following = {name for name, part in parts.items() if "chain:tip" in part["data-follow"].split()}
    everywhere = {"alarm", "count-action", "strip"}  # parts of every page, which follow incidents
    own = {name: part for name, part in parts.items() if name not in everywhere}
    assert set(own) - following <= {"node", "raw", "members"}, "a new block can change everything else"
    for name, part in own.items():
        assert all(topics.admits(auditor, topic) for topic in part["data-follow"].split()), part["data-follow"]
        answer = client.get(unescape(part["hx-get"]), headers={"HX-Request": "true", "HX-Target": name})
        body = answer.content.decode()
        assert "<body" not in body
        assert parts_of('<main id="main"' + body)[name]["data-follow"] == part["data-follow"], name


@pytest.mark.parametrize("path", PAGES)
def test_a_page_opens_at_once_when_nothing_was_read(client, path):
    assert client.get(path).status_code == 200
    assert "loading" in text_of(client.get(path))


@pytest.mark.parametrize(
    ("path", "label"), [("/chain/", "Chain"), ("/chain/block/7/", "Chain"), ("/chain/tokens/", "Tokens")]
)
def test_the_navigation_marks_one_page(client, path, label):
    marked = re.findall(r'aria-current="page">.*?</svg>([^<]+)<', client.get(path).content.decode())
    assert marked == [label]


def test_a_final_answer_is_not_looked_at_again_by_itself(client):
    body = rows.details(TXID)
    rows.answered("get_transaction_details", body, at=clock.now() - timedelta(days=1), final=True, txid=TXID)
    page = client.get(f"/chain/tx/{TXID}/").content.decode()
    assert parts_of(page)["sides"]["hx-trigger"] == "hint"
    assert "final" in text_of(client.get(f"/chain/tx/{TXID}/"))


def queries(client, path):
    client.get(path)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def test_many_rows_cost_as_much_as_one(client, standing_clock):
    costs = []
    for many in (1, 3):
        home(blocks=many, waiting=many)
        block(count=many)
        transaction(vout=[rows.output(n, "0.00000546", rows.paying(OURS)) for n in range(many)])
        address_read(transactions=many, unspent=many)
        costs.append([queries(client, path) for path in PAGES])
    assert costs[0] == costs[1]


@pytest.mark.parametrize("decimals", [10**6, 10**9, -(10**6), 10])
def test_decimals_that_no_token_has_do_not_fill_a_page(client, decimals):
    transaction(vout=said_by(SEND))
    token = {"id": h(2, "f"), "symbol": "HARB", "decimals": decimals}
    rows.answered("get_slp_token", token, at=clock.now(), tokenId=h(2, "f"))
    answer = client.get(f"/chain/tx/{TXID}/")
    assert (answer.status_code, len(answer.content) < 100_000) == (200, True)
    assert "1,250 base units" in text_of(answer)
