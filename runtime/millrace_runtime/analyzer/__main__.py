"""`python -m millrace_runtime.analyzer`."""

import sys

from millrace_runtime.analyzer.analyzer import main

if __name__ == "__main__":
    sys.exit(main())
