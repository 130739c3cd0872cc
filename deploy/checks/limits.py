#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The limit of deploy/fleet/haproxy.cfg that is shipped as comments: with the # away HAProxy takes it, and refuses."""

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
        raise Failure(f"expected three lines of the limit in haproxy.cfg, found {lines}")
    text = text.replace("127.0.0.1:10910", f"127.0.0.1:{port}").replace("127.0.0.1:8405", f"127.0.0.1:{free_port()}")
    # What needs root.
    (directory / "haproxy.cfg").write_text(re.sub(r"(?m)^ +(user|group|chroot) .*\n", "", text))
    shutil.copy(SHIPPED / "slots.map", directory)
    return directory / "haproxy.cfg"


def answer(port):
    """The status of a request without a name, and how long to wait."""
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
        until("HAProxy is ready", lambda: process.said() is not None and answers(health))
        found = [answer(port) for _ in range(REQUESTS)]
        if found != [(400, None)] * REQUESTS:
            raise Failure(f"expected 400 for want of a name {REQUESTS} times, found {found}")
        status, pause = answer(port)
        if status != 429 or not 5 <= int(pause or 0) <= 34 or not answers(health):
            raise Failure(f"expected 429 for one request more, and none for the health, found {status}, {pause}")
    finally:
        process.end()


def main():
    with tempfile.TemporaryDirectory(prefix="dnp-limits-") as directory:
        try:
            run(pathlib.Path(directory))
        except Failure as failure:
            sys.exit(f"deploy/checks/limits.py: {failure}")
    print(f"haproxy: with the limit it answers {REQUESTS} requests of an address, and no more")


if __name__ == "__main__":
    main()
