"""Calls that carry a private key: off by default, to few places only, and the key shows nowhere afterwards."""

import io
import json
import logging
import re
import traceback
from dataclasses import replace
from decimal import Decimal
from urllib.parse import quote

import pytest
from django.core.management import CommandError, call_command

from chaindata.cache import answers, questions
from chaindata.cache import service as ways
from chaindata.cache.models import ChainAnswer
from chaindata.client.keyed import Funding, KeyWouldTravel, TokenSender, Way
from chaindata.wire import keys
from chaindata.wire.addresses import ALL_NETWORKS, Network
from desk.models import AuditEvent
from tests.chaindata.conftest import NOW
from tests.exchange_ops.wire import golden
from wire.errors import CallFailed, OutcomeUnknown
from wire.operation import BadArgument, Problem
from wire.values import Secret

KEY = keys.of_number(0xC0FFEE, Network.REGTEST)
WIF = KEY.wif.reveal()
SLP, CASH = KEY.address.slp_address, KEY.address.cash_address
TXID = "5165dc531aad05d1149bb0f0d9b7bda99c73e2f05e314bcfb5b4bb9ca5e1af5e"
FUNDING = Funding(SLP, KEY.wif, CASH)
SENDING = {"funding": FUNDING, "receiver": SLP, "token_id": TXID, "amount": Decimal("1.5")}
PATH = f"/slp/sendTokenType1/{quote(SLP, safe='')}/{WIF}/{quote(SLP, safe='')}/{quote(CASH, safe='')}/{TXID}/1.5"
FILES = golden.files("chaindata")


def sender(url, **changes):
    return TokenSender(Way(url, **{"enabled": True, **changes}), networks=ALL_NETWORKS)


@pytest.fixture
def token_sender(service):
    made = sender(service.url)
    yield made
    made.close()


# Where they may go ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("https://chain.example", ()),
        ("https://chain.example", ("other.example", "example", "xchain.example")),
        ("http://chain.example", ("chain.example",)),
        ("http://10.0.0.1", ("10.0.0.1",)),
        ("https://127.0.0.1.example", ("127.0.0.1",)),
        ("https://localhost.example", ()),
        ("https://chain.example.evil.test", ("chain.example",)),
        ("http://0.0.0.0", ()),
        ("https://169.254.169.254", ()),
        ("ftp://localhost.", ()),
        ("", ()),
    ],
)
def test_a_key_goes_nowhere_else(url, hosts):
    with pytest.raises(KeyWouldTravel):
        sender(url, hosts=hosts)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1", "https://127.0.0.1"])
def test_this_machine_may_have_it_where_calls_with_keys_are_on(url):
    sender(url).close()
    with pytest.raises(KeyWouldTravel, match="disabled here"):
        sender(url, enabled=False)


def test_a_named_host_may_have_it_by_https():
    sender("https://Chain.Example/v9", hosts=("chain.example",)).close()


def test_they_are_off_by_default(settings, service):
    from chaindata.tools import keyed

    assert (settings.CHAIN_KEYED_CALLS, settings.CHAIN_KEYED_HOSTS) == (False, [])
    with pytest.raises(KeyWouldTravel):
        keyed.open_sender()


# What they send -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["create_slp_token", "mint_slp_token", "send_slp_token"])
def test_a_call_is_made_once_and_as_documented(service, token_sender, name):
    """The file's key belongs to no address of the file, so ours takes its place in the documented address."""
    file = FILES[name]
    arguments = file["arguments"]
    ours = {arguments["fundingAddress"]: SLP, arguments["fundingWif"]: WIF, arguments["bchChangeReceiverAddress"]: CASH}
    path = file["path"]
    for theirs, mine in ours.items():
        path = path.replace(quote(theirs, safe=""), quote(mine, safe=""))
    service.respond = lambda path, body: (200, json.dumps(file["reply"]).encode())
    answer = {
        "create_slp_token": lambda: token_sender.create_slp_token(
            funding=FUNDING,
            receiver=SLP,
            baton=SLP,
            decimals=arguments["decimals"],
            name=arguments["name"],
            symbol=arguments["symbol"],
            document_uri=arguments["documentUri"],
            document_hash=arguments["documentHash"],
            quantity=Decimal(arguments["initialTokenQty"]),
        ),
        "mint_slp_token": lambda: token_sender.mint_slp_token(
            funding=FUNDING,
            receiver=SLP,
            baton=SLP,
            token_id=arguments["tokenId"],
            quantity=Decimal(arguments["additionalTokenQty"]),
        ),
        "send_slp_token": lambda: token_sender.send_slp_token(
            funding=FUNDING, receiver=SLP, token_id=arguments["tokenId"], amount=Decimal(arguments["amount"])
        ),
    }[name]()
    assert answer == file["reply"]
    assert service.target == f"GET {path}"
    assert len(service.calls) == 1


