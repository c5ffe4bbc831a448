"""The other side of a stream's session as a test wants it: scripted frames, no socket and no clock."""

import json

from exchange_ops.wire.conversation import Ended, Phase


class Script:
    """Plays the exchange: keeps what was asked and says what the test wants, at the test's moment."""

    def __init__(self, session):
        self.now_ms = 1_000
        self.session = session
        self.happened = []
        self.waiting = []

    def open(self):
        self.session.opened(self.now_ms)
        return self.asked()

    def asked(self):
        """The requests sent since the last look, as (method, params, id)."""
        self.happened += self.session.events()
        new = [(frame["method"], frame["params"], frame["id"]) for frame in map(json.loads, self.session.outgoing())]
        self.waiting += new
        return new

    def say(self, frame):
        self.session.received(frame if isinstance(frame, str | bytes) else json.dumps(frame), self.now_ms)
        return self.asked()

    def answer(self, asked, result):
        self.waiting.remove(asked)
        return self.say({"jsonrpc": "2.0", "result": result, "id": asked[2]})

    def refuse(self, asked, code, message, description=""):
        self.waiting.remove(asked)
        error = {"code": code, "message": message, "description": description}
        return self.say({"jsonrpc": "2.0", "error": error, "id": asked[2]})

    def confirm_all(self):
        """Answer everything that waits with true, whatever that leads to included; the methods in their order."""
        methods = []
        while self.waiting:
            methods.append(self.waiting[0][0])
            self.answer(self.waiting[0], True)
        return methods

    def notify(self, method, params):
        return self.say({"jsonrpc": "2.0", "method": method, "params": params})

    def wait(self, ms):
        self.now_ms += ms
        self.session.tick(self.now_ms)
        return self.asked()

    def of(self, kind):
        return [event for event in self.happened if isinstance(event, kind)]

    @property
    def end(self):
        assert self.session.phase is Phase.ENDED
        return next(event for event in self.happened if isinstance(event, Ended))
