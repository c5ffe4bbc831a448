"""Error pages: what happened to the money first, no trace of the inside, one shape for programs."""

import pytest
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path

from desk import clock
from project import urls
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db

handler400, handler403, handler404, handler500 = urls.handler400, urls.handler403, urls.handler404, urls.handler500


def broken(request: HttpRequest) -> HttpResponse:
    """Breaks like a mistake of ours would, with something secret in its hands."""
    password = "do not show this"
    raise RuntimeError(password)


def unreadable(request: HttpRequest) -> HttpResponse:
    """Breaks like a request that was tampered with."""
    raise SuspiciousOperation("odd host")


urlpatterns = [
    *urls.urlpatterns,
    path("broken/", broken),
    path("api/v1/broken/", broken),
    path("unreadable/", unreadable),
]


@pytest.fixture
def client_of(settings, treasury):
    settings.ROOT_URLCONF = __name__
    client = Client(raise_request_exception=False)
    client.force_login(treasury)
    return client


def test_a_mistake_of_ours_says_what_may_have_happened_and_shows_nothing_of_the_inside(client_of):
    response = client_of.get("/broken/")
    page = response.content.decode()
    assert response.status_code == 500
    assert "Internal error" in page
    assert "may or may not have been recorded" in page
    assert response["X-Request-ID"] in page
    assert "do not show this" not in page
    assert "Traceback" not in page


def test_a_mistake_of_ours_keeps_the_shape_for_programs(client_of):
    error = client_of.get("/api/v1/broken/").json()
    assert error["status"] == 500
    assert "may or may not have been recorded" in error["detail"]


def test_a_request_that_cannot_be_read_sends_nothing(client_of):
    response = client_of.get("/unreadable/")
    assert response.status_code == 400
    assert "Nothing was sent" in response.content.decode()


@pytest.mark.parametrize("address", ["/nowhere/", "/withdrawals/999/", "/withdrawals/<script>/", "/\x00/", "/%ff/"])
def test_an_address_that_is_not_there_repeats_nothing_of_itself(client_of, address):
    response = client_of.get(address)
    assert response.status_code == 404
    assert "Page not found" in response.content.decode()
    assert "<script>/" not in response.content.decode()


def test_a_form_that_is_too_old_says_what_to_do(treasury):
    client = Client(enforce_csrf_checks=True)
    client.force_login(treasury)
    response = client.post("/policy/freeze/", {"reason": "now"})
    page = response.content.decode()
    assert response.status_code == 403
    assert "Nothing was sent" in page
    assert "Go back, reload the page" in page


def test_a_host_that_is_not_ours_is_refused(treasury):
    response = Client().get("/sign-in/", HTTP_HOST="elsewhere.example")
    assert response.status_code == 400


def test_no_answer_about_the_account_is_kept_by_a_browser(signed_in, treasury, operator, payable):
    row = rows.held(operator, now=clock.now())
    for place in ("/", "/withdrawals/", f"/withdrawals/{row.pk}/", "/approvals/", "/ledger/", "/policy/", "/system/"):
        response = signed_in(treasury).get(place)
        assert response["Cache-Control"] == "no-store", place
        policy = response["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "require-trusted-types-for 'script'" in policy
        assert "report-uri /csp-reports" in policy
        assert response["Reporting-Endpoints"] == 'csp="/csp-reports"'


def test_demo_people_and_their_secret_are_shown_in_the_demo_alone(settings):
    page = Client().get("/sign-in/").content.decode()
    assert "countersign-demo" in page
    assert "treasury3" in page
    settings.DEMO = False
    page = Client().get("/sign-in/").content.decode()
    assert "countersign-demo" not in page
    assert "COUNTERSIGNDEMO" not in page
    assert "treasury3" not in page


@pytest.mark.parametrize(("cookie", "drawn"), [("dark", ' data-theme="dark"'), ("light", ' data-theme="light"')])
def test_the_theme_is_drawn_by_the_server(cookie, drawn):
    client = Client()
    assert "data-theme=" not in client.get("/sign-in/").content.decode().split("<head")[0]
    client.cookies["theme"] = cookie
    assert f'<html lang="en"{drawn}>' in client.get("/sign-in/").content.decode()
    client.cookies["theme"] = '"><script>'
    assert "data-theme=" not in client.get("/sign-in/").content.decode().split("<head")[0]
