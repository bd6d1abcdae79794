#!/usr/bin/env python3
"""run.py GPUFILTER [NAME]: the command line tests, or those whose name holds NAME."""
import os
import sys

import harness
import test_backend  # noqa: F401  (each registers its tests)
import test_batch  # noqa: F401
import test_compare  # noqa: F401
import test_files  # noqa: F401
import test_params  # noqa: F401
import test_reports  # noqa: F401
import test_usage  # noqa: F401

sys.exit(harness.main(os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ''))
