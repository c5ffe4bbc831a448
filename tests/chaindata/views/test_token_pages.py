"""Token pages, cash accounts and tools: what they show, what they check themselves, what they say of bad input."""

import hashlib
import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chaindata.cache.models import ChainAnswer
from chaindata.tokens import property
from chaindata.wire import cash_accounts, proofs, transactions
from chaindata.wire.cash_accounts import Payment, Registration
from chaindata.wire.records.tokens import HolderBalance
from chaindata.wire.scripts import steps
from chaindata.wire.tokens import slp
from chaindata.wire.transactions import Output
from desk import clock, topics
from tests.chaindata import paying, small_chain
from tests.chaindata.views import rows
from tests.chaindata.views.rows import OURS, THEIRS, h

pytestmark = pytest.mark.django_db

GENESIS = slp.Genesis(b"HARB", b"Harbour Credit", b"https://harbour.example", b"", 2, 2, 100_000)
BEGUN = transactions.build(
    inputs=small_chain.payment(3, [(1, b"")]).inputs,
    outputs=[Output(0, slp.script_of(GENESIS)), Output(546, b"\x51"), Output(546, b"\x51")],
)
TOKEN = BEGUN.txid


@pytest.fixture(autouse=True)
def _test_networks(settings):
    settings.CHAIN_NETWORKS = ("regtest", "test")


def text_of(response):
    body = response.content.decode().partition('<main id="main" tabindex="-1">')[2] or response.content.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def stats(token_id=TOKEN, **changes):
    body = {"id": token_id, "decimals": 2, "timestamp": "2026-11-20 20:20:21", "timestampUnix": 1, "versionType": 1}
    body |= {
        "documentUri": "https://harbour.example",
        "symbol": "HARB",
        "name": "Harbour Credit",
        "containsBaton": True,
    }
    body |= {"documentHash": None, "initialTokenQty": 1000, "blockCreated": 123, "blockLastActiveSend": 127}
    body |= {"blockLastActiveMint": None, "txnsSinceGenesis": 5, "validAddresses": 2, "totalMinted": 1000}
    return body | {"totalBurned": 0, "circulatingSupply": 1000, "mintingBatonStatus": "ALIVE"} | changes


def holder(address, balance):
    return {"tokenId": TOKEN, "tokenBalance": balance, "tokenBalanceString": str(balance), "slpAddress": address}


def simple_read(*, holders=2, at=None, **changes):
    at = at or clock.now()
    rows.answered("get_slp_token_stats", stats(**changes), at=at, tokenId=TOKEN)
    shares = [OURS.slp_address, THEIRS.slp_address, *(paying.key(n).address.slp_address for n in range(1, 4))]
    held = [holder(shares[n], 1000 - 100 * (holders - 1) if n == 0 else 100) for n in range(holders)]
    rows.answered("get_slp_balances_of_token", held, at=at, tokenId=TOKEN)
    rows.answered("get_raw_transaction", BEGUN.raw.hex(), at=at, final=True, txid=TOKEN, verbose=False)
    moved(TOKEN, scripted(GENESIS))


def whole(number=4, **changes):
    body = {"propertyid": number, "name": "Points", "category": "Shipping", "subcategory": "", "data": "", "url": ""}
    body |= {"precision": 3, "issuer": OURS.cash_address, "creationtxid": h(1, "e"), "fixedissuance": False}
    return body | {"managedissuance": True, "totaltokens": "605.000", "freezingenabled": True} | changes


BALANCES = [
    {"address": THEIRS.cash_address, "balance": "80.000", "reserved": "0.000"},
    {"address": OURS.cash_address, "balance": "525.000", "reserved": "0.000"},
]


def property_read(*, grants=2, at=None, balances=BALANCES, **changes):
    at = at or clock.now()
    rows.answered("get_property", whole(**changes), at=at, propertyId=4)
    lines = [{"txid": h(n, "c"), "grant": "705.000"} if n == 0 else {"txid": h(n, "c"), "revoke": "100.000"}
             for n in range(grants)]  # fmt: skip
    body = {"propertyid": 4, "name": "Points", "issuer": OURS.cash_address, "creationtxid": h(1, "e")}
    rows.answered("get_grants", body | {"totaltokens": "605.000", "issuances": lines}, at=at, propertyId=4)
    rows.answered("get_token_balances_of_property", balances, at=at, propertyId=4)
    frozen = [{"address": THEIRS.cash_address, "balance": "80.000"}]
    rows.answered("get_frozen_balances_of_property", frozen, at=at, propertyId=4)
    listed = [HolderBalance(address=each["address"], balance=property.Decimal(each["balance"]),
                            reserved=property.Decimal(0)) for each in BALANCES]  # fmt: skip
    digest = property.hash_of_balances(4, listed, precision=3)
    rows.answered(
        "get_balances_hash",
        {"block": 207, "blockhash": h(207), "propertyid": 4, "balanceshash": digest},
        at=at,
        propertyId=4,
    )


