"""A raw transaction is explained, asked for with a second factor, sent once, and looked for when the answer is lost."""

import json
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from chaindata.broadcasts import explanation, machine, requests, sending
from chaindata.broadcasts.models import ChainBroadcast
from chaindata.cache import service
from chaindata.cache.models import ChainAnswer
from chaindata.shared import owned_addresses
from chaindata.tools import cross_checks, tools
from chaindata.wire import refusals, transactions
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Input
from desk import clock, rooms
from desk.machines import step_clock
from desk.models import AuditEvent, StepUp
from desk.people import stepup, totp
from desk.people.signing import signed_fields
from desk.people.stepup import CannotConfirm
from tests.chaindata import paying
from tests.chaindata.views import rows
from tests.desk.authenticator import SoftKey
from tests.rows import unguarded
from wire.values import Secret

pytestmark = pytest.mark.django_db
SECRET = Secret("COUNTERSIGNDEMOSECRET234567ABCDE")
OWNER, OTHER = paying.key(21), paying.key(22)
FUNDED = paying.funding(OWNER, 100_000)
PAYMENT = paying.signed(OWNER, FUNDED, 1, [(99_000, steps.locking(OTHER.address))])
HEX = PAYMENT.raw.hex()
SPOKEN = refusals.read(400, b'{"error":"No such mempool or blockchain transaction."}')
ABSENT = (400, {"error": "No such mempool or blockchain transaction. Use gettransaction for wallet transactions."})


UNSPENT = {"bestblock": "ab" * 32, "confirmations": 1, "value": 0.001, "coinbase": False}
UNSPENT |= {"scriptPubKey": {"asm": "", "hex": "", "type": "pubkeyhash"}}


class Node:
    """The service with a mempool: what it knows by id, and what it answers to a sending."""

    def __init__(self):
        self.known = {FUNDED.txid: FUNDED.raw.hex()}
        self.sent = []
        self.answer = self.take
        self.spent = False

    def take(self, raw):
        txid = transactions.read(bytes.fromhex(raw)).txid
        self.known[txid] = raw
        return 200, txid

    def respond(self, path, body):
        name, _, argument = path.removeprefix("/rawtransactions/").partition("?")[0].partition("/")
        if name == "sendRawTransaction":
            raw = body["hexes"][0] if body else argument
            self.sent.append(raw)
            status, value = self.answer(raw)
            value = [value] if body and status == 200 else value
        elif path.startswith("/blockchain/getTxOut/"):
            status, value = 200, (None if self.spent else UNSPENT)
        elif name == "getRawTransaction":
            status, value = (200, self.known[argument]) if argument in self.known else ABSENT
        else:
            status, value = 404, {"error": "Not found"}
        return status, value if isinstance(value, bytes) else json.dumps(value).encode()


@pytest.fixture
def node(service, settings):
    settings.CHAIN_NETWORKS = ("regtest", "test")
    node = Node()
    service.respond = node.respond
    return node


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch):
    monkeypatch.setattr("desk.outbox._send", lambda *arguments: None)


@pytest.fixture
def signer(treasury):
    totp.enrol(treasury, SECRET)
    return treasury


def code(now, step=0):
    return {"kind": "totp", "code": totp.code_at(SECRET, totp.step_at(now) + step)}


def requested(person, run_worker, text=HEX, *, step=0, **changes):
    """Ask as a page does that has read what is spent."""
    now = clock.now()
    explanation.explain_text(text=text, now=now)
    run_worker(now)
    arguments = {"text": text, "digest": requests.digest_of(tools.raw_of(text)), "reason": "As agreed"}
    arguments |= {"person": person, "answer": code(now, step), "session_key": "s", "now": now} | changes
    return requests.ask(**arguments)


def step(row, after_s=0, open_client=service.open_client):
    sending.sweep(now=row.created_at + timedelta(seconds=after_s), open_client=open_client)
    row.refresh_from_db()
    return row.state


# Explaining -----------------------------------------------------------------------------------------------------------


