"""A rehearsal's folder: its mark, the settings that may not stand beside it, and what is never deleted."""

import json
import os

import pytest

from exchange_ops.rehearsals.drills.table import DRILLS
from project.rehearsal import command, marks
from project.supervisor.instance_lock import Claim
from tests.project.test_environment import complaint_of

FIRST = {
    "DATABASE_URL": "postgres://desk:pw@rows.example/desk",
    "REDIS_URL": "rediss://:pw@broker.example",
    "EXCHANGE_URL": "https://exchange.example",
    "KEY_RING": "k",
    "SECRET_KEY_FILE": "/run/secret",
    "PATH": "/bin",
    "EMAIL_URL": "smtps://u:p@mail.example:465",
    "OIDC_ISSUER": "https://people.example",
    "SOMETHING": "else",
}


def test_nothing_of_the_first_desk_is_in_the_settings_of_a_rehearsal(tmp_path):
    settings = command.settings_of(tmp_path, port=8080, sandbox_port=8180, environ=FIRST)
    own = {"PORT": "8080", "SANDBOX_PORT": "8180", "DATA_DIR": str(tmp_path), "DEMO": "1"}
    assert settings == {"PATH": "/bin"} | own


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EXCHANGE_URL", "http://127.0.0.1:8100"),
        ("CHAINDATA_URL", "https://chain.example"),
        ("EXCHANGE_PLACES", "second=https://exchange.example wss://exchange.example"),
        ("DATABASE_URL", "sqlite:///elsewhere.sqlite3"),
        ("REDIS_URL_FILE", "/run/redis-url"),
        ("EMAIL_URL", "smtps://u:p@mail.example:465"),
    ],
)
def test_a_desk_in_the_folder_of_a_rehearsal_refuses_what_leads_out_of_it(tmp_path, name, value):
    marks.make(tmp_path / "var")
    sentence = complaint_of(tmp_path, **{"DEMO": "1", name: value})
    assert f"is the folder of a rehearsal, and {name.removesuffix('_FILE')} is set" in sentence


def test_a_rehearsal_never_runs_as_a_real_desk(tmp_path):
    marks.make(tmp_path / "var")
    assert "DEMO is off: a rehearsal never runs as a real desk" in complaint_of(tmp_path, DEMO="0")


def test_only_a_marked_folder_is_cleared(tmp_path, monkeypatch, capsys):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "desk.sqlite3").write_text("rows")
    for arguments in ([], ["--fresh"], ["--report"]):
        assert command.main(["--folder", str(theirs), *arguments]) == 1
    with pytest.raises(marks.CannotUseFolder, match="Nothing was deleted"):
        marks.clear(theirs, keep="")
    assert [path.name for path in theirs.iterdir()] == ["desk.sqlite3"]
    ours = tmp_path / "ours"
    marks.make(ours)
    (ours / "sandbox").mkdir()
    (ours / "sandbox" / "journal.jsonl").write_text("lines")
    (ours / "link").symlink_to(theirs)
    (ours / "new.json").write_text("{}")
    marks.clear(ours, keep="new.json")
    assert sorted(path.name for path in ours.iterdir()) == ["new.json", marks.FILE_NAME]
    assert (theirs / "desk.sqlite3").exists()
    assert "choose another with --folder" in capsys.readouterr().err


def test_a_rehearsal_that_runs_is_left_alone(tmp_path, capsys):
    marks.make(tmp_path / "ours")
    claim = Claim(tmp_path / "ours")
    claim.acquire(port=8080, sandbox_port=8180)
    try:
        assert command.main(["--folder", str(tmp_path / "ours"), "--fresh"]) == 1
    finally:
        claim.release()
    assert "already running" in capsys.readouterr().err


@pytest.mark.parametrize("ports", [("8000", "8180"), ("8080", "8100"), ("8080", "8080")])
def test_the_ports_of_the_first_desk_are_refused(ports, tmp_path, monkeypatch):
    monkeypatch.delenv("PORT", raising=False)
    monkeypatch.delenv("SANDBOX_PORT", raising=False)
    assert command.main(["--folder", str(tmp_path / "x"), "--port", ports[0], "--sandbox-port", ports[1]]) == 2
    assert not (tmp_path / "x").exists()


def test_a_desk_that_can_not_be_read_leaves_the_rehearsal_as_it_was(tmp_path, monkeypatch):
    folder = tmp_path / "ours"
    marks.make(folder)
    (folder / marks.FIGURES).write_text(json.dumps({"kept": True}))
    for name in [name for name in os.environ if name.endswith("_URL")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "nothing"))
    assert command.main(["--folder", str(folder), "--fresh"]) == 1
    assert json.loads((folder / marks.FIGURES).read_text()) == {"kept": True}


def test_the_command_offers_the_drills_that_there_are(capsys):
    assert command.DRILLS == tuple(DRILLS)
    with pytest.raises(SystemExit):
        command.main(["--drill", "fire"])
    assert "choose from 'exchange-silent', 'answer-lost'" in capsys.readouterr().err
