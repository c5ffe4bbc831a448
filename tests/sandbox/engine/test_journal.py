"""The journal: what is whole is believed, the rest is kept aside and said; nothing is ever applied twice."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.engine.journal import CannotOpenJournal, Entry, Header, Journal, NotPlain, plain, read_lines, sealed
from sandbox.world.world import Caller, Refusal, World
from tests.sandbox.worlds import DESK, HOUR_MS, START_MS, Ticking, balance, call, held, opened, outside, picture

PATH = "journal.jsonl"


def lived(folder: Path) -> tuple[World, list[str]]:
    """A world in which a few things happened, and the ids of its holds."""
    world = opened(folder)
    ids = [held(world, "BTC", "1"), held(world, "ETH", "2.5"), held(world, "XRP", "50", paymentId="7")]
    call(world, "commit_withdrawal", id=ids[0])
    call(world, "rollback_withdrawal", id=ids[1])
    call(world, "transfer_funds", currency="USD", amount="10.25", type="bankToExchange")
    call(world, "transfer_to_user", currency="BCH", amount="3", by="username", identifier="other")
    call(world, "convert_currency", fromCurrency="USD", toCurrency="USDT20", amount="12.5")
    call(world, "create_deposit_address", currency="BTC")
    world.control("config", {"payout_seconds": 2, "fee_drift": "0.1"})
    world.control("deposit", {"currency": "XRP", "amount": "70"})
    world.control("foreign-withdrawal", {"currency": "ETH", "amount": "1", "address": outside("ETH")})
    world.control("clock", {"advance_ms": 5 * 60_000})
    world.control("payouts", {"id": ids[2], "status": "failed", "errorCode": "INVALID_PAYMENT_ID"})
    world.control("clock", {"advance_ms": 60_000, "frozen": True})
    return world, ids


def test_a_restart_gives_the_identical_world(tmp_path: Path) -> None:
    world, _ = lived(tmp_path)
    before = picture(world)
    world.close()
    again = opened(tmp_path, Ticking(START_MS + 999_999))  # the clock is frozen, so real time passes unnoticed
    assert picture(again) == before
    assert again.warnings == []
    assert again.journal.length == world.journal.length
    again.close()


def test_a_second_world_of_the_same_inputs_is_the_same(tmp_path: Path) -> None:
    first, _ = lived(tmp_path / "one")
    second, _ = lived(tmp_path / "two")
    assert picture(first) == picture(second)
    assert (tmp_path / "one" / PATH).read_bytes() == (tmp_path / "two" / PATH).read_bytes()


def test_what_fell_due_while_the_sandbox_was_down_happens_at_its_own_time(tmp_path: Path) -> None:
    world = opened(tmp_path)
    hold_id = held(world)
    world.close()
    again = opened(tmp_path, Ticking(START_MS + 5 * HOUR_MS))
    transaction = call(again, "get_transaction", id=hold_id)
    assert transaction["status"] == "failed"
    assert transaction["updatedAt"] == "2026-11-18T12:06:40.000Z"
    assert START_MS + HOUR_MS == 1_795_003_600_000
    assert balance(again, "BTC") == ("100", "0")
    again.close()


def test_a_real_clock_that_was_set_back_does_not_take_the_world_back(tmp_path: Path) -> None:
    clock = Ticking()
    world = opened(tmp_path, clock)
    clock.at_ms += 100_000
    hold_id = held(world)
    clock.at_ms -= 90_000
    assert world.clock.now_ms() == START_MS + 100_000
    world.close()
    again = opened(tmp_path, clock)
    assert again.clock.now_ms() == START_MS + 100_000
    call(again, "commit_withdrawal", id=hold_id)
    again.close()
    assert opened(tmp_path, clock).warnings == []


def test_reads_and_refusals_leave_no_line(tmp_path: Path) -> None:
    world = opened(tmp_path)
    size = (tmp_path / PATH).stat().st_size
    for operation in ("get_balances", "get_transactions", "get_currencies", "get_tickers", "get_subaccounts"):
        call(world, operation)
    with pytest.raises(Refusal):
        call(world, "commit_withdrawal", id="nothing")
    with pytest.raises(Refusal):
        world.control("config", {"hold_end": "explode"})
    assert (tmp_path / PATH).stat().st_size == size
    assert world.journal.length == 0


def test_a_line_holds_time_input_caller_and_checksum(tmp_path: Path) -> None:
    world = opened(tmp_path)
    held(world, "BTC", "1")
    header, line = (json.loads(text) for text in (tmp_path / PATH).read_text().splitlines())
    assert (header["format"], header["version"]) == ("countersign-sandbox-journal", 1)
    assert (header["seed"], header["symbols"], header["started_ms"]) == (1, None, START_MS)
    assert line["at"] == START_MS
    assert line["do"] == "create_withdrawal"
    assert line["with"]["amount"] == "1"
    assert (line["key"], line["account"]) == ("demo-full", "desk@demo.test")
    assert len(line["sum"]) == len(header["sum"]) == 16


def test_a_journal_cut_in_a_line_starts_with_what_is_whole_and_says_so(tmp_path: Path) -> None:
    world, _ = lived(tmp_path)
    world.close()
    raw = (tmp_path / PATH).read_bytes()
    whole = raw.count(b"\n")
    (tmp_path / PATH).write_bytes(raw[:-20])
    again = opened(tmp_path)
    assert again.warnings == [
        f"journal cut short in line {whole}: {whole - 1} complete lines kept, "
        f"the rest moved to journal.rest-from-line-{whole}.jsonl"
    ]
    assert again.journal.length == world.journal.length - 1
    rest = (tmp_path / f"journal.rest-from-line-{whole}.jsonl").read_bytes()
    assert (tmp_path / PATH).read_bytes() + rest == raw[:-20]
    hold_id = held(again)  # and it goes on from there
    before = picture(again)
    again.close()
    once_more = opened(tmp_path)
    assert once_more.warnings == []
    assert picture(once_more) == before
    assert call(once_more, "get_transaction", id=hold_id)["status"] == "created"


@pytest.mark.parametrize("spoil", ["flip", "drop", "swap", "twice", "blank", "binary"])
def test_a_line_that_was_changed_dropped_or_moved_ends_what_is_believed(tmp_path: Path, spoil: str) -> None:
    world, _ = lived(tmp_path)
    world.close()
    lines = (tmp_path / PATH).read_bytes().splitlines(keepends=True)
    match spoil:
        case "flip":
            lines[6] = lines[6].replace(b"10.25", b"99.25")
            assert b"99.25" in lines[6]
        case "drop":
            del lines[5]
        case "swap":
            lines[5], lines[6] = lines[6], lines[5]
        case "twice":
            lines.insert(5, lines[4])
        case "blank":
            lines.insert(5, b"\n")
        case "binary":
            lines[5] = b"\x00\xff\xfe" + lines[5]
    first_bad = next(
        (number for number, line in enumerate(lines) if read_lines(b"".join(lines[: number + 1])).bad_line), None
    )
    (tmp_path / PATH).write_bytes(b"".join(lines))
    again = opened(tmp_path)
    assert first_bad is not None
    assert again.journal.length == first_bad - 1
    assert len(again.warnings) == 1
    assert f"unreadable from line {first_bad + 1} on: {first_bad} complete lines kept" in again.warnings[0]
    assert again.ledger()["balanced"] is True
    rest = (tmp_path / f"journal.rest-from-line-{first_bad + 1}.jsonl").read_bytes()
    assert rest == b"".join(lines[first_bad:])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_wherever_it_is_cut_the_world_starts_balanced(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    world, _ = lived(folder)
    world.close()
    raw = (folder / PATH).read_bytes()
    size = data.draw(st.integers(0, len(raw)))
    (folder / PATH).write_bytes(raw[:size])
    again = opened(folder)
    whole = raw[:size].count(b"\n")
    assert again.journal.length == max(whole - 1, 0)
    assert bool(again.warnings) == (size == 0 or raw[size - 1 : size] != b"\n")
    assert again.ledger()["balanced"] is True
    again.close()


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"not json\n",
        b'{"format":"something else"}\n',
        b"\x00" * 200,
        b'{"format":"countersign-sandbox-journal"}\n',
    ],
)
def test_a_file_that_is_no_journal_is_set_aside_for_a_fresh_world(tmp_path: Path, first: bytes) -> None:
    (tmp_path / PATH).write_bytes(first)
    world = opened(tmp_path)
    assert "0 complete lines kept" in world.warnings[0]
    assert (tmp_path / "journal.rest-from-line-1.jsonl").read_bytes() == first
    assert balance(world, "BTC") == ("100", "0")
    held(world)
    world.close()
    assert opened(tmp_path).journal.length == 1


def test_a_newer_format_is_not_guessed_at(tmp_path: Path) -> None:
    opened(tmp_path).close()
    raw = (tmp_path / PATH).read_bytes()
    assert read_lines(raw).header is not None
    newer = Journal.begin(Header(1, None, START_MS))
    body = newer.lines[0].decode().replace('"version":1', '"version":2')
    assert read_lines(body.encode()).header is None


def test_an_entry_that_no_longer_applies_ends_the_replay_before_it(tmp_path: Path) -> None:
    world = opened(tmp_path)
    hold_id = held(world)
    world.journal.append(Entry(START_MS, "commit_withdrawal", {"id": "unknown"}, DESK.login, DESK.account))
    world.journal.append(Entry(START_MS, "commit_withdrawal", {"id": hold_id}, DESK.login, DESK.account))
    world.close()
    again = opened(tmp_path)
    assert again.warnings == [
        "journal unreadable from line 3 on: 2 complete lines kept, the rest moved to journal.rest-from-line-3.jsonl"
    ]
    assert call(again, "get_transaction", id=hold_id)["status"] == "created"
    assert len((tmp_path / "journal.rest-from-line-3.jsonl").read_bytes().splitlines()) == 2
    call(again, "rollback_withdrawal", id=hold_id)
    again.close()
    assert opened(tmp_path).warnings == []


def test_rests_never_overwrite_each_other(tmp_path: Path) -> None:
    for turn in range(3):
        opened(tmp_path).close()
        with (tmp_path / PATH).open("ab") as file:
            file.write(b"half a line %d" % turn)
        again = opened(tmp_path)
        assert "cut short in line 2" in again.warnings[0]
        again.close()
    assert sorted(path.name for path in tmp_path.glob("*rest*")) == [
        "journal.rest-from-line-2-2.jsonl",
        "journal.rest-from-line-2-3.jsonl",
        "journal.rest-from-line-2.jsonl",
    ]


def test_two_sandboxes_do_not_share_a_folder(tmp_path: Path) -> None:
    world = opened(tmp_path)
    with pytest.raises(CannotOpenJournal, match="Another sandbox is using"):
        opened(tmp_path)
    world.close()
    opened(tmp_path).close()


def test_a_disk_that_is_full_stops_the_world_before_it_lies(tmp_path: Path) -> None:
    world = opened(tmp_path)
    first = held(world)
    heard: list[object] = []
    world.listen(heard.append)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, world.journal._descriptor)  # the file is still there, but takes no byte more
    with pytest.raises(Refusal) as caught:
        call(world, "commit_withdrawal", id=first)
    assert caught.value.code == 503
    with pytest.raises(Refusal) as caught:
        call(world, "get_balances")
    assert "start the sandbox again" in caught.value.description
    assert heard == []
    assert world.state()["broken"] == caught.value.description
    os.close(full)
    world.close()
    again = opened(tmp_path)
    assert call(again, "get_transaction", id=first)["status"] == "created"
    assert again.warnings == []


def test_fresh_and_reset_keep_the_old_journal_as_the_previous_one(tmp_path: Path) -> None:
    world, _ = lived(tmp_path)
    world.close()
    old = (tmp_path / PATH).read_bytes()
    fresh = opened(tmp_path, fresh=True)
    assert fresh.journal.length == 0
    assert (tmp_path / "journal.previous.jsonl").read_bytes() == old
    held(fresh)
    fresh.control("reset", {"seed": 5})
    assert b'"seed":1' in (tmp_path / "journal.previous.jsonl").read_bytes()
    fresh.close()
    again = opened(tmp_path)
    assert again.journal.header.seed == 5
    assert again.warnings == ["the saved world has seed 5 and symbols as listed; --fresh starts a new one"]


def test_ten_thousand_inputs_are_replayed_to_the_same_world(tmp_path: Path) -> None:
    world = opened(tmp_path)
    for turn in range(2_500):
        hold_id = held(world, "DOGE", "20", publicComment=f"tx-{turn}")
        call(world, "rollback_withdrawal" if turn % 2 else "commit_withdrawal", id=hold_id)
        call(world, "transfer_funds", currency="USD", amount="0.01", type="bankToExchange")
        world.control("clock", {"advance_ms": 60_000})
    before = picture(world)
    assert world.journal.length == 10_000 + 50  # marks of 5,000 blocks
    world.close()
    assert picture(opened(tmp_path)) == before


@pytest.mark.parametrize("odd", [1.5, object(), {1, 2}, b"bytes", [[[[[[[[[1]]]]]]]]], 2**300, {"deep": 1.5}])
def test_arguments_without_an_exact_form_are_refused(odd: object) -> None:
    with pytest.raises(NotPlain):
        plain(odd)
    world = opened()
    with pytest.raises(Refusal) as caught:
        world.perform("get_transactions", Caller("demo-full", "desk@demo.test"), {"from": odd})
    assert caught.value.code == 10001


def test_a_killed_sandbox_has_lost_nothing_that_it_answered(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from tests.sandbox.worlds import held, opened\n"
        "world = opened(Path(sys.argv[1]))\n"
        "print(*[held(world, 'DOGE', '20') for _ in range(25)], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    answered = ended.stdout.split()
    assert len(answered) == 25
    world = opened(tmp_path)
    assert world.warnings == []
    assert [call(world, "get_transaction", id=each)["status"] for each in answered] == ["created"] * 25
    assert balance(world, "DOGE") == ("499375", "625")


@pytest.mark.parametrize("odd", [2**200, -(2**64), "\ud800 half a character", "\u2028é", [[[1], {}]]])
def test_a_line_reads_back_as_it_was_written(odd: object) -> None:
    journal = Journal.begin(Header(1, None, START_MS, "observed"))
    entry = Entry(START_MS, "config", {"chain_pro_password": odd, "n": 1}, "key", "account", [["", [1, 0, 2, 3]]])
    journal.append(entry)
    reading = read_lines(b"".join(journal.lines))
    assert (reading.header, reading.entries, reading.bad_line) == (journal.header, [entry], None)


def test_a_header_from_before_there_were_dialects_is_one_of_the_documented(tmp_path: Path) -> None:
    body = '{"format":"countersign-sandbox-journal","version":1,"seed":7,"symbols":null,"started_ms":1795000000000}'
    (tmp_path / PATH).write_bytes(sealed(body, "")[0])
    world = opened(tmp_path)
    assert (world.journal.header.seed, world.config.dialect, world.warnings[0][:15]) == (
        7,
        "documented",
        "the saved world",
    )
    world.close()