def test_explaining_gives_nobody_a_transaction_that_can_be_sent(node, run_worker, request):
    """Only what was confirmed with a second factor leaves with its signatures."""
    calls = request.getfixturevalue("service").calls
    decoded, now = tools.decode(text=HEX), clock.now()
    explanation.explain(decoded=decoded, now=now)
    cross_checks.transaction_opinion(decoded=decoded, now=now)
    run_worker(now)
    (asked_about,) = [call.rpartition("/")[2] for call in calls if "decodeRawTransaction" in call]
    bare = transactions.read(bytes.fromhex(asked_about))
    assert [each.script for each in bare.inputs] == [b""]
    assert (bare.outputs, bare.version, bare.locktime) == (PAYMENT.outputs, PAYMENT.version, PAYMENT.locktime)
    signed = PAYMENT.inputs[0].script.hex()
    assert not any(signed in call for call in calls)
    assert not any(signed in str(row.arguments) for row in ChainAnswer.objects.all())


def explained(run_worker, text=HEX):
    now = clock.now()
    first = explanation.explain_text(text=text, now=now)
    assert first.is_waiting
    assert first.fee_sat is None
    assert not first.can_be_sent, "what it spends is not read yet"
    run_worker(now)
    return explanation.explain_text(text=text, now=now)


def test_what_it_pays_spends_and_costs_follows_from_proven_bytes(node, run_worker, monkeypatch):
    monkeypatch.setattr(owned_addresses, "_lookups", {})
    owned_addresses.register(
        "test", lambda found: {address: "deposit address" for address in found if address.endswith(SPENT[-8:])}
    )
    found = explained(run_worker)
    assert (found.in_sat, found.out_sat, found.fee_sat) == (100_000, 99_000, 1_000)
    (source,) = found.sources
    assert (source.value_sat, source.address, source.signature, source.owner) == (
        100_000,
        SPENT,
        "valid",
        "deposit address",
    )
    assert found.spends_ours
    assert found.can_be_sent
    assert found.payments[0].owner == ""


LIE = paying.funding(OWNER, 900_000)
SPENT = steps.addresses_of(FUNDED.outputs[1].script, tools.Network.TEST)[0].cash_address


def test_a_service_that_lies_about_what_is_spent_is_noticed(node, run_worker):
    node.known[FUNDED.txid] = LIE.raw.hex()
    found = explained(run_worker)
    assert found.sources[0].value_sat is None
    assert not found.can_be_sent
    assert "a different item from the one requested" in found.freshness.problem


def test_a_kept_answer_that_lies_is_noticed_as_well(node):
    rows.answered("get_raw_transaction", LIE.raw.hex(), at=clock.now(), txid=FUNDED.txid, verbose=False)
    found = explanation.explain_text(text=HEX, now=clock.now())
    assert (found.fee_sat, found.can_be_sent) == (None, False)
    assert "a different transaction" in found.obstacles[0]


def test_a_signature_of_somebody_else_or_of_other_outputs_does_not_fit(node, run_worker):
    stranger = paying.signed(OTHER, FUNDED, 1, [(99_000, steps.locking(OTHER.address))])
    moved = transactions.build(inputs=PAYMENT.inputs, outputs=[transactions.Output(98_000, PAYMENT.outputs[0].script)])
    for made in (stranger, moved):
        found = (
            explained(run_worker, made.raw.hex())
            if made is stranger
            else explanation.explain_text(text=made.raw.hex(), now=clock.now())
        )
        assert found.sources[0].signature == "invalid"
        assert not found.can_be_sent


def test_what_makes_a_sending_pointless_or_unwise_is_said(node, run_worker):
    more = paying.signed(OWNER, FUNDED, 1, [(100_001, steps.locking(OTHER.address))])
    assert "exceed the inputs by 1 sat" in explained(run_worker, more.raw.hex()).obstacles[0]
    dear = paying.signed(OWNER, FUNDED, 1, [(545, steps.locking(OTHER.address))])
    warnings = explanation.explain_text(text=dear.raw.hex(), now=clock.now()).warnings
    assert "unusually high" in warnings[0]
    assert "outputs below 546 sat (dust). Dust outputs: 0." in warnings[1]


