"""`python -m sandbox`: the same as `manage.py sandbox`."""

import sys

from sandbox.command import main

sys.exit(main(sys.argv[1:]))
