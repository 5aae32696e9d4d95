"""`python -m millrace_runtime.simulator`."""

import sys

from millrace_runtime.simulator.simulator import main

if __name__ == "__main__":
    sys.exit(main())
