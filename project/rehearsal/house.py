"""`python -m project.rehearsal.house`: the supervisor in the packages that are installed.

`manage.py up` brings `.venv` up to date first. A rehearsal installs nothing: it runs beside a desk that uses the same
packages, and may not change.
"""

import sys

from project.supervisor import up

if __name__ == "__main__":
    sys.exit(up.main([]))
