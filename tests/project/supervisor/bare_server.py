"""The fork server without the desk, which takes seconds to load: `python -m tests.project.supervisor.bare_server`."""

import sys

from project.supervisor import fork_server

if __name__ == "__main__":
    fork_server._load = lambda: None
    sys.exit(fork_server.main())