def test_a_key_of_another_address_and_a_wrong_form_are_not_sent(service, token_sender):
    other = keys.of_number(7, Network.REGTEST)
    wrong = [
        {"funding": Funding(SLP, other.wif, CASH)},
        {"funding": Funding(CASH, KEY.wif, CASH)},
        {"funding": Funding(SLP, KEY.wif, SLP)},
        {"funding": Funding(SLP, Secret("5J" + "x" * 49), CASH)},
        {"funding": Funding(WIF, KEY.wif, CASH)},
        {"receiver": CASH},
        {"receiver": WIF},
        {"token_id": ""},
        {"amount": Decimal(-1)},
    ]
    for change in wrong:
        with pytest.raises(BadArgument) as refused:
            token_sender.send_slp_token(**{**SENDING, **change})
        assert WIF not in printed(refused.value, variables=False)
    assert service.calls == []


# Where the key does not show ------------------------------------------------------------------------------------------


def printed(problem, *, variables=True):
    """Everything that a log, a page or a tracker of errors could make of an exception, variables of ours included."""
    whole = traceback.TracebackException.from_exception(problem, capture_locals=False)
    parts = [str(problem), repr(problem), repr(problem.args), repr(vars(problem)), "".join(whole.format())]
    frames = [frame for frame, _ in traceback.walk_tb(problem.__traceback__)]
    ours = [frame for frame in frames if variables and "/tests/" not in frame.f_code.co_filename]
    return "\n".join([*parts, *(repr(frame.f_locals) for frame in ours)])


ECHOES = [
    (400, {"error": f"no funds: {PATH}"}),
    (400, {"error": f"no funds: {PATH.upper()}"}),
    (404, {"status": 404, "message": f"Not Found {PATH}"}),
    (500, {"error": f"failed {WIF}"}),
    (503, f"<html>{PATH}</html>".encode()),
    (429, {"error": f"Too many requests {PATH}"}),
    (302, f"moved {WIF}".encode()),
    (200, {"echo": WIF}),
    (200, f"<html>{WIF}".encode()),
    (200, [WIF]),
]


@pytest.mark.parametrize("answer", ECHOES)
def test_an_answer_that_repeats_the_key_is_not_quoted_with_it(service, token_sender, answer, capsys, caplog):
    logging.getLogger().setLevel(logging.DEBUG)
    caplog.set_level(logging.DEBUG)
    service.headers = {"Location": f"{service.url}/v2{PATH}"}
    service.respond = lambda path, body: (
        answer[0],
        answer[1] if isinstance(answer[1], bytes) else json.dumps(answer[1]).encode(),
    )
    with pytest.raises(CallFailed) as caught:
        token_sender.send_slp_token(**SENDING)
    assert service.calls == [f"GET {PATH}"], "sent once, and nowhere else"
    captured = capsys.readouterr()
    for text in (printed(caught.value), captured.out, captured.err, caplog.text, repr(caplog.records)):
        assert WIF.lower() not in text.lower()
    if isinstance(caught.value, OutcomeUnknown):
        assert WIF.lower() not in json.dumps(caught.value.evidence).lower()


