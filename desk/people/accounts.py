"""How people sign in. Nobody signs up, and a setting says whether signing in asks for a second factor.

Outside the demo a person who has a second factor gives it at sign-in. In the demo the password is enough, so that a
newcomer gets in quickly; every decision asks for the factor all the same.
"""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.auth_backends import AuthenticationBackend
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter, get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from desk import clock, sealing
from desk.models import Person
from desk.people import factors, passkeys, sign_in_limits, totp
from desk.people.by_role import required_passkeys
from wire.values import Secret

_SECOND_FACTOR_STAGE = "allauth.mfa.stages.AuthenticateStage"


class PeopleBackend(AuthenticationBackend):  # type: ignore[misc]
    """The library's backend, except that it reads a person's own settings in the same query as the person."""

    def get_user(self, user_id: Any) -> Person | None:
        person = Person.objects.select_related("personal").filter(pk=user_id).first()
        return person if person is not None and self.user_can_authenticate(person) else None


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-in of people whose accounts an administrator made."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_login_stages(self) -> list[str]:
        stages: list[str] = super().get_login_stages()
        if settings.SIGN_IN_SECOND_FACTOR:
            return stages
        return [stage for stage in stages if stage != _SECOND_FACTOR_STAGE]

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Leave the password out for a person with a factor: it alone must not change how they sign in."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        if not user.is_authenticated or not factors.asks_first(user, self.request.session):
            return methods
        return [method for method in methods if method["id"] != "reauthenticate"]

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """The desk sends no mail yet: an administrator sets a forgotten password."""

    # The library counts by name alone, in a cache that a flood empties: see `sign_in_limits`.

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Take a try from the budgets of this name, address and device; refuse while one of them is used up."""
        if not settings.PASSWORD_SIGN_IN:
            raise ValidationError("This desk takes no passwords: use a passkey or the company's sign-in.", code="off")
        name = str(credentials.get("username", ""))
        self._budgets = _spend_try(sign_in_limits.PASSWORD, name, request)

    def authenticate(self, request: HttpRequest, **credentials: Any) -> Any:
        """The person of these credentials, or None."""
        person = super().authenticate(request, **credentials)
        if person is not None:
            sign_in_limits.give_back(self._budgets)
        return person


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets of second factors are sealed; passkeys belong to one host name."""

    def encrypt(self, text: str) -> str:
        return sealing.seal(Secret(text), context=totp.SEAL_CONTEXT)

    def decrypt(self, encrypted_text: str) -> str:
        return sealing.unseal(encrypted_text, context=totp.SEAL_CONTEXT).reveal()

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        entity: dict[str, str] = super().get_public_key_credential_rp_entity()
        return {"id": passkeys.host() or entity["id"], "name": "Countersign"}

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """The desk sends no mail yet; a change of factors stands on the person's page and in the audit trail."""


def _spend_try(what: str, name: str, request: HttpRequest) -> list[sign_in_limits.Budget]:
    """The budgets that the try was taken from. Raises ValidationError with the seconds to wait, for any name alike."""
    device, address = sign_in_limits.device_of(request, name), request.META.get("REMOTE_ADDR", "")
    budgets = sign_in_limits.budgets(what=what, name=name, address=address, device=device)
    if wait := sign_in_limits.spend_try(budgets, now=clock.now()):
        raise ValidationError(f"Too many failed attempts. Try again in {wait} seconds.", code="too_many_tries")
    return budgets


def _refuse_code(person: Person, text: str) -> None:
    """Raise ValidationError for a one-time code of somebody who must use their passkey.

    Without a passkey they come in to add one, and a recovery code opens nothing but enrolment.
    """
    refusal = required_passkeys.refusal_of_code(person)
    if refusal and totp.is_shaped("".join(text.split())) and required_passkeys.count(person):
        raise ValidationError(refusal, code="passkey_required")


class _SpendsTheCode:
    """A one-time code that was used to sign in is spent: it neither confirms a decision nor signs in again."""

    def clean_code(self) -> str:
        budgets = _spend_try(sign_in_limits.SECOND_FACTOR, self.user.get_username(), context.request)  # type: ignore[attr-defined]
        _refuse_code(self.user, self.cleaned_data["code"])  # type: ignore[attr-defined]
        code = self._checked_code()
        sign_in_limits.give_back(budgets)
        return code

    def _checked_code(self) -> str:
        code: str = super().clean_code()  # type: ignore[misc]
        row: Authenticator = self.authenticator  # type: ignore[attr-defined]
        if row.type == Authenticator.Type.TOTP:
            secret = totp.secret_of(row.user)
            digits = "".join(code.split())
            step = totp.matching_step(secret, digits, now=clock.now()) if secret and totp.is_shaped(digits) else None
            if step is None or not totp.spend(row.user, step):
                raise get_adapter().validation_error("incorrect_code")
        return code


class SignInCodeForm(_SpendsTheCode, AuthenticateForm):  # type: ignore[misc]
    """The second factor at sign-in. A recovery code opens a session that reaches nothing but enrolment."""

    def save(self) -> None:
        super().save()
        if self.authenticator.type == Authenticator.Type.RECOVERY_CODES:
            context.request.session[factors.RECOVERING] = True


class ReauthenticateCodeForm(_SpendsTheCode, ReauthenticateForm):  # type: ignore[misc]
    """The second factor before a person sees their recovery codes. A recovery code does not count as one."""

    def _checked_code(self) -> str:
        code = super()._checked_code()
        if self.authenticator.type == Authenticator.Type.RECOVERY_CODES:
            raise get_adapter().validation_error("incorrect_code")
        return code


class _AtOurAddress:
    """A passkey is taken at the desk's own address alone, so that none is enrolled that could approve nothing."""

    def clean_credential(self) -> Any:
        """What the library makes of the answer, once its origin is ours. Raises ValidationError."""
        answer = self.cleaned_data["credential"]  # type: ignore[attr-defined]
        response = answer.get("response") if isinstance(answer, dict) else None
        client_data = response.get("clientDataJSON") if isinstance(response, dict) else None
        if isinstance(client_data, str):  # anything else is no answer, which the library refuses
            try:
                passkeys.require_our_origin(client_data)
            except passkeys.AtAnotherAddress as reason:
                raise ValidationError(str(reason), code="at_another_address") from None
            except passkeys.CannotAccept:
                raise get_adapter().validation_error("incorrect_code") from None
        further = getattr(super(), "clean_credential", None)
        return answer if further is None else further()


class AddPasskeyForm(_AtOurAddress, AddWebAuthnForm):  # type: ignore[misc]
    """A new passkey."""


class SignInPasskeyForm(_AtOurAddress, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey as the second factor at sign-in."""


class PasskeyAloneForm(_AtOurAddress, LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey that signs in without a password."""


class ReauthenticatePasskeyForm(_AtOurAddress, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey before a person sees their recovery codes."""