# Lists ----------------------------------------------------------------------------------------------------------------


def test_nothing_was_read_yet_and_a_worker_is_asked(client):
    text = text_of(client.get("/chain/tokens/"))
    assert "Loading" in text
    assert ChainAnswer.objects.get().operation == "get_slp_tokens"


def test_the_simple_tokens_with_their_figures(client):
    rows.answered("get_slp_tokens", [stats(totalBurned=301), stats(h(7), symbol="", name="")], at=clock.now())
    text = text_of(client.get("/chain/tokens/"))
    assert "2 tokens" in text
    assert "HARB Harbour Credit" in text
    assert "301" in text
    assert "Unnamed" in text
    assert "Alive" in text


def test_the_properties_with_their_totals(client):
    listed = [{**{k: v for k, v in whole(n).items() if k in LISTED}} for n in (1, 4)]
    rows.answered("get_properties", listed, at=clock.now())
    rows.answered("get_property", whole(4), at=clock.now(), propertyId=4)
    text = text_of(client.get("/chain/tokens/?kind=property"))
    assert "2 properties" in text
    assert "605" in text
    assert "by its issuer" in text


LISTED = ("propertyid", "name", "category", "subcategory", "data", "url", "precision")
FAMILY = {"propertyid": "1", "owner": OURS.cash_address, "creationtxid": h(1, "e"), "creationblock": 176}
FAMILY |= {"name": "Stamps", "symbol": "STMP", "data": "", "propertyurl": "", "totalTokenNumber": 5}
FAMILY |= {"haveIssuedNumber": 3, "currentValidIssuedNumer": 2}


def collectible(number, owner):
    body = {"propertyid": "1", "tokenid": str(number), "owner": owner, "creationtxid": h(2, "e"), "creationblock": 177}
    return body | {"attribute": "7", "tokenurl": "stamps/1"}


def family_read(at=None):
    at = at or clock.now()
    rows.answered("get_collectible_property", FAMILY, at=at, propertyId="1")
    rows.answered("get_collectible", collectible(1, OURS.cash_address), at=at, propertyId="1", tokenId="1")
    rows.answered("get_collectible", collectible(2, THEIRS.cash_address), at=at, propertyId="1", tokenId="2")
    gone = {"tokenid": "2", "attribute": "7", "tokenurl": "", "creationtxid": h(2, "e")}
    rows.answered("get_destroyed_collectibles", [gone], at=at, propertyId="1")
    rows.turned_down("get_collectible", "missing", at=at, propertyId="1", tokenId="3")
    chosen = {"tokenid": "99887", "attribute": "7", "tokenurl": "", "creationtxid": h(3, "e")}
    rows.answered("get_collectibles_of_address", [chosen], at=at, address=OURS.cash_address, propertyId="1")
    rows.answered("get_collectible", collectible(99887, OURS.cash_address), at=at, propertyId="1", tokenId="99887")


def test_families_of_collectibles_are_found_by_counting(client):
    rows.answered("get_collectible_property", FAMILY, at=clock.now(), propertyId="1")
    rows.turned_down("get_collectible_property", "missing", at=clock.now(), propertyId="2")
    text = text_of(client.get("/chain/tokens/?kind=collectible"))
    assert "1 collection" in text
    assert "Stamps STMP" in text


# One token ------------------------------------------------------------------------------------------------------------


def test_a_simple_token_is_checked_against_its_own_bytes(client):
    simple_read()
    text = text_of(client.get(f"/chain/tokens/{TOKEN}/"))
    assert "Verified The transaction hashes to the token ID." in text
    assert "Adds up The total matches the tokens in circulation" in text
    assert "90.00 %" in text
    assert "The baton holder can mint more" in text


def scripted(message):
    return slp.script_of(message).hex()


def moved(txid, message, *, spent_by=None, outputs=3):
    """Details of a transaction with a message in output 0; its last output was the baton's."""
    made = [rows.output(0, "0", message)] + [rows.output(n, "0.00000546", rows.paying(OURS)) for n in range(1, outputs)]
    made[-1]["spentTxId"] = spent_by
    return rows.answered("get_transaction_details", rows.details(txid, vout=made), at=clock.now(), txid=txid)


