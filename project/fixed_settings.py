"""Settings that are the same for every desk: what Django and its libraries are told, and no environment changes."""

from csp.constants import NONCE, NONE, SELF

# Apps ---------------------------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "channels",
    "csp",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "desk",
    "exchange_ops",
    "chaindata",
    "project",
]
ROOT_URLCONF = "project.urls"
ASGI_APPLICATION = "project.asgi.application"

# People -------------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "desk.Person"
AUTHENTICATION_BACKENDS = ["desk.people.accounts.PeopleBackend"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "/sign-in/"
ACCOUNT_ADAPTER = "desk.web.personal.PersonalAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
# The library counts failures by name alone, so that anybody could lock anybody out: desk/people/sign_in_limits.py
# counts instead.
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": None}
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
SOCIALACCOUNT_ADAPTER = "desk.single_sign_on.oidc.SocialAdapter"
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True}}
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_REQUESTS_TIMEOUT = 10
MFA_ADAPTER = "desk.people.accounts.SecondFactorAdapter"
MFA_FORMS = {
    "authenticate": "desk.people.accounts.SignInCodeForm",
    "reauthenticate": "desk.people.accounts.ReauthenticateCodeForm",
    "add_webauthn": "desk.people.accounts.AddPasskeyForm",
    "authenticate_webauthn": "desk.people.accounts.SignInPasskeyForm",
    "login_webauthn": "desk.people.accounts.PasskeyAloneForm",
    "reauthenticate_webauthn": "desk.people.accounts.ReauthenticatePasskeyForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Countersign"
MFA_TOTP_TOLERANCE = 1
# A key that can't verify its user could never confirm a decision, so it isn't enrolled either.
MFA_WEBAUTHN_USER_VERIFICATION = "required"
# How long the link of `manage.py create_admin` works.
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Requests ------------------------------------------------------------------------------------------------------------
MIDDLEWARE = [
    "desk.web.http_guards.NoStoreMiddleware",
    "desk.web.http_guards.ReportingMiddleware",
    "desk.web.compression.PageCompressionMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "desk.web.requests.RequestIdMiddleware",
    "desk.people.session_life.SessionMiddleware",
    "exchange_ops.pages.account_paths.AccountPathMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "desk.web.http_guards.FetchSiteMiddleware",
    "desk.people.session_life.SessionLifeMiddleware",
    "desk.web.networks.NetworkMiddleware",
    "desk.web.enrolment.EnrolmentMiddleware",
    "desk.web.personal.PersonalFormatsMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "desk.invisible.InvisibleCharactersMiddleware",
]

# The browser --------------------------------------------------------------------------------------------------------
CSRF_FAILURE_VIEW = "desk.web.errors.csrf_failure"
SECURE_REFERRER_POLICY = "same-origin"
# On every answer, those included that the server makes by itself (project/serve.py). Passkeys and the clipboard stay
# with our own pages by default.
ANSWER_HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(
        f"{feature}=()"
        for feature in (
            "bluetooth",
            "browsing-topics",
            "camera",
            "display-capture",
            "geolocation",
            "hid",
            "microphone",
            "midi",
            "payment",
            "serial",
            "usb",
        )
    ),
}
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "object-src": [NONE],
        # Text becomes a part of a page only through static/js/trusted.js; the last is Swagger UI's own cleaner.
        "require-trusted-types-for": ["'script'"],
        "trusted-types": ["default", "desk-inert", "dompurify"],
        "report-uri": "/csp-reports",
        "report-to": "csp",
    }
}

# Language and time: UTC everywhere, so that a figure and its hour read the same for everybody.
LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True

# The API ------------------------------------------------------------------------------------------------------------
SPECTACULAR_SETTINGS = {
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "exchange_ops.shared.api.description.closed_bodies",
    ],
    "ENUM_NAME_OVERRIDES": {"TransferKindEnum": "exchange_ops.transfers.api.KINDS"},
    "TITLE": "Countersign",
    "VERSION": "1",
    "DESCRIPTION": "The desk's requests and figures. The API can draft requests; only people can approve them.",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}
