"""Every address of the house. Sign-up, mail and password recovery of the sign-in library are left out on purpose."""

from allauth.account import views as account
from allauth.mfa.base import views as factors
from django.urls import include, path

from chaindata.views import navigation as chain
from desk import context
from desk.views import sessions, trail
from exchange_ops.views import navigation as exchange

handler400 = "desk.views.errors.bad_request"
handler403 = "desk.views.errors.permission_denied"
handler404 = "desk.views.errors.page_not_found"
handler500 = "desk.views.errors.server_error"

context.offer(*sorted((*exchange.ENTRIES, *chain.ENTRIES), key=lambda entry: entry.group == "Control"))

urlpatterns = [
    path("", include("desk.urls")),
    path("", include("exchange_ops.urls")),
    path("", include("chaindata.urls")),
    path("audit/", trail.trail, name="audit"),
    path("api/v1/", include("exchange_ops.api.urls")),
    path("api/v1/chain/", include("chaindata.api.urls")),
    path("sign-in/", account.login, name="account_login"),
    path("sign-in/second-factor/", factors.authenticate, name="mfa_authenticate"),
    path("sign-in/not-active/", account.account_inactive, name="account_inactive"),
    path("sign-out/", account.logout, name="account_logout"),
    path("account/confirm/", account.reauthenticate, name="account_reauthenticate"),
    path("account/confirm/second-factor/", factors.reauthenticate, name="mfa_reauthenticate"),
    path("account/password/", account.password_change, name="account_change_password"),
    path("account/sessions/", sessions.sessions, name="sessions"),
    path("account/sessions/end/", sessions.end, name="session-end"),
    path("account/second-factor/", factors.index, name="mfa_index"),
    path("account/second-factor/app/", include("allauth.mfa.totp.urls")),
    path("account/second-factor/recovery-codes/", include("allauth.mfa.recovery_codes.urls")),
    path("account/second-factor/passkeys/", include("allauth.mfa.webauthn.urls")),
]