def test_what_was_spent_before_is_said(node, run_worker):
    assert not explained(run_worker).warnings
    other = paying.signed(OWNER, FUNDED, 1, [(98_000, steps.locking(OTHER.address))])
    node.spent = True
    run_worker(clock.now() + timedelta(seconds=20))
    found = explanation.explain_text(text=other.raw.hex(), now=clock.now())
    assert found.warnings == ("Inputs that spend a missing or already spent output: 0.",)


def test_a_transaction_with_very_many_inputs_is_not_looked_up_without_end(node):
    many = transactions.build(
        inputs=[Input(number.to_bytes(32, "big"), 0, b"") for number in range(1, 200)], outputs=PAYMENT.outputs
    )
    found = explanation.explain_text(text=many.raw.hex(), now=clock.now())
    assert (len(found.sources), found.omitted_inputs, found.fee_sat) == (explanation.MOST_SOURCES, 149, None)


# Asking ---------------------------------------------------------------------------------------------------------------


def test_treasury_asks_with_a_second_factor_for_exactly_these_bytes(node, signer, run_worker):
    row = requested(signer, run_worker)
    assert (row.state, row.txid, row.raw, row.size) == ("requested", PAYMENT.txid, HEX, len(PAYMENT.raw))
    assert row.explained["fee_sat"] == 1_000
    assert row.digest == requests.digest_of(PAYMENT.raw)
    assert row.confirmation.digest == signed_fields.bind(row.digest, {"reason": "As agreed"})
    event = AuditEvent.objects.get(subject=row.subject)
    assert (event.action, event.actor_id) == ("chain-broadcast.asked", signer.pk)
    assert node.sent == [], "nothing leaves by asking"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"digest": "ab" * 32}, "changed after it was shown"),
        ({"reason": "  "}, "Enter a reason"),
        ({"reason": "x" * 501}, "Enter a reason"),
    ],
)
def test_other_bytes_or_no_reason_leave_nothing_behind(node, signer, run_worker, changes, sentence):
    with pytest.raises(requests.CannotBroadcast, match=sentence):
        requested(signer, run_worker, **changes)
    assert not ChainBroadcast.objects.exists()
    assert not StepUp.objects.exists(), "the second factor was not spent"


def test_the_reason_is_signed_with_the_bytes(node, signer, run_worker):
    key, now, digest = SoftKey(), clock.now(), requests.digest_of(PAYMENT.raw)
    key.enrol(signer)
    terms = {"person": signer, "purpose": requests.PURPOSE, "session_key": "s", "now": now}
    for signed_digest in (digest, signed_fields.bind(digest, {"reason": "Another reason"})):
        answer = key.answer(stepup.challenge(digest=signed_digest, **terms))
        with pytest.raises(CannotConfirm, match="does not match the page"):
            requested(signer, run_worker, answer=answer)
    assert not ChainBroadcast.objects.exists()
    signed_digest = signed_fields.bind(digest, {"reason": "As agreed"})
    row = requested(signer, run_worker, answer=key.answer(stepup.challenge(digest=signed_digest, **terms)))
    assert (step(row), node.sent) == ("sent", [HEX])