@pytest.mark.parametrize(
    ("last", "sentence"),
    [
        (None, "Now bchreg:"),
        (slp.Mint(TOKEN, 2, 5), "Now bchreg:"),
        (slp.Mint(TOKEN, None, 5), "given up by the last mint"),
        (slp.Mint(TOKEN, 9, 5), "given up by the last mint"),
        (slp.Mint("ab" * 32, 2, 5), "without minting"),
        (slp.Send(TOKEN, (5,)), "without minting"),
    ],
)
def test_the_baton_is_followed_from_minting_to_minting(client, last, sentence):
    simple_read()
    first, second = h(41, "c"), h(42, "c")
    moved(TOKEN, scripted(GENESIS), spent_by=first)
    moved(first, scripted(slp.Mint(TOKEN, 2, 5)), spent_by=None if last is None else second)
    if last is not None:
        moved(second, scripted(last))
    text = text_of(client.get(f"/chain/tokens/{TOKEN}/"))
    assert sentence in text.partition("Baton location")[2]


def test_a_token_without_a_baton_and_a_very_long_way(client):
    simple_read()
    moved(TOKEN, scripted(slp.Genesis(b"A", b"B", b"", b"", 2, None, 100)))
    assert "never created" in text_of(client.get(f"/chain/tokens/{TOKEN}/"))
    moved(TOKEN, scripted(GENESIS), spent_by=h(1, "b"))
    for n in range(1, 30):
        moved(h(n, "b"), scripted(slp.Mint(TOKEN, 2, 5)), spent_by=h(n + 1, "b"))
    assert "moved too often to trace" in text_of(client.get(f"/chain/tokens/{TOKEN}/"))


@pytest.mark.parametrize(
    ("changes", "differences"),
    [
        ({"name": "Harbour Credlt"}, "name"),
        ({"decimals": 3}, "decimals"),
        ({"initialTokenQty": 5000}, "initial supply"),
        ({"containsBaton": False}, "baton"),
        ({"documentUri": "https://elsewhere.example"}, "document"),
    ],
)
def test_a_service_that_tells_something_else_than_the_bytes_is_shown_to(client, changes, differences):
    simple_read(**changes)
    text = text_of(client.get(f"/chain/tokens/{TOKEN}/"))
    assert f"from this token’s genesis transaction: {differences}." in text


def test_holders_that_do_not_make_up_the_supply_are_shown_to(client):
    simple_read(circulatingSupply=1001)
    assert "Does not add up" in text_of(client.get(f"/chain/tokens/{TOKEN}/"))


def test_a_property_with_grants_frozen_balances_and_its_digest(client):
    property_read()
    text = text_of(client.get("/chain/tokens/4/"))
    assert "705 granted, 100 revoked" in text
    assert "Adds up" in text
    assert re.search(r"fu2c\S* Copy address Frozen|Frozen", text)
    assert "Verified Matches the balances" in text


def test_the_supply_over_time_is_drawn_once_the_block_of_each_grant_is_known(client):
    property_read()
    assert "Supply over time" not in text_of(client.get("/chain/tokens/4/"))
    body = {"fee": "226", "sendingaddress": OURS.cash_address, "ismine": False, "version": 0, "type_int": 55}
    body |= {"type": "Grant Property Tokens", "confirmations": 2, "blocktime": 1_763_700_000, "positioninblock": 1}
    for n, block in ((0, 7), (1, 9)):
        found = body | {"txid": h(n, "c"), "block": block}
        rows.answered("get_token_transaction", found, at=clock.now(), txid=h(n, "c"))
    response = client.get("/chain/tokens/4/")
    text = text_of(response)
    assert "the supply went from 0 to 605.000, peaking at 705.000" in text
    assert text.index("revoked 100") < text.index("granted 705"), "the newest first"
    assert 'class="supply-line" d="M0 140H0V11.2' in response.content.decode()


def test_a_digest_of_other_balances_is_shown_to_differ(client):
    property_read(balances=[BALANCES[0], {**BALANCES[1], "balance": "525.001"}])
    text = text_of(client.get("/chain/tokens/4/"))
    assert "Differs The balances on this page" in text
    assert "Does not add up" in text


def test_a_crowdsale_shows_who_bought_and_only_where_there_is_one(client):
    property_read(managedissuance=False, totaltokens="5000.000")
    sale = {"propertyid": 4, "name": "Points", "active": True, "issuer": OURS.cash_address, "propertyiddesired": 1}
    sale |= {"precision": "3", "tokensperunit": "1.50000000", "earlybonus": 10, "starttime": 1763700000}
    sale |= {"deadline": 2**62, "amountraised": "12.5", "tokensissued": "5000.000", "addedissuertokens": "0.000"}
    bought = [{"txid": h(4, "c"), "amountsent": "12.50000000", "participanttokens": "50.000"}]
    rows.answered(
        "get_crowdsale", sale | {"participanttransactions": bought}, at=clock.now(), propertyId=4, verbose=True
    )
    text = text_of(client.get("/chain/tokens/4/"))
    assert "Sold 50 1.00 % of 5,000" in text
    assert "the end date is invalid" in text
    assert "Grants and revocations" not in text
    assert not ChainAnswer.objects.filter(operation="get_grants", asked_at__gt=clock.now()).exists()


