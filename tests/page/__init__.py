"""Tests of the page in Chromium."""

import pytest

pytest.register_assert_rewrite("page.person")
