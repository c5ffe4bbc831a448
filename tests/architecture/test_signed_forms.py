"""Everything that a person types or chooses beside a second factor is signed with it: every form of the templates.

A form with a second factor names in `data-signs` what it signs beside the digest. What it does not name there has to
be in the digest itself, which is said here by name. So a new form, or a new field in an old one, fails until it is
signed. That the desk then refuses another text is shown in tests/exchange_ops/test_signed_pages.py and beside it.
"""

import re

import pytest

from desk.forms import SecondFactorForm
from tests.architecture import tree

TEMPLATES = tree.ROOT / "templates"
FORM = re.compile(r"<form\b.*?</form>", re.DOTALL)
INCLUDE = re.compile(r'\{% include "([^"]+)"[^%]*%\}')
CONTROLS = (
    re.compile(r"\{% field (?:\w+\.)+(\w+)"),
    re.compile(r"\{\{ ?form\.(\w+) ?\}\}"),
    re.compile(r'<(?:input|textarea|select)\b[^>]*?\bname="([^"]+)"', re.DOTALL),
)
FACTOR = re.compile(r'\{% field \w+\.code css="code-in"')
# The factor itself, what it is given for, and what only makes a double click one request.
OF_THE_CEREMONY = {"code", "passkey", "digest", "purpose", "request_key"}
# The controls that the digest of the page is made of, by the template that draws the form.
IN_THE_DIGEST = {
    "account/token_confirm.html": {"{{ name }}", "confirmed"},  # tokens.digest_of; confirmed: the step of the form
    "chaindata/tools/_send.html": {"hex"},  # requests.digest_of
    "desk/channel_add.html": {"kind", "name", "address", "least", "decisions", "confirmed"},  # channels.digest_of
    "desk/person/_decision.html": {"role", "last_day"},  # changes.digest_of
    "desk/person_invite.html": {"name", "email", "{{ field }}"},  # invitations.digest_of; field: role
    "desk/restore/_restore.html": {"{{ line.name }}"},  # settling.digest_of
    "exchange_ops/policy_review.html": {"{{ name }}", "confirmed"},  # workflow.digest_of, with the reason
    "exchange_ops/statements/_sign_off.html": {"account", "range", "since", "until"},  # signing.text_of
    "exchange_ops/subaccount/_confirm.html": {"ids"},  # account_status.digest_of
}
# A selection is signed as a whole form: `data-whole-form`, and its desk makes the list from all of it.
WHOLE = {"desk/selection.html"}
# Confirmed but not signed, and why that changes nothing of what was decided.
NOT_SIGNED = {"exchange_ops/key_form.html": {"secret"}}  # no device may see it; with another secret the login fails
# A code of these is no decision: somebody signs in, or sets up the factor itself.
SIGN_IN = {"account/login.html", "mfa/authenticate.html", "mfa/reauthenticate.html", "mfa/totp/activate_form.html"}

# What a person may confirm on the first day of a factor, because it opens nothing for them: they propose, request or
# tighten, sign in with it, or somebody else has to agree.
ON_THE_FIRST_DAY = {
    "account/company_account.html",
    "account/confirm_change.html",
    "account/token_confirm.html",
    "desk/channel_add.html",
    "desk/channel_change.html",
    "desk/person/_decision.html",
    "desk/person_invite.html",
    "exchange_ops/going_live/_trial.html",
    "exchange_ops/key_form.html",
    "exchange_ops/keys/_confirm.html",
    "exchange_ops/policy_review.html",
    "exchange_ops/subaccount/_confirm.html",
}
# Drawn only for whoever may approve now; to others the page says why not in its place.
NOT_DRAWN = {"exchange_ops/order/_decide.html", "exchange_ops/withdrawal/_approve.html"}


def whole(name, above=()):
    """The template with what it includes in its place."""
    above = (*above, name)

    def drawn(match):
        is_ours = (TEMPLATES / match[1]).exists() and match[1] not in above
        return whole(match[1], above) if is_ours else ""

    return INCLUDE.sub(drawn, (TEMPLATES / name).read_text())


NAMES = sorted(str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.html"))


def own_forms(name):
    """The forms that begin in this very template, each with what it includes."""
    begins = (TEMPLATES / name).read_text()
    forms = FORM.findall(whole(name))
    return [form for form in forms if form.partition("\n")[0] in begins]


CONFIRMED = [
    pytest.param(name, form, id=name)
    for name in NAMES
    if name not in SIGN_IN
    for form in own_forms(name)
    if 'name="passkey"' in form or FACTOR.search(form)
]


def controls(form):
    return {name for pattern in CONTROLS for name in pattern.findall(form)} - OF_THE_CEREMONY


@pytest.mark.parametrize(("name", "form"), CONFIRMED)
def test_what_stands_beside_a_second_factor_is_signed(name, form):
    if name in WHOLE:
        assert "data-whole-form" in form
        return
    # A form may draw one of several attributes, as a key's does by whether it is rotated.
    signs = set(re.findall(r"\w+", " ".join(re.findall(r'data-signs="(.*?)"', form))))
    assert 'name="digest"' in form, "what is on the page"
    assert controls(form) - signs == IN_THE_DIGEST.get(name, set()) | NOT_SIGNED.get(name, set())


@pytest.mark.parametrize(("name", "form"), CONFIRMED)
def test_the_day_of_a_new_factor_is_said_before_a_form_is_filled(name, form):
    notice, first = (
        form.find("desk.why_resting"),
        re.search(r"\{% field |<textarea|<select|type=.(?:text|radio|check)", form),
    )
    assert (notice >= 0) == (name not in ON_THE_FIRST_DAY | NOT_DRAWN)
    assert first is None or notice < first.start()


def test_every_second_factor_of_a_template_is_in_a_form_that_was_looked_at():
    drawn = "".join(form for _, form in (param.values for param in CONFIRMED))
    for name in NAMES:
        text = (TEMPLATES / name).read_text()
        for line in text.splitlines():
            if name not in SIGN_IN and ('name="passkey"' in line or FACTOR.search(line)):
                assert line.strip() in drawn, name
    assert {param.values[0] for param in CONFIRMED} >= IN_THE_DIGEST.keys() | NOT_SIGNED.keys() | WHOLE


def test_every_field_of_a_confirmed_form_is_drawn_in_one_that_signs_it():
    """A field that a view reads beside the factor has a place in a form above, or in the whole form of a selection."""
    import project.urls  # noqa: F401  every view, and so every form, is there

    known = set().union(*(controls(param.values[1]) for param in CONFIRMED)) | OF_THE_CEREMONY | {"mark"}
    waiting, seen = list(SecondFactorForm.__subclasses__()), {}
    while waiting:
        form = waiting.pop()
        waiting += form.__subclasses__()
        seen[form.__name__] = set(form.base_fields) - known
    assert len(seen) > 8
    assert {name: fields for name, fields in seen.items() if fields} == {}


CODE_THEN_PASSKEY = re.compile(
    r'<button(?![^>]*type="button")[^>]*>(?:(?!</button>).)*</button>(?:\s|{%[^%]*%})*<button[^>]*data-passkey',
    re.DOTALL,
)


@pytest.mark.parametrize(("name", "form"), [param for param in CONFIRMED if FACTOR.search(param.values[1])])
def test_the_button_for_a_code_stands_right_before_the_one_for_a_passkey(name, form):
    """By this the style sheet takes it away for a role that requires a passkey (static/css/forms.css)."""
    assert len(CODE_THEN_PASSKEY.findall(form)) == len(re.findall(r"<button[^>]*data-passkey", form)) == 1
