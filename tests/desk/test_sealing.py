"""Sealed texts open in their own place only, under a key of the ring, and not with one bit turned."""

import base64
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import call_command

from desk import sealing
from desk.people import totp
from wire.values import Secret

PLACE = "exchange_ops.apikey:12:secret"


def ring_of(*names: str) -> str:
    """A ring whose keys follow from their names."""
    return ",".join(f"{name}:{base64.b64encode(name.encode().ljust(32, b'.')).decode()}" for name in names)


@pytest.fixture(autouse=True)
def ring(settings: Any) -> None:
    settings.KEY_RING = ring_of("old")


def test_a_secret_comes_back_and_each_sealing_differs() -> None:
    texts = {sealing.seal(Secret("the key 🔑 of the desk"), context=PLACE) for _ in range(50)}
    assert len(texts) == 50
    assert len({text.split(":")[2] for text in texts}) == 50, "each has its own data key"
    assert {sealing.unseal(text, context=PLACE).reveal() for text in texts} == {"the key 🔑 of the desk"}
    bodies = [base64.urlsafe_b64decode(part) for text in texts for part in text.split(":")[2:]]
    assert not any(b"the key" in body for body in bodies), "three letters come up by chance, seven don't"


@pytest.mark.parametrize("place", ["", "exchange_ops.apikey:13:secret", PLACE + " ", PLACE.upper()])
def test_a_sealed_text_of_another_place_is_refused(place: str) -> None:
    with pytest.raises(sealing.CannotUnseal):
        sealing.unseal(sealing.seal(Secret("secret"), context=PLACE), context=place)


def test_parts_of_two_sealed_texts_do_not_mix() -> None:
    one, other = (sealing.seal(Secret(text), context=PLACE).split(":") for text in ("first", "second"))
    for mixed in ([*one[:3], other[3]], [*one[:2], other[2], one[3]]):
        with pytest.raises(sealing.CannotUnseal):
            sealing.unseal(":".join(mixed), context=PLACE)


def test_a_change_in_any_place_is_refused() -> None:
    sealed = sealing.seal(Secret("secret"), context=PLACE)
    for place in range(len(sealed)):
        for replaced in {"A", chr(ord(sealed[place]) ^ 1), ":", "=", "~", ""} - {sealed[place]}:
            with pytest.raises(sealing.CannotUnseal):
                sealing.unseal(sealed[:place] + replaced + sealed[place + 1 :], context=PLACE)


def test_one_content_has_one_text() -> None:
    """The last character of a body of 34 bytes carries four bits that say nothing; they must be zero."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    sealed = sealing.seal(Secret("secret"), context=PLACE)
    assert sealed.endswith("==")
    following = alphabet[alphabet.index(sealed[-3]) + 1]
    with pytest.raises(sealing.CannotUnseal):
        sealing.unseal(sealed[:-3] + following + "==", context=PLACE)


@pytest.mark.parametrize(
    "text", ["", "plain secret", "v1:old", "v2:old:AAAA:AAAA", "v1:old::", "v1:old:AA:AA", "v1:é:AA:AA"]
)
def test_what_was_never_sealed_is_refused(text: str) -> None:
    with pytest.raises(sealing.CannotUnseal):
        sealing.unseal(text, context=PLACE)


def test_rotation_rewraps_and_lets_the_old_key_go(settings: Any) -> None:
    sealed = sealing.seal(Secret("secret"), context=PLACE)
    settings.KEY_RING = ring_of("new", "old")
    rotated = sealing.rotate(sealed, PLACE)
    assert rotated.split(":")[1] == "new"
    assert rotated.split(":")[3] == sealed.split(":")[3], "the body is not sealed anew"
    assert sealing.rotate(rotated, PLACE) == rotated
    assert sealing.unseal(sealed, context=PLACE).reveal() == "secret"
    settings.KEY_RING = ring_of("new")
    assert sealing.unseal(rotated, context=PLACE).reveal() == "secret"
    with pytest.raises(sealing.CannotUnseal, match="does not contain 'old'"):
        sealing.unseal(sealed, context=PLACE)
    with pytest.raises(sealing.CannotUnseal):
        sealing.rotate(rotated.replace("new", "old"), PLACE)


@pytest.mark.parametrize(
    "text",
    ["nonsense", "id:", "id:AAAA", "id:!!!!", "a b:" + "A" * 44, ring_of("twice", "twice"), ring_of("x") + ",y", " , "],
)
def test_an_odd_ring_is_refused_without_repeating_it(settings: Any, text: str) -> None:
    settings.KEY_RING = text
    with pytest.raises(sealing.CannotSeal) as refusal:
        sealing.seal(Secret("secret"), context=PLACE)
    assert len(text) < 4 or text not in str(refusal.value)


def test_the_demo_makes_its_ring_once_readable_by_its_owner_alone(settings: Any, tmp_path: Path) -> None:
    settings.KEY_RING, settings.DEMO, settings.KEY_RING_FILE = "", True, tmp_path / "key-ring"
    starts = [threading.Thread(target=sealing.ensure_ring) for _ in range(8)]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    made = settings.KEY_RING_FILE.read_text()
    assert stat.S_IMODE(settings.KEY_RING_FILE.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["key-ring"]
    sealed = sealing.seal(Secret("secret"), context=PLACE)
    sealing.ensure_ring()
    assert settings.KEY_RING_FILE.read_text() == made
    assert sealing.unseal(sealed, context=PLACE).reveal() == "secret"


def test_a_ring_that_others_can_read_is_refused(settings: Any, tmp_path: Path) -> None:
    settings.KEY_RING, settings.KEY_RING_FILE = "", tmp_path / "key-ring"
    settings.KEY_RING_FILE.write_text(ring_of("open"))
    settings.KEY_RING_FILE.chmod(0o644)
    with pytest.raises(sealing.CannotSeal, match="is readable by other users"):
        sealing.ensure_ring()


def test_outside_the_demo_a_missing_ring_stops_the_start(settings: Any, tmp_path: Path) -> None:
    settings.KEY_RING, settings.DEMO, settings.KEY_RING_FILE = "", False, tmp_path / "key-ring"
    with pytest.raises(sealing.CannotSeal, match="KEY_RING is not set"):
        sealing.ensure_ring()
    assert not settings.KEY_RING_FILE.exists()


@pytest.mark.django_db
def test_second_factors_are_sealed_and_rewrapped_by_the_command(
    settings: Any, treasury: Any, capsys: pytest.CaptureFixture[str], one_room: Callable[..., None]
) -> None:
    one_room(rewrappers={"second factors": totp.rewrap_all})
    totp.enrol(treasury, Secret("JBSWY3DPEHPK3PXP"))
    assert "JBSWY3DPEHPK3PXP" not in str(Authenticator.objects.get().data)
    settings.KEY_RING = ring_of("new", "old")
    call_command("rotate_key_ring")
    assert "second factors: 1 re-encrypted" in capsys.readouterr().out
    settings.KEY_RING = ring_of("new")
    secret = totp.secret_of(treasury)
    assert secret is not None
    assert secret.reveal() == "JBSWY3DPEHPK3PXP"