def test_collectibles_with_owners_destroyed_ones_and_chosen_numbers(client):
    family_read()
    text = text_of(client.get("/chain/tokens/collectible-1/"))
    assert "1 destroyed" in text
    assert "2 Destroyed" in text
    assert "3 No collectible has this number" in text
    assert "99887" in text


@pytest.mark.parametrize("name", ["x", "0", "04", "4294967296", "collectible-0", "collectible-", "ab" * 31, "g" * 64])
def test_what_is_no_id_is_not_found_and_nothing_is_asked(client, name):
    assert client.get(f"/chain/tokens/{name}/").status_code == 404
    assert not ChainAnswer.objects.exists()


def test_a_token_that_nobody_knows_is_said_to_be_none(client):
    rows.answered("get_slp_token_stats", {"id": "not found"}, at=clock.now(), tokenId=h(9))
    answer = client.get(f"/chain/tokens/{h(9).upper()}/")
    assert (answer.status_code, "No SLP token has this ID" in text_of(answer)) == (404, True)
    rows.turned_down("get_property", "missing", at=clock.now(), propertyId=77)
    assert client.get("/chain/tokens/77/").status_code == 404


def test_a_name_with_a_nul_is_the_same_name_from_the_service(client):
    """The client marks each NUL in what the service tells; the token's own bytes have it still."""
    named = slp.Genesis(b"A\0B", b"N\0", b"", b"", 2, 2, 100_000)
    begun = transactions.build(inputs=BEGUN.inputs, outputs=[Output(0, slp.script_of(named)), *BEGUN.outputs[1:]])
    body = stats(begun.txid, symbol="A\ufffdB", name="N\ufffd", documentUri="")
    rows.answered("get_slp_token_stats", body, at=clock.now(), tokenId=begun.txid)
    rows.answered("get_raw_transaction", begun.raw.hex(), at=clock.now(), txid=begun.txid, verbose=False)
    page = client.get(f"/chain/tokens/{begun.txid}/")
    assert "Verified The transaction hashes to the token ID." in text_of(page)
    assert b"\0" not in page.content


def test_names_of_tokens_stay_text(client):
    hostile = '<script>alert(1)</script>"\u202e'
    simple_read(name=hostile, symbol=hostile, documentUri="javascript:alert(1)")
    page = client.get(f"/chain/tokens/{TOKEN}/").content.decode()
    assert "<script>alert" not in page
    assert 'href="javascript' not in page


@pytest.mark.parametrize(
    "changes",
    [
        {"mintingBatonStatus": "<b>odd</b>", "blockCreated": -1, "blockLastActiveSend": 10**15},
        {"circulatingSupply": -5, "totalMinted": "1" + "0" * 60, "totalBurned": "0." + "0" * 60 + "1"},
        {"decimals": 10**6, "initialTokenQty": None, "validAddresses": -1, "timestamp": "<i>"},
    ],
)
def test_impossible_figures_of_the_service_are_shown_and_break_nothing(client, changes):
    simple_read(**changes)
    rows.answered("get_slp_tokens", [stats(**changes), stats("../../etc/passwd", **changes)], at=clock.now())
    for path in (f"/chain/tokens/{TOKEN}/", "/chain/tokens/"):
        page = client.get(path)
        assert page.status_code == 200
        assert b"<b>odd" not in page.content
        assert b"passwd" not in page.content


@pytest.mark.parametrize(
    "changes",
    [
        {"precision": "x" * 50},
        {"precision": 10**9, "totaltokens": "1" + "0" * 70},
        {"issuer": "/../", "url": "x" * 9000},
    ],
)
def test_impossible_properties_and_collectibles_break_nothing(client, changes):
    property_read(**changes)
    family_read()
    strange = FAMILY | {"propertyid": "a/b", "owner": "<b>", "haveIssuedNumber": 10**30, "creationblock": -7}
    rows.answered("get_collectible_property", strange, at=clock.now(), propertyId="1")
    rows.turned_down("get_collectible_property", "missing", at=clock.now(), propertyId="2")
    for path in ("/chain/tokens/4/", "/chain/tokens/collectible-1/?page=99999999", "/chain/tokens/?kind=collectible"):
        assert client.get(path).status_code == 200, path


