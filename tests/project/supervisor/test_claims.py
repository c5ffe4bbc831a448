"""One house per data folder."""

import json
import subprocess
import sys
import textwrap

import pytest

from project.supervisor.instance_lock import CannotClaim, Claim

HOLD = """
import sys, time
from pathlib import Path
from project.supervisor.instance_lock import Claim
Claim(Path(sys.argv[1])).acquire(port=8011, sandbox_port=8111)
print("held", flush=True)
time.sleep(60)
"""


def hold(folder):
    holder = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLD), str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    return holder


def test_a_second_house_is_refused_with_the_first_ones_address(tmp_path):
    holder = hold(tmp_path)
    try:
        with pytest.raises(CannotClaim, match=rf"process {holder.pid}, http://localhost:8011/"):
            Claim(tmp_path).acquire(port=8012, sandbox_port=8112)
        assert json.loads((tmp_path / "up.json").read_text())["pid"] == holder.pid, "the refused one changed nothing"
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


def test_a_killed_holder_leaves_the_folder_free_and_is_noticed(tmp_path):
    holder = hold(tmp_path)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    claim = Claim(tmp_path)
    claim.acquire(port=8012, sandbox_port=8112)
    assert claim.was_cut_off
    claim.release()


def test_a_released_folder_tells_nothing_about_a_kill(tmp_path):
    first = Claim(tmp_path)
    first.acquire(port=8012, sandbox_port=8112)
    assert not first.was_cut_off
    first.release()
    second = Claim(tmp_path)
    second.acquire(port=8012, sandbox_port=8112)
    assert not second.was_cut_off
    second.release()


def test_a_claim_with_nonsense_in_it_still_says_no(tmp_path):
    holder = hold(tmp_path)
    (tmp_path / "up.json").write_text("{half of")
    try:
        with pytest.raises(CannotClaim, match="already running"):
            Claim(tmp_path).acquire(port=8012, sandbox_port=8112)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
