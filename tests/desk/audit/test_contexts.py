"""What kept rows are signed under: a module may move, these texts may not, or every signature from before is lost."""

from desk.audit import witness_chain
from desk.people import stepup


def test_the_contexts_of_kept_codes_stay_whatever_their_modules_are_called() -> None:
    assert (stepup.MAC_CONTEXT, witness_chain.CONTEXT) == ("desk.stepup", "desk.witness")


def test_the_challenge_of_a_decision_is_the_one_that_passkeys_signed_before() -> None:
    made = stepup._signed_content(nonce="n", digest="d", purpose="p", audit_head="h")
    assert made.hex() == "ab777bccefc09b13d2f9918f35bb8ecf2c825cd841ef7caa1401f1b2e0fd7101"
