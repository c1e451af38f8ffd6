"""Tests of the page in Chromium, and in Firefox."""

import pytest

pytest.register_assert_rewrite("page.player", "page.person", "page.firefox", "page.webkit")
