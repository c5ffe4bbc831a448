"""Pages are compressed only where nothing that another site chose can stand in them."""

import gzip

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from desk.web.compression import PageCompressionMiddleware

PAGE = "<p>501.00 BCH at 1BoatSLRHtKNngkdXEeobR76b53LETtpyT</p>" * 100


def answered(path="/funds/", *, method="get", site="same-origin", content_type="text/html; charset=utf-8", status=200):
    request = getattr(RequestFactory(), method)(path, headers={"Accept-Encoding": "gzip", "Sec-Fetch-Site": site})
    answer = HttpResponse(PAGE, content_type=content_type, status=status)
    return PageCompressionMiddleware(lambda _: answer)(request)


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_page_that_this_site_or_a_person_asked_for_is_compressed(site):
    answer = answered(site=site)
    assert answer["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.content).decode() == PAGE
    assert len(answer.content) < len(PAGE) / 5
    assert "Accept-Encoding" in answer["Vary"]


@pytest.mark.parametrize(
    "changes",
    [
        {"path": "/find/?q=1BoatSLR"},
        {"path": "/orders/new/", "method": "post"},
        {"site": "cross-site"},
        {"site": "same-site"},
        {"site": ""},
        {"status": 404},
        {"content_type": "text/csv"},
    ],
)
def test_what_may_hold_text_of_another_site_is_not(changes):
    answer = answered(**changes)
    assert "Content-Encoding" not in answer
    assert answer.content.decode() == PAGE


@pytest.mark.django_db
def test_a_page_of_the_desk_leaves_compressed(signed_in, make_person):
    headers = {"Accept-Encoding": "gzip", "Sec-Fetch-Site": "same-origin"}
    answer = signed_in(make_person("operator")).get("/account/sessions/", headers=headers)
    assert (answer.status_code, answer.get("Content-Encoding")) == (200, "gzip")
    assert b"<main" in gzip.decompress(answer.content)
