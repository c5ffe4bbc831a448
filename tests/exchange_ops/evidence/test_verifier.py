"""A bundle is verified without the desk; whatever is changed in it is found and named."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from exchange_ops.evidence.verifier.command import verify
from tests.exchange_ops.evidence.conftest import pack

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_settled_payout_is_verified_by_the_file_alone(settled: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "bundle.zip").write_bytes(pack(settled))
    (tmp_path / "verify_evidence.py").write_bytes(settled["verify_evidence.py"])
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "verify_evidence.py", "bundle.zip"], cwd=tmp_path, capture_output=True, text=True
    )
    print(ended.stdout)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