def test_the_navigation_marks_one_place(client):
    for path, label in (
        ("/chain/tokens/", "Tokens"),
        ("/chain/tools/script/", "Tools"),
        ("/chain/tokens/4/", "Tokens"),
    ):
        side = client.get(path).content.decode().partition('<nav class="side"')[2].partition("</nav>")[0]
        current = re.findall(r'aria-current="page">.*?</svg>([^<]*)', side)
        assert current == [label]


def test_old_and_failed_answers_are_shown_as_such(client):
    old = clock.now() - timedelta(minutes=5)
    simple_read(at=old)
    text = text_of(client.get(f"/chain/tokens/{TOKEN}/"))
    assert "refreshing" in text
    assert "1,000" in text
    row = ChainAnswer.objects.get(operation="get_slp_balances_of_token")
    rows.failed(row, problem="No data from the chain-data service at the moment.", now=clock.now())
    text = text_of(client.get(f"/chain/tokens/{TOKEN}/"))
    assert "sync failed" in text
    assert "Showing the last known data" in text


# Cash accounts --------------------------------------------------------------------------------------------------------


def registered(name="Jonathan", *, twice=0):
    """A block with registrations of the name, and their transactions."""
    made = []
    for n in range(1 + twice):
        script = cash_accounts.script_of(Registration(name, (Payment(1, bytes([n]) * 20),)))
        spent = small_chain.payment(40 + n, [(1, b"")]).inputs
        made.append(transactions.build(inputs=spent, outputs=[Output(0, script), Output(1_000, b"\x51" * 20)]))
    chain = small_chain.SmallChain(blocks=1)
    block = chain.mine(*made)
    return block, made


def account_answers(block, made, *, index=0, **changes):
    """`check` and `lookup` of one of them."""
    ids = [each.txid_bytes for each in block.body]
    results = [
        {"transaction": each.raw.hex(), "inclusionProof": proofs.build(block.header, ids, {each.txid_bytes}).raw.hex()}
        for each in made
    ]
    at = clock.now()
    rows.answered(
        "check_cash_account",
        {"identifier": "Jonathan#100", "block": 110, "results": results},
        at=at,
        account="Jonathan",
        number="100",
    )
    own = made[index]
    hashes = [cash_accounts.collision_hash(block.hash, each.txid) for each in made]
    parted = cash_accounts.collision(hashes[index], hashes[:index] + hashes[index + 1 :])
    payment = {"type": "Key Hash", "address": Payment(1, bytes([index]) * 20).text(paying.Network.TEST)}
    information = {"emoji": cash_accounts.emoji(block.hash, own.txid), "name": "Jonathan", "number": 100}
    information |= {
        "collision": {"hash": parted.hash, "count": parted.count, "length": parted.length},
        "payment": [payment],
    }
    body = {"identifier": "Jonathan#100;", "information": information | changes}
    rows.answered("look_up_cash_account", body, at=at, account="Jonathan", number="100")


def test_an_account_is_proven_from_the_bytes_of_its_registration(client):
    block, made = registered()
    account_answers(block, made)
    rows.header(110, at=clock.now())
    rows.ChainHeader.objects.filter(height=110).update(hash=block.hash)
    text = text_of(client.get("/chain/cash-accounts/?q=Jonathan%23100"))
    assert "Matches the service" in text
    assert "Proof Valid" in text
    assert "In main chain" in text
    assert cash_accounts.collision_hash(block.hash, made[0].txid) in text


@pytest.mark.parametrize(
    "changes", [{"emoji": "\U0001f35e\U0001f35e"}, {"payment": []}, {"name": "Jonathon"},
                {"payment": [{"type": "Key Hash", "address": "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap"}]}]
)  # fmt: skip
def test_a_service_that_changes_an_account_is_noticed(client, changes):
    block, made = registered()
    account_answers(block, made, **changes)
    assert "Differs from the service" in text_of(client.get("/chain/cash-accounts/?q=Jonathan%23100"))


def test_a_registration_whose_proof_or_bytes_are_changed_does_not_hold(client):
    block, made = registered()
    other = transactions.build(inputs=made[0].inputs, outputs=[Output(5, b"\x51" * 40), made[0].outputs[0]])
    account_answers(block, made)
    row = ChainAnswer.objects.get(operation="check_cash_account")
    for old, new in ((made[0].raw.hex(), other.raw.hex()), (block.header.raw.hex()[:80], "00" * 40)):
        changed = row.body.replace(old, new)
        assert changed != row.body
        ChainAnswer.objects.filter(pk=row.pk).update(body=changed)
        assert "This registration is invalid" in text_of(client.get("/chain/cash-accounts/?q=Jonathan%23100"))


