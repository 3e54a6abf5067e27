"""The token of a Ray cluster: found where Ray keeps it, never shown and never logged."""

from __future__ import annotations

import os
from pathlib import Path

TOKEN_ADVICE = "put the cluster's token into RAY_AUTH_TOKEN, or its file's path into RAY_AUTH_TOKEN_PATH."


def use_token() -> None:
    """Have Ray send the cluster's token, where there is one: by itself it does not.

    To be called before Ray is loaded, which reads the setting then. Without a token all stays as it is.
    """
    places = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
    if any(place in os.environ for place in places) or (Path.home() / ".ray" / "auth_token").exists():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