def test_what_an_earlier_version_confirmed_without_its_reason_is_sent(node, signer, run_worker, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr(signed_fields, "bind", lambda digest, fields: digest)
        row = requested(signer, run_worker)
    assert row.confirmation.digest == row.digest
    assert (step(row), node.sent) == ("sent", [HEX])


def test_nobody_but_treasury_asks(node, operator, admin, run_worker):
    for person in (operator, admin):
        with pytest.raises(requests.CannotBroadcast, match="Only treasury"):
            requested(person, run_worker)


def test_a_wrong_code_leaves_nothing_behind(node, signer, run_worker):
    with pytest.raises(CannotConfirm):
        requested(signer, run_worker, answer={"kind": "totp", "code": "000000"})
    assert not ChainBroadcast.objects.exists()
    assert not AuditEvent.objects.filter(action__startswith="chain-broadcast").exists()


def test_a_double_click_is_one_row_and_a_second_person_is_told(node, signer, treasury2, run_worker):
    row = requested(signer, run_worker)
    assert requested(signer, run_worker).pk == row.pk
    with pytest.raises(requests.CannotBroadcast, match=row.reference):
        requested(treasury2, run_worker)
    assert ChainBroadcast.objects.count() == 1


# Sending --------------------------------------------------------------------------------------------------------------


def test_it_is_sent_once_and_the_row_says_so(node, signer, run_worker):
    row = requested(signer, run_worker)
    assert step(row) == "sent"
    assert step(row, 60) == "sent"
    assert node.sent == [HEX]
    actions = list(AuditEvent.objects.filter(subject=row.subject).order_by("seq").values_list("action", flat=True))
    assert actions == ["chain-broadcast.asked", "chain-broadcast.claimed", "chain-broadcast.accepted"]


def test_a_long_one_travels_in_a_body_and_a_longer_one_not_at_all(node, signer, run_worker, service):
    note = steps.returning([b"x" * 20_000])
    long = paying.signed(OWNER, FUNDED, 1, [(50_000, note)])
    row = requested(signer, run_worker, long.raw.hex())
    assert step(row) == "sent"
    assert node.sent == [long.raw.hex()]
    longer = paying.signed(OWNER, FUNDED, 1, [(50_000, steps.returning([b"x" * 60_000]))])
    with pytest.raises(requests.CannotBroadcast, match="the limit is 50,000"):
        requested(signer, run_worker, longer.raw.hex(), step=1)


def test_what_the_network_has_already_is_not_sent(node, signer, run_worker):
    row = requested(signer, run_worker)
    node.known[PAYMENT.txid] = HEX
    assert step(row) == "found"
    assert node.sent == []


def test_a_refusal_ends_it_and_the_same_bytes_may_be_asked_for_anew(node, signer, run_worker):
    row = requested(signer, run_worker)
    node.answer = lambda raw: (400, {"error": "txn-mempool-conflict (code 18)"})
    assert step(row) == "refused"
    assert row.last_problem == "txn-mempool-conflict (code 18)"
    again = requested(signer, run_worker, step=1)
    assert again.pk != row.pk
    assert node.sent == [HEX]


def test_a_refusal_of_what_the_network_has_is_no_refusal(node, signer, run_worker):
    row = requested(signer, run_worker)

    def had_already(raw):
        node.take(raw)
        return 400, {"error": "transaction already in block chain"}

    node.answer = had_already
    assert step(row) == "found"


@pytest.mark.parametrize(
    "answer", [(500, b"<html>"), (503, {"error": "Network error"}), (200, {"odd": 1}), (200, "ab" * 32)]
)
def test_a_lost_answer_is_looked_for_and_never_sent_again(node, signer, run_worker, answer):
    row = requested(signer, run_worker)

    def taken_and_lost(raw):
        node.take(raw)
        return answer

    node.answer = taken_and_lost
    assert step(row) == "unknown"
    assert step(row, 1) == "found"
    assert node.sent == [HEX]


def test_what_is_never_seen_is_said_to_be_and_not_sent_again(node, signer, run_worker):
    row = requested(signer, run_worker)
    node.answer = lambda raw: (500, b"")
    assert step(row) == "unknown"
    assert step(row, 60) == "unknown"
    assert step(row, 130) == "not_seen"
    assert step(row, 900) == "not_seen"
    assert node.sent == [HEX]


def test_a_worker_that_died_while_sending_leaves_an_unknown_outcome(node, signer, run_worker):
    row = requested(signer, run_worker)

    client = service.open_client()
    client.call = lambda name, **arguments: (_ for _ in ()).throw(
        KeyboardInterrupt() if name.startswith("send") else sending.Absent(SPOKEN, 400)
    )
    with pytest.raises(KeyboardInterrupt):
        step(row, open_client=lambda: client)
    row.refresh_from_db()
    assert (row.state, row.sends) == ("sending", 1)
    assert step(row, 10) == "sending", "its time is not over"
    assert step(row, 50) == "unknown"
    assert node.sent == []


def test_a_service_that_is_away_keeps_it_waiting_and_not_for_ever(node, signer, run_worker, settings):
    row = requested(signer, run_worker)
    settings.CHAINDATA_URL = "http://127.0.0.1:9"
    assert step(row) == "requested"
    assert "can't be checked" in row.last_problem
    assert step(row, 601) == "not_sent"
    assert node.sent == []


def test_other_bytes_than_the_signed_ones_never_leave(node, signer, run_worker):
    row = requested(signer, run_worker)
    other = paying.signed(OWNER, FUNDED, 1, [(98_000, steps.locking(OTHER.address))])
    with unguarded(machine.GUARDS):
        ChainBroadcast.objects.update(raw=other.raw.hex())
    assert step(row) == "not_sent"
    assert row.last_problem == "The stored transaction differs from the one that was confirmed."
    assert node.sent == []


def test_the_list_does_not_load_the_bytes(node, signer, run_worker, signed_in):
    row = requested(signer, run_worker)
    client = signed_in(signer)
    with CaptureQueriesContext(connection) as queries:
        assert row.reference in client.get("/chain/tools/broadcasts/").content.decode()
    read = [each["sql"] for each in queries if 'FROM "chaindata_chainbroadcast"' in each["sql"]]
    assert len(read) == 1
    assert '"raw"' not in read[0]


def test_the_page_counts_confirmations_on_when_the_answer_is_final(node, signer, run_worker, signed_in):
    row = requested(signer, run_worker)
    rows.answered("get_transaction_details", rows.details(row.txid), at=clock.now(), final=True, txid=row.txid)
    rows.tip(100, at=clock.now())
    page = signed_in(signer).get(f"/chain/tools/broadcasts/{row.pk}/").content.decode()
    assert "98 confirmations" in " ".join(page.split())


def test_a_worker_begins_no_step_so_late_that_it_would_be_ended_while_it_sends(node, signer, run_worker, monkeypatch):
    first = requested(signer, run_worker)
    twin = paying.signed(OWNER, FUNDED, 1, [(98_000, steps.locking(OTHER.address))])
    second = requested(signer, run_worker, twin.raw.hex(), step=1)
    boot, seconds = step_clock.time.clock_gettime_ns, [0]
    monkeypatch.setattr(step_clock.time, "clock_gettime_ns", lambda which: boot(which) + seconds[0] * 1_000_000_000)

    def slow(raw):
        seconds[0] += 9
        return Node.take(node, raw)

    node.answer = slow
    assert sending.sweep(now=second.created_at, open_client=service.open_client) == 1
    assert [row.state for row in ChainBroadcast.objects.order_by("pk")] == ["sent", "requested"]
    assert first.txid == PAYMENT.txid
    assert step(second) == "sent"


def test_the_trail_replays_to_the_rows_and_every_change_shows(node, signer, run_worker):
    row = requested(signer, run_worker)
    assert step(row) == "sent"
    events = AuditEvent.objects.filter(subject=row.subject).order_by("seq")
    assert list(machine.REPLAY.check(events.iterator())) == []
    assert machine.REPLAY.subject in rooms.replays()
    for changes in ({"state": "refused"}, {"reason": "Another"}, {"sends": 0}, {"txid": "ab" * 32}):
        before = {name: getattr(row, name) for name in changes}
        with unguarded(machine.GUARDS):
            ChainBroadcast.objects.filter(pk=row.pk).update(**changes)
            assert len(list(machine.REPLAY.check(events.iterator()))) == 1, changes
            ChainBroadcast.objects.filter(pk=row.pk).update(**before)
    with unguarded(machine.GUARDS):
        row.events.filter(version=2).delete()
        assert list(machine.REPLAY.check(events.iterator())) == [
            f"{row.reference}, version 2: its event does not match the trail."
        ]
        row.events.all().delete()
        ChainBroadcast.objects.filter(pk=row.pk).delete()
    assert f"{row.reference} is in the trail but not in the table." in list(machine.REPLAY.check(events.iterator()))


@pytest.mark.engine("guards: what the database refuses")
def test_the_database_refuses_a_second_sending_and_a_twin(node, signer, run_worker):
    row = requested(signer, run_worker)
    with pytest.raises(IntegrityError), transaction.atomic():
        ChainBroadcast.objects.filter(pk=row.pk).update(sends=2)
    row.pk, row.confirmation = None, None
    twin = StepUp.objects.get()
    twin.pk, twin.totp_step = None, (twin.totp_step or 0) + 5
    twin.save(force_insert=True)
    row.confirmation = twin
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)