def test_a_block_that_left_the_chain_proves_nothing(client):
    block, made = registered()
    account_answers(block, made)
    rows.header(110, at=clock.now())
    assert "Not in main chain" in text_of(client.get("/chain/cash-accounts/?q=Jonathan%23100"))


def test_accounts_of_one_name_and_block_are_told_apart_by_digits(client):
    block, made = registered(twice=1)
    account_answers(block, made)
    hashes = [cash_accounts.collision_hash(block.hash, each.txid) for each in made]
    length = cash_accounts.collision(hashes[0], hashes[1:]).length
    text = text_of(client.get("/chain/cash-accounts/?q=Jonathan%23100"))
    assert all(f"Jonathan#100.{each[:length]}" in text for each in hashes)


def test_the_accounts_of_an_address(client):
    found = {
        "accountEmoji": "\U0001f3b5",
        "nameText": "Harbourmaster",
        "accountNumber": 128,
        "accountHash": "7904507223",
    }
    found |= {"accountCollisionLength": 1, "payloadType": 1, "payloadAddress": OURS.cash_address}
    rows.answered("find_cash_accounts", {"results": [found]}, at=clock.now(), account=OURS.cash_address)
    page = client.get(f"/chain/cash-accounts/?q={OURS.legacy_address}").content.decode()
    assert 'href="?q=Harbourmaster%23128.7"' in page


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "Enter an account"),
        ("Jonathan", "Add the account number"),
        ("Jonathan#99", "Account numbers start at 100"),
        ("Jonathan#abc", "After the #, enter the account number"),
        ("J\u00f6rg#100", "Names must be 1 to 99 letters"),
        ("Jonathan#100.x", "After the dot"),
        ("#100", "Names must be"),
        (OURS.cash_address[:-1] + "x", "checksum"),
        ("1DeLbv5EMzLEFDvQ8wZiKeSuPGGtSSz5HP", "main network"),
        ("x" * 5000, "too long for"),
        ("\x00#100", ""),
    ],
)
def test_what_is_neither_account_nor_address_is_told_beside_the_field(client, typed, sentence):
    answer = client.get("/chain/cash-accounts/", {"q": typed})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert sentence in unescape(page.partition('id="id_q-wrong"')[2].partition("</div>")[0])
    assert not ChainAnswer.objects.exists()


# Tools ----------------------------------------------------------------------------------------------------------------

KEY = paying.key(31)
FUNDED = paying.funding(KEY, 100_000)
MADE = paying.signed(KEY, FUNDED, 1, [(99_000, steps.locking(OURS))])


def test_a_transaction_is_explained_and_only_treasury_is_offered_to_send_it(client, signed_in, treasury):
    rows.answered("get_raw_transaction", FUNDED.raw.hex(), at=clock.now(), txid=FUNDED.txid, verbose=False)
    text = text_of(client.post("/chain/tools/transaction/", {"hex": MADE.raw.hex()}))
    assert "Total output 0.00099000 Total input 0.00100000 Fee 0.00001000" in text
    assert "signature valid" in text
    assert "Treasury can broadcast it" in text
    page = signed_in(treasury).post("/chain/tools/transaction/", {"hex": MADE.raw.hex()}).content.decode()
    assert 'name="digest"' in page
    assert "Broadcast 0.00099000 BCH, fee 0.00001000" in unescape(page)


def test_a_part_of_the_explanation_is_read_again_with_the_same_bytes(client, auditor):
    page = client.post("/chain/tools/transaction/", {"hex": MADE.raw.hex()}).content.decode()
    for part in ("effect", "opinion"):
        tag = next(tag for tag in re.findall(r"<section [^>]*>", page) if f'id="{part}"' in tag)
        assert 'hx-post="/chain/tools/transaction/"' in tag
        followed = re.search(r'data-follow="([^"]*)"', tag)[1]
        assert all(topics.admits(auditor, topic) for topic in followed.split())
        headers_of = {"HX-Request": "true", "HX-Target": part}
        answer = client.post("/chain/tools/transaction/", {"hex": MADE.raw.hex()}, headers=headers_of).content.decode()
        assert "<body" not in answer
        assert f'<input type="hidden" name="hex" value="{MADE.raw.hex()}">' in answer


