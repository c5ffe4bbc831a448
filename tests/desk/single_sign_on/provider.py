"""A directory to sign in with: an OpenID provider on a port of this machine, which a test can have answer wrongly.

It checks what the desk sends as a real one does: client and secret, the address to come back to, the one-time code,
and its proof (section 4.1 of RFC 6749, section 4.6 of RFC 7636, OpenID Connect Core 1.0).
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, CLIENT_SECRET = "countersign", "a secret of the tests"


class Provider:
    """One directory with one person signed in. What a test sets in `token`, `user`, `config`, `user_info`
    and `keys` replaces an answer or a part of it."""

    def __init__(self, port=0):
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.signs_with, self.algorithm, self.kid = self.key, "RS256", "one"
        self.subject, self.email = "00u-anna", "anna@company.example"
        self.token, self.user, self.config = {}, {}, {}
        self.user_info = self.keys = None
        self.codes, self.calls = {}, []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                provider.answer(self, {})

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                provider.answer(self, {name: values[0] for name, values in parse_qs(body).items()})

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.issuer = f"http://127.0.0.1:{self.server.server_port}/company"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(5)

    def authorize(self, address):
        """What a browser does that is sent there: the address that it is sent back to."""
        parts = urlsplit(address)
        sent = {name: values[0] for name, values in parse_qs(parts.query).items()}
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.issuer}/authorize"
        assert (sent["client_id"], sent["response_type"]) == (CLIENT, "code")
        assert "openid" in sent["scope"].split()
        assert sent["code_challenge_method"] == "S256"
        code = secrets.token_hex(8)
        self.codes[code] = (sent["redirect_uri"], sent["code_challenge"])
        return f"{sent['redirect_uri']}?{urlencode({'code': code, 'state': sent['state']})}"

    def answer(self, handler, sent):
        path = urlsplit(handler.path).path.removeprefix("/company")
        self.calls.append(path)
        if path == "/authorize":
            handler.send_response(302)
            handler.send_header("Location", self.authorize(f"{self.issuer}{handler.path.removeprefix('/company')}"))
            handler.end_headers()
            return
        answers = {
            "/.well-known/openid-configuration": self.configuration,
            "/token": lambda: self.redeem(sent),
            "/me": self.described_user,
            "/keys": lambda: {"keys": [self.public_key()]} if self.keys is None else self.keys,
        }
        body = json.dumps(answers[path]()).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def described_user(self):
        usual = {"sub": self.subject, "email": self.email, "email_verified": True, **self.user}
        return usual if self.user_info is None else self.user_info

    def configuration(self):
        places = {"authorization": "authorize", "token": "token", "userinfo": "me"}
        return {
            "issuer": self.issuer,
            "jwks_uri": f"{self.issuer}/keys",
            **{f"{name}_endpoint": f"{self.issuer}/{path}" for name, path in places.items()},
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            **self.config,
        }

    def redeem(self, sent):
        back_to, challenge = self.codes.pop(sent["code"])
        proof = base64.urlsafe_b64encode(hashlib.sha256(sent["code_verifier"].encode()).digest()).decode().rstrip("=")
        assert (sent["redirect_uri"], proof) == (back_to, challenge)
        assert (sent["client_id"], sent["client_secret"]) == (CLIENT, CLIENT_SECRET)
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "sub": self.subject, "iat": now, "exp": now + 300, **self.token}
        text = jwt.encode(claims, self.signs_with, algorithm=self.algorithm, headers={"kid": self.kid})
        return {"access_token": "for UserInfo", "token_type": "Bearer", "expires_in": 300, "id_token": text}

    def public_key(self):
        return {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key())), "kid": "one", "use": "sig"}


if __name__ == "__main__":
    with Provider(port=8190) as directory:
        print(directory.issuer, CLIENT, CLIENT_SECRET, flush=True)
        threading.Event().wait()
