"""OpenID Connect by django-allauth, stricter where the specification asks for it and the library does not check.

Sources: OpenID Connect Core 1.0, 3.1.3.7 (ID token), 5.3.2 (UserInfo); OpenID Connect Discovery 1.0, 4.3.
The library keeps rows of its own for accounts and applications: none is made, and none is asked who somebody is.
"""

from typing import Any, Final
from urllib.parse import urlsplit

import jwt
import structlog
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from desk.single_sign_on import sign_in
from desk.single_sign_on.accounts import Identity
from desk.single_sign_on.models import LONGEST_EMAIL, LONGEST_SUBJECT

PROVIDER: Final = "company"
_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")
# What only the directory can sign with (section 3.1 of RFC 7518): not `none`, and no key that both sides have.
_SIGNATURES: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
_log = structlog.get_logger(__name__)


class Directory(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """The company's directory: its configuration, and what its tokens say."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request, PROVIDER)

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        """The desk's own address, whatever name the request came under."""
        return f"{settings.DESK_URL}{reverse('company-callback')}"

    @property
    def openid_config(self) -> dict[str, Any]:
        """Its configuration, read once a request. Raises OAuth2Error where it is that of another issuer."""
        if not hasattr(self, "_checked_config"):
            config: dict[str, Any] = super().openid_config
            if not isinstance(config, dict):
                raise OAuth2Error("the configuration can't be read")
            if config.get("issuer") != settings.OIDC_ISSUER:
                raise OAuth2Error(f"the configuration names the issuer {config.get('issuer')!r}")
            for name in _ENDPOINTS:
                if not _is_safe(str(config.get(name, ""))):
                    raise OAuth2Error(f"{name} does not use https")
            self._checked_config = config
        return self._checked_config

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **named: Any) -> SocialLogin:
        """What the tokens say. The ID token names the person; UserInfo adds an address, of the same person alone."""
        text = named["response"].get("id_token")
        if not text:
            raise OAuth2Error("no ID token came")
        claims = self._decode_id_token(app, text)
        more = self._fetch_user_info(token.token)
        if not _is_subject(claims.get("sub")):
            raise OAuth2Error("the ID token names nobody")
        if not isinstance(more, dict) or more.get("sub") != claims["sub"]:
            raise OAuth2Error("the ID token and UserInfo name different people")
        return self.get_provider().sociallogin_from_response(request, {"userinfo": more, "id_token": claims})

    def _decode_id_token(self, app: Any, id_token: str) -> dict[str, Any]:
        """The claims of the ID token, with its signature checked by a key of the directory."""
        try:
            if jwt.get_unverified_header(id_token).get("alg") not in _SIGNATURES:
                raise OAuth2Error("the ID token is not signed by a key of the directory alone")
            claims: dict[str, Any] = jwtkit.verify_and_decode(
                credential=id_token,
                keys_url=self.openid_config["jwks_uri"],
                issuer=settings.OIDC_ISSUER,
                audience=app.client_id,
                lookup_kid=_key,
            )
        except (jwt.PyJWTError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise OAuth2Error("the ID token can't be read") from error
        if claims.get("azp", app.client_id) != app.client_id:
            raise OAuth2Error("the ID token was made for another application")
        return claims


class CompanyProvider(OpenIDConnectProvider):  # type: ignore[misc]
    """The library's provider, by the stricter adapter."""

    def get_oauth2_adapter(self, request: HttpRequest) -> Directory:
        return Directory(request)


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Ends the library's way where it knows who came: the desk's own rows say who that is."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """The one application that the settings name; rows of the library's table are not asked."""
        if provider not in {None, PROVIDER, "openid_connect"} or client_id not in {None, settings.OIDC_CLIENT_ID}:
            return []
        return [
            SocialApp(
                provider="openid_connect",
                provider_id=PROVIDER,
                name=settings.SSO_NAME,
                client_id=settings.OIDC_CLIENT_ID,
                secret=settings.OIDC_CLIENT_SECRET,
                settings={"server_url": f"{settings.OIDC_ISSUER.rstrip('/')}/.well-known/openid-configuration"},
            )
        ]

    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> CompanyProvider:
        """The company's directory; the desk has no other provider."""
        return CompanyProvider(request, app=self.get_app(request, provider, client_id))

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        claims = sociallogin.account.extra_data
        # What is shown is what is signed and stored: an address of more characters than the column has is cut before.
        email = str(claims["userinfo"].get("email") or "")[:LONGEST_EMAIL]
        identity = Identity(settings.OIDC_ISSUER, claims["id_token"]["sub"], email)
        raise ImmediateHttpResponse(sign_in.arrived(request, identity, then=sociallogin.get_redirect_url(request)))

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, extra_context: Any = None
    ) -> None:
        _log.warning("accounts.company_sign_in_failed", error=str(error), reason=str(exception)[:200])
        raise ImmediateHttpResponse(sign_in.failed(request, cancelled=str(error) == "cancelled"))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False


def _key(keys: dict[str, Any], number: str) -> Any:
    """The directory's key of this number, by the library; only keys that sign for the directory alone."""
    usable = [each for each in keys.get("keys", []) if each.get("kid") and each.get("alg", "RS256") in _SIGNATURES]
    return jwtkit.lookup_kid_jwk({"keys": usable}, number)


def _is_subject(value: Any) -> bool:
    """Whether this identifies somebody (OpenID Connect Core 1.0, 2): up to 255 ASCII characters."""
    return isinstance(value, str) and 0 < len(value) <= LONGEST_SUBJECT and value.isascii() and value.isprintable()


def _is_safe(address: str) -> bool:
    parts = urlsplit(address)
    is_here = settings.DEMO and parts.scheme == "http" and parts.hostname in {"localhost", "127.0.0.1"}
    return parts.scheme == "https" or is_here