def test_after_a_refused_sending_the_page_reads_again_where_nothing_is_sent(signed_in, treasury, auditor):
    rows.answered("get_raw_transaction", FUNDED.raw.hex(), at=clock.now(), txid=FUNDED.txid, verbose=False)
    form_data = {
        "hex": MADE.raw.hex(),
        "digest": hashlib.sha256(MADE.raw).hexdigest(),
        "reason": "Why",
        "code": "000000",
    }
    answer = signed_in(treasury).post("/chain/tools/broadcasts/new/", form_data)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Why" in page
    assert MADE.raw.hex() in page
    assert page.count('action="/chain/tools/broadcasts/new/"') == 1
    assert 'hx-post="/chain/tools/broadcasts/new/"' not in page
    assert set(re.findall(r'hx-include="([^"]*)"', page)) == {"find input[name=hex]"}
    refused = signed_in(auditor).post("/chain/tools/broadcasts/new/", form_data)
    assert (refused.status_code, "Only treasury can broadcast" in text_of(refused)) == (409, True)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "Paste the data"),
        ("zz", "Not hexadecimal"),
        ("abc", "each byte needs two"),
        ("0x0200", "Remove the 0x prefix"),
        ("02" * 30, ""),
        (MADE.raw.hex() + "00", "follow the end"),
        ("ab" * 200_000, "Enter up to"),
        ("\x00", ""),
    ],
)
def test_bad_bytes_are_told_beside_the_field_and_stay_in_it(client, typed, sentence):
    for tool in ("transaction", "proof"):
        answer = client.post(f"/chain/tools/{tool}/", {"hex": typed})
        page = unescape(answer.content.decode())
        assert answer.status_code == 422
        wrong = page.partition('id="id_hex-wrong"')[2].partition("</div>")[0]
        assert wrong
        assert tool == "proof" or sentence in wrong
        assert typed.replace("\x00", "") in page
    assert not ChainAnswer.objects.exists()


def test_a_script_and_a_proof_are_compared_with_the_service(client):
    rows.answered("decode_script", {"asm": "OP_RETURN 0", "type": "nulldata"}, at=clock.now(), final=True, hex="6a00")
    text = text_of(client.post("/chain/tools/script/", {"hex": "6A 00"}))
    assert "OP_RETURN 0" in text
    assert "Agrees" in text
    chain = small_chain.SmallChain(blocks=1)
    body = [small_chain.payment(n, [(1_000, b"\x51")]) for n in (1, 2)]
    block = chain.mine(*body)
    proof = proofs.build(block.header, [each.txid_bytes for each in block.body], {body[0].txid_bytes}).raw.hex()
    rows.answered("verify_tx_out_proof", [], at=clock.now(), proof=proof)
    text = text_of(client.post("/chain/tools/proof/", {"hex": proof}))
    assert "Valid proof" in text
    assert body[0].txid in text
    assert "Differs" in text
    assert "no stored header has this hash" in text


def test_an_address_is_converted_at_once_and_compared_when_the_service_answered(client):
    text = text_of(client.get(f"/chain/tools/?address={OURS.legacy_address}"))
    assert "Valid on this chain" in text
    assert "Loading" in text
    forms = {"cashAddress": OURS.cash_address, "slpAddress": OURS.slp_address, "legacyAddress": OURS.legacy_address}
    rows.answered("convert_address", forms, at=clock.now(), final=True, address=OURS.cash_address)
    valid = {"isvalid": True, "address": OURS.cash_address, "scriptPubKey": rows.paying(OURS)}
    rows.answered("validate_address", valid, at=clock.now(), final=True, address=OURS.cash_address)
    assert "Agrees" in text_of(client.get(f"/chain/tools/?address={OURS.slp_address}"))
    rows.answered("validate_address", {"isvalid": False}, at=clock.now(), final=True, address=OURS.cash_address)
    assert "Differs" in text_of(client.get(f"/chain/tools/?address={OURS.slp_address}"))


def test_an_address_of_another_network_is_not_asked_about(client):
    text = text_of(client.get("/chain/tools/?address=1DeLbv5EMzLEFDvQ8wZiKeSuPGGtSSz5HP"))
    assert "This address is for the main network" in text
    assert not ChainAnswer.objects.exists()


def test_a_payload_waits_for_the_precision_of_its_property(client):
    path = "/chain/tools/payload/?kind=simple-send&make=1&propertyId=115&amount=100"
    assert "Loading decimals for property 115" in text_of(client.get(path))
    rows.answered("get_property", whole(115), at=clock.now(), propertyId=115)
    assert "000000000000007300000000000186a0" in text_of(client.get(path))
    rows.turned_down("get_property", "missing", at=clock.now(), propertyId=116)
    assert "Property 116 not found" in text_of(client.get(path.replace("115", "116")))


