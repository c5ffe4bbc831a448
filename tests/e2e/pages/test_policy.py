"""The content security policy in a real browser: no page of ours breaks it, and what is slipped in does not run."""

import json

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import Group
from django.test import Client
from playwright.sync_api import Error

from desk import clock
from tests.exchange_ops import rows
from tests.exchange_ops.pages.test_routes import ADDRESSES, MATRIX, NOBODY

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
NOT_PAGES = {"healthz", "readyz", "metrics", "schema"}
_LISTEN = """
window.stopped = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.stopped.push([event.effectiveDirective, event.blockedURI, event.sample]));
"""


@pytest.fixture
def visit(live_desk, new_page, admin, operator):
    """`visit(path)`: a page of the desk as somebody who may see everything, listening for what the policy stops."""
    now = clock.now()
    rows.account(now=now)
    rows.currency(now=now)
    rows.price(now=now)
    rows.balance(now=now)
    rows.currency(now=now, transfer_enabled=True)
    rows.transfer(operator, kind="to_user", now=now)
    row = rows.held(operator, now=now)
    rows.subaccount(row.pk, now=now)
    admin.groups.set(Group.objects.all())
    client = Client()
    client.force_login(admin)
    cookie = client.cookies[django_settings.SESSION_COOKIE_NAME].value
    page = new_page()
    page.context.add_cookies([{"name": django_settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_desk.url}])
    page.add_init_script(_LISTEN)

    def visit(path):
        try:
            page.goto(f"{live_desk.url}{path.replace('{key}', str(row.pk))}", wait_until="load")
        except Error as error:
            if "Download is starting" not in error.message:  # a file is no page, and the last one stays
                raise
        page.wait_for_timeout(250)
        return page

    return visit


@pytest.mark.thorough("a breach is an error on the console, which the looks of every page refuse")
@pytest.mark.django_db(transaction=True)
def test_no_page_breaks_the_policy(visit):
    broken = {}
    places = {name: ADDRESSES[name] for name, (reading, _) in MATRIX.items() if reading is not NOBODY}
    for name, path in sorted(places.items()):
        if name in NOT_PAGES or name.endswith("-export") or (path.startswith("/api/") and name != "api-docs"):
            continue
        stopped = visit(path).evaluate("window.stopped")
        if stopped:
            broken[name] = stopped
    for path in ("/account/password/", "/account/second-factor/", "/account/confirm/", "/nowhere/"):
        if stopped := visit(path).evaluate("window.stopped"):
            broken[path] = stopped
    assert broken == {}


# Not at once: what the driver itself evaluates may use eval.
_TRY = """() => new Promise((done) => setTimeout(() => {
  const main = document.querySelector("main"), made = (name, rest) => Object.assign(document.createElement(name), rest);
  try { CODE; done("went on"); } catch (error) { done(error.name); }
}, 0))"""
ATTACKS = {
    "handler": "main.innerHTML = '<img src=x onerror=\"window.ran = 1\">'",
    "handler in capitals": "main.innerHTML = '<svg ONLOAD=\"window.ran = 1\"></svg>'",
    "frame in a text": "main.innerHTML = '<iframe srcdoc=\"x\"></iframe>'",
    "frame in a template": "main.innerHTML = '<template><iframe src=\"/\"></iframe></template>'",
    "javascript address": "main.insertAdjacentHTML('beforeend', '<a href=\" JavaScript:window.ran = 1\">x</a>')",
    "script by address": "main.append(made('script', { src: 'https://evil.example/x.js' }))",
    "script by text": "main.append(made('script', { textContent: 'window.ran = 1' }))",
    "eval": "eval('window.ran = 1')",
    "function": "new Function('window.ran = 1')()",
    "timer": "setTimeout('window.ran = 1', 0)",
    "attribute": "document.body.setAttribute('onclick', 'window.ran = 1')",
    "frame": "main.append(made('iframe', { srcdoc: '<script>parent.ran = 1</script>' }))",
    "another policy": "trustedTypes.createPolicy('mine', {createHTML: (x) => x})",
}


@pytest.mark.django_db(transaction=True)
def test_what_an_attacker_writes_does_not_run(visit):
    page = visit("/withdrawals/")
    for name, code in ATTACKS.items():
        error = page.evaluate(_TRY.replace("CODE", code))
        page.wait_for_timeout(50)
        assert page.evaluate("window.ran") is None, name
        assert error in {"TypeError", "EvalError"}, f"{name}: {error}"
    page.evaluate("document.querySelector('main').innerHTML = '<p style=\"color: red\">x</p>'")
    page.wait_for_timeout(100)
    assert "style-src-attr" in json.dumps(page.evaluate("window.stopped"))


@pytest.mark.django_db(transaction=True)
def test_parts_are_still_read_again(visit):
    page = visit("/withdrawals/")
    page.evaluate("document.getElementById('rows').dataset.mine = 'old'")
    page.evaluate("htmx.trigger('#rows', 'hint')")
    page.locator("#rows:not([data-mine])").wait_for()
    assert page.evaluate("window.stopped") == []
