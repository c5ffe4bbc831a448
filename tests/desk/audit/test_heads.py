"""The files of heads: whole lines whatever the disk does, and a line that was cut short is not one that was changed."""

import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from desk.audit import heads

NOW = datetime(2026, 11, 20, 12, 30, 15, 123456, tzinfo=UTC)
HASHES = {number: f"{number:x}" * 64 for number in range(1, 10)}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "heads.log"


def append(file: Path, *numbers: int) -> None:
    for number in numbers:
        heads.append(file, seq=number, hash=HASHES[number], at=NOW)


def found(file: Path) -> list[str]:
    return list(heads.findings(file, HASHES, chain="trail", file="heads file"))


LINE = f"3 {HASHES[3]} {NOW.isoformat(timespec='microseconds')}\n"


@pytest.mark.parametrize("length", range(len(LINE)))
def test_after_a_line_cut_short_anywhere_the_next_one_is_whole(file: Path, length: int) -> None:
    append(file, 1, 2)
    with file.open("a") as torn:
        torn.write(LINE[:length])
    append(file, 4, 5)
    lines = file.read_text().splitlines()
    assert [line for line in lines if line != LINE[:length]][-2:] == [
        f"{number} {HASHES[number]} {NOW.isoformat(timespec='microseconds')}" for number in (4, 5)
    ]
    assert found(file) == []


def test_zeros_that_a_power_cut_left_are_no_finding(file: Path) -> None:
    append(file, 1)
    with file.open("ab") as torn:
        torn.write(b"\0" * 40)
    append(file, 2)
    assert file.read_bytes().count(b"\n") == 3
    assert found(file) == []


@pytest.mark.parametrize(
    "line",
    [
        "garbage",
        f"3 {HASHES[4]}",
        f"3 {HASHES[4][:20]}",
        f"3 {HASHES[3]} {NOW.isoformat()} more",
        f"3 {HASHES[3][:30]}x",
        "300 abc",
        "30",
        "3x",
        LINE.strip()[:40] + LINE,
    ],
)
def test_a_changed_line_is_not_taken_for_one_cut_short(file: Path, line: str) -> None:
    append(file, 1, 2)
    with file.open("a") as changed:
        changed.write(line.strip("\n") + "\n")
    append(file, 4)
    assert found(file) == ["Line 3 of the heads file was changed."]


def test_a_full_disk_is_logged_and_the_line_after_it_is_whole(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(file, 1)
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: write(descriptor, content[:11]))
    append(file, 2)
    monkeypatch.setattr(os, "write", write)
    append(file, 3)
    assert len(file.read_text().splitlines()) == 3
    assert found(file) == []


def test_a_file_that_can_not_be_written_stops_nobody(tmp_path: Path) -> None:
    append(tmp_path / "no folder" / "heads.log", 1)
    assert not (tmp_path / "no folder").exists()


def test_many_writers_after_a_torn_line_leave_whole_lines(file: Path) -> None:
    with file.open("a") as torn:
        torn.write(LINE[:30])
    threads = [threading.Thread(target=append, args=(file, 3, 4, 5, 6)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = file.read_text().splitlines()
    assert (len(lines), lines[0]) == (17, LINE[:30])
    assert found(file) == []
