# SPDX-License-Identifier: Apache-2.0
"""The executable's own description of its commands and options."""

import json
import subprocess


def read(executable):
    """The command and its subcommands, as swift-argument-parser prints them."""
    done = subprocess.run(
        [executable, "--experimental-dump-help"], capture_output=True, check=True, text=True, timeout=30
    )
    return json.loads(done.stdout)["command"]
