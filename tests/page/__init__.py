"""Tests of the page in Chromium, Firefox and WebKit."""

import pytest

pytest.register_assert_rewrite("page.player", "page.person", "page.firefox", "page.webkit")