def test_a_connection_that_fails_does_not_show_the_key(service, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    lonely = sender("http://127.0.0.1:9")
    with pytest.raises(CallFailed) as caught:
        lonely.send_slp_token(**SENDING)
    lonely.close()
    assert WIF not in printed(caught.value) + caplog.text + capsys.readouterr().err


def test_requests_and_their_parts_do_not_show_the_key():
    from chaindata.wire import catalogue
    from wire.operation import bind

    arguments = {**FILES["mint_slp_token"]["arguments"], "fundingWif": WIF, "additionalTokenQty": Decimal(3)}
    request = bind(catalogue.by_name["mint_slp_token"], arguments)
    assert WIF in request.path
    assert WIF not in repr(request) + repr(FUNDING) + str(FUNDING)
    with pytest.raises(BadArgument) as refused:
        bind(catalogue.by_name["mint_slp_token"], {**arguments, "fundingWif": WIF + "\x00"})
    assert WIF not in printed(refused.value, variables=False)
    assert refused.value.problem is Problem.MALFORMED


@pytest.mark.django_db
def test_no_answer_to_them_is_kept(service):
    for name in ("create_slp_token", "mint_slp_token", "send_slp_token"):
        with pytest.raises(questions.CannotAsk):
            answers.read(name, now=NOW, **FILES[name]["arguments"])
    assert not ChainAnswer.objects.exists()


# The command ----------------------------------------------------------------------------------------------------------

OPTIONS = ("send", "--funding-address", SLP, "--change-address", CASH, "--receiver", SLP, "--quantity", "1.5")
ARGUMENTS = (*OPTIONS, "--token-id", TXID, "--key-from-stdin")


@pytest.fixture
def command(monkeypatch, settings, service, db):
    settings.CHAIN_KEYED_CALLS = True
    settings.CHAIN_NETWORKS = ["regtest", "test"]

    def run(*arguments, key=WIF):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{key}\n"))
        out = io.StringIO()
        call_command("slp_token", *arguments, stdout=out)
        return out.getvalue()

    return run


def kept():
    return [(event.subject, json.loads(event.after_text)) for event in AuditEvent.objects.order_by("seq")]


def test_the_command_reads_the_key_from_standard_input_and_keeps_what_was_done(command, service):
    service.answers[PATH] = TXID
    assert command(*ARGUMENTS) == f"Sent: {TXID}\n"
    assert service.calls == [f"GET {PATH}"]
    assert [entry["state"] for _, entry in kept()] == ["sending", "sent"]
    assert {subject for subject, _ in kept()} == {f"chain-address:{SLP}"}
    assert WIF not in json.dumps(kept())


@pytest.mark.parametrize(
    ("answer", "sentence", "state"),
    [
        ((400, {"error": f"Insufficient funds {WIF}"}), "Not sent: Insufficient funds …", "Declined"),
        ((500, {"error": f"died {WIF}"}), "unknown whether the transaction was sent", "OutcomeUnknown"),
        ((404, {"status": 404, "message": "Not Found"}), "Not sent: Not Found", "Declined"),
    ],
)
def test_the_command_says_what_came_of_it(command, service, answer, sentence, state):
    service.answers[PATH] = answer
    with pytest.raises(CommandError) as refused:
        command(*ARGUMENTS)
    assert sentence in str(refused.value)
    assert [entry["state"] for _, entry in kept()] == ["sending", state]
    assert WIF not in json.dumps(kept()) + printed(refused.value)


def test_the_command_is_off_unless_the_deployment_says_so(command, settings, service):
    settings.CHAIN_KEYED_CALLS = False
    with pytest.raises(CommandError, match="disabled here"):
        command(*ARGUMENTS)
    assert service.calls == []
    assert kept() == []


def test_the_command_takes_no_key_as_an_argument_and_keeps_none_in_the_place_of_an_address(command, service):
    with pytest.raises(CommandError):
        command(*ARGUMENTS, "--key", WIF)
    swapped = [WIF if each == SLP else each for each in ARGUMENTS]
    with pytest.raises(CommandError) as refused:
        command(*swapped)
    assert WIF not in printed(refused.value, variables=False) + json.dumps(kept())
    with pytest.raises(CommandError, match="empty"):
        command(*ARGUMENTS, key="")
    assert service.calls == []


def test_a_log_line_with_such_an_address_is_masked():
    from desk.processes import logs

    line = logs.scrubbed(f"GET /v2{PATH} 200")
    assert WIF not in line
    assert not re.search(r"[c9][1-9A-HJ-NP-Za-km-z]{51}", line)


def test_a_token_is_made_minted_and_sent_on_the_sandboxs_chain(sandbox, monkeypatch, settings, db):
    settings.CHAIN_KEYED_CALLS = True
    sandbox.control("config", {"non_js_framework": True})
    ours = replace(KEY.address, network=Network.TEST)
    sandbox.control("chain/pay", {"address": ours.cash_address, "amount": "1"})

    def run(kind, *arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{WIF}\n"))
        out = io.StringIO()
        paying = ("--funding-address", ours.slp_address, "--change-address", ours.cash_address)
        call_command(
            "slp_token", kind, *paying, "--receiver", ours.slp_address, "--key-from-stdin", *arguments, stdout=out
        )
        sandbox.control("chain/mine", {"blocks": 1})
        return out.getvalue().removeprefix("Sent: ").strip()

    about = ("--name", "Made", "--symbol", "MADE", "--document-uri", "https://made.example/a?b", "--decimals", "2")
    baton = ("--baton", ours.slp_address)
    token_id = run("create", "--quantity", "1000", *about, "--document-hash", "ab" * 32, *baton)
    run("mint", "--token-id", token_id, "--quantity", "5.25", *baton)
    run("send", "--token-id", token_id, "--quantity", "0.5")
    client = ways.open_client()
    token = client.call("get_slp_token", tokenId=token_id)
    client.close()
    assert (token.name, token.total_minted, token.txns_since_genesis) == ("Made", Decimal("1005.25"), 3)
    assert WIF not in json.dumps(kept())
