"""The settings of the company's directory: whole, at an https address, and a way back after a lost passkey."""

import pytest

from project import addresses
from project.environment import OddSetting

WHOLE = {"issuer": "https://login.example/tenant", "client": "desk", "secret": "s", "demo": False, "passwords": True}
REFUSED = {
    "no secret": ({"secret": ""}, "OIDC_CLIENT_SECRET must be set as well"),
    "no issuer": ({"issuer": ""}, "OIDC_ISSUER must be set as well"),
    "http": ({"issuer": "http://login.example"}, "must be an https:// address"),
    "this machine outside the demo": ({"issuer": "http://127.0.0.1:8190"}, "must be an https:// address"),
    "credentials": ({"issuer": "https://me:pw@login.example"}, "must be an https:// address"),
    "a query": ({"issuer": "https://login.example/?tenant=1"}, "must be an https:// address"),
    "no way in": ({"issuer": "", "client": "", "secret": "", "passwords": False}, "a lost passkey would lock"),
}


def judged(**changes):
    values = WHOLE | changes
    addresses.require_directory(values.pop("issuer"), **values)


@pytest.mark.parametrize("case", REFUSED)
def test_a_directory_that_is_set_up_in_part_or_unsafe_stops_the_start(case):
    changes, sentence = REFUSED[case]
    with pytest.raises(OddSetting, match=sentence):
        judged(**changes)


def test_a_whole_one_or_none_starts():
    judged()
    judged(passwords=False)
    judged(issuer="", client="", secret="")
    judged(issuer="http://127.0.0.1:8190/company", demo=True)
