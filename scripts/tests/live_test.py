"""Tests the live page in a browser: see live_test."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
# pylint: disable=wrong-import-position,unused-import
import live_behaviour
import live_access
import live_cost
import live_names
import live_picture
import live_readme
from live_page import run_checks

if sys.argv[1:] == ["--pictures"]:
    sys.exit(live_readme.make_pictures())
sys.exit(0 if run_checks(sys.argv[1:]) else 1)
