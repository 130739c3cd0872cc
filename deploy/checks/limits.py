#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rate limit that deploy/fleet/haproxy.cfg has as comments works in HAProxy once it is uncommented."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from processes import Failure, Process, answers, free_port, until  # noqa: E402

SHIPPED = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "fleet"
REQUESTS = 100


def configuration(directory, port):
    text, lines = re.subn(r"(?m)^( +)# (stick-table |http-request )", r"\1\2", (SHIPPED / "haproxy.cfg").read_text())
    if lines != 3:
        raise Failure(f"expected three commented lines of the limit in haproxy.cfg, found {lines}")
    text = text.replace("127.0.0.1:10910", f"127.0.0.1:{port}").replace("127.0.0.1:8405", f"127.0.0.1:{free_port()}")
    # These need root.
    (directory / "haproxy.cfg").write_text(re.sub(r"(?m)^ +(user|group|chroot) .*\n", "", text))
    shutil.copy(SHIPPED / "slots.map", directory)
    return directory / "haproxy.cfg"


def answer(port):
    """Status and Retry-After of a request without X-Installation."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/events", data=b"{}", timeout=5).close()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Retry-After"]
    return 200, None


def run(directory):
    port = free_port()
    made = configuration(directory, port)
    program = shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin:/usr/bin") or "haproxy"
    done = subprocess.run([program, "-c", "-f", made], capture_output=True, text=True)
    if done.returncode != 0 or "WARNING" in done.stderr:
        raise Failure(f"haproxy -c with the limit: {done.stderr}")
    process = Process([program, "-W", "-db", "-f", made], directory / "haproxy.log")
    try:
        health = f"http://127.0.0.1:{port}/-/healthy"
        until("HAProxy is ready", lambda: process.output() is not None and answers(health))
        found = [answer(port) for _ in range(REQUESTS)]
        if found != [(400, None)] * REQUESTS:
            raise Failure(f"expected {REQUESTS} times 400 for the missing header, found {found}")
        status, pause = answer(port)
        if status != 429 or not 5 <= int(pause or 0) <= 34 or not answers(health):
            raise Failure(f"expected 429 with Retry-After, but not for /-/healthy, found {status}, {pause}")
    finally:
        process.end()


def main():
    with tempfile.TemporaryDirectory(prefix="dnp-limits-") as directory:
        try:
            run(pathlib.Path(directory))
        except Failure as failure:
            sys.exit(f"deploy/checks/limits.py: {failure}")
    print(f"haproxy: the limit allows {REQUESTS} requests per address and refuses the next")


if __name__ == "__main__":
    main()