@pytest.mark.parametrize(
    ("query", "field", "sentence"),
    [
        ("kind=simple-send&make=1&propertyId=1&amount=1e3", "amount", "digits"),
        ("kind=simple-send&make=1&propertyId=1&amount=0.123456789", "amount", "more decimals"),
        ("kind=simple-send&make=1&propertyId=-1&amount=1", "propertyId", "whole number"),
        ("kind=simple-send&make=1&propertyId=4294967296&amount=1", "propertyId", "whole number"),
        ("kind=freeze&make=1&propertyId=4&toAddress=1DeLbv5EMzLEFDvQ8wZiKeSuPGGtSSz5HP", "toAddress", "main network"),
        ("kind=managed&make=1&ecosystem=2&propertyPrecision=3&previousId=0&name=x", "ecosystem", ""),
        ("kind=managed&make=1&ecosystem=1&propertyPrecision=9&previousId=0&name=x", "propertyPrecision", "from 0 to 8"),
        ("kind=crowdsale&make=1&deadline=tomorrow", "deadline", "2030-12-31"),
        ("kind=grant&make=1&propertyId=1&amount=1&memo=" + "%C3%A4" * 128, "memo", "255 bytes"),
    ],
)
def test_bad_members_of_a_payload_are_told_beside_their_field(client, query, field, sentence):
    answer = client.get(f"/chain/tools/payload/?{query}")
    page = unescape(answer.content.decode())
    assert answer.status_code == 422
    wrong = page.partition(f'id="id_{field}-wrong"')[2].partition("</div>")[0]
    assert wrong
    assert sentence in wrong


def test_the_simple_ledger_is_asked_about_a_transaction(client):
    at, txid = clock.now(), h(6, "c")
    invalid = {"txid": txid, "valid": False, "invalidReason": "Token outputs are greater than inputs."}
    rows.answered("validate_slp_transaction", invalid, at=at, txid=txid)
    burned = {"transactionId": txid, "inputTotal": 100, "outputTotal": 99, "burnTotal": 1}
    rows.answered("get_slp_burn_total", burned, at=at, transactionId=txid)
    text = text_of(client.get(f"/chain/tools/simple-ledger/?txid={txid.upper()}"))
    assert "Invalid" in text
    assert "greater than inputs" in text
    assert "Burned 1" in text
    assert client.get("/chain/tools/simple-ledger/?txid=abc").status_code == 422


# Cost -----------------------------------------------------------------------------------------------------------------


def queries(client, path):
    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert client.get(path).status_code == 200
    return len(seen.captured_queries)


def test_three_rows_take_as_many_queries_as_one(client, standing_clock):
    costs = []
    for count in (1, 3):
        rows.answered("get_slp_tokens", [stats(h(n)) for n in range(count)], at=clock.now())
        listed = [{k: v for k, v in whole(n).items() if k in LISTED} for n in range(3, 3 + count)]
        rows.answered("get_properties", listed, at=clock.now())
        for n in range(3, 6):
            rows.answered("get_property", whole(n), at=clock.now(), propertyId=n)
        simple_read(holders=count)
        property_read(grants=count)
        family_read()
        found = [{"accountEmoji": "x", "nameText": f"N{n}", "accountNumber": 128, "accountHash": "7904507223",
                  "accountCollisionLength": 0, "payloadType": 1, "payloadAddress": OURS.cash_address}
                 for n in range(count)]  # fmt: skip
        rows.answered("find_cash_accounts", {"results": found}, at=clock.now(), account=OURS.cash_address)
        costs.append([queries(client, path) for path in COSTED])
    assert costs[0] == costs[1]


COSTED = (
    "/chain/tokens/",
    "/chain/tokens/?kind=property",
    f"/chain/tokens/{TOKEN}/",
    "/chain/tokens/4/",
    f"/chain/cash-accounts/?q={OURS.cash_address}",
)


def test_each_part_of_a_token_page_is_read_by_itself(client, auditor):
    simple_read()
    property_read()
    family_read()
    for path in (f"/chain/tokens/{TOKEN}/", "/chain/tokens/4/", "/chain/tokens/collectible-1/", "/chain/tokens/"):
        page = client.get(path).content.decode().partition('<main id="main"')[2]
        tags = [
            dict(re.findall(r'([a-z-]+)="([^"]*)"', tag))
            for tag in re.findall(r"<section [^>]*data-follow[^>]*>", page)
        ]
        assert tags
        for part in tags:
            assert all(topics.admits(auditor, topic) for topic in part["data-follow"].split())
            answer = client.get(
                part["hx-get"], headers={"HX-Request": "true", "HX-Target": part["id"]}
            ).content.decode()
            assert answer.strip().startswith("<section")
            assert f'id="{part["id"]}"' in answer
            assert "<body" not in answer
