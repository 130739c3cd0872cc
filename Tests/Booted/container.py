# SPDX-License-Identifier: Apache-2.0
"""What the Containerfile makes of the executable, run without an engine: no image can be fetched here."""

import json
import pathlib
import re
import shlex
import signal
import subprocess

from machine import Failure, until
from service import require

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def instructions():
    """The instructions with their arguments, lines that go on joined."""
    text = re.sub(r"^#.*\n", "", (ROOT / "deploy/container/Containerfile").read_text(), flags=re.M)
    for line in re.sub(r"\\\n", " ", text).splitlines():
        name, _, argument = line.partition(" ")
        if name:
            yield name, argument.strip()


def sources_exist():
    for name, argument in instructions():
        if name == "COPY" and not argument.startswith("--from="):
            for source in argument.split()[:-1]:
                require((ROOT / source).exists(), f"the Containerfile copies {source}, which does not exist")


def libraries_are_installed(machine):
    """Each library that the package needs is installed in the image, or is part of its base."""
    needed = set(re.findall(r"[a-z0-9.+-]+", re.sub(r"\([^)]*\)", "", machine.run(
        "dpkg-query -W -f '${Depends}' dnp-telemetry").stdout.split("systemd |")[0])))
    last = [argument for name, argument in instructions() if name == "RUN"][-1]
    installed = set(last.split("--no-install-recommends")[1].split("&&")[0].split())
    missing = needed - installed - {"libc6", "libgcc-s1", "libcrypt1", "libstdc++6"}
    require(not missing, f"the Containerfile installs no {', '.join(sorted(missing))}")


def container(machine):
    """The Containerfile's command serves as its user, its health check tells so, and its signal stops it"""
    sources_exist()
    libraries_are_installed(machine)
    last = dict(instructions())
    user = last["USER"].split(":")[0]
    variables = shlex.split(last["ENV"])
    command = json.loads(last["ENTRYPOINT"]) + json.loads(last["CMD"])
    check = json.loads(last["HEALTHCHECK"].split("CMD ")[1])
    machine.run("ip netns add container && ip -n container link set lo up")
    machine.run(f"install -d -m 700 -o {user} {last['VOLUME']}.container")
    # The volume is the service's state directory, which the machine's own service uses.
    confine = ["ip", "netns", "exec", "container", "unshare", "-m", "sh", "-c",
               f'mount --bind {last["VOLUME"]}.container /mnt && exec "$@"', "sh",
               "setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs",
               "env", "-i", *[each.replace(last["VOLUME"], "/mnt") for each in variables]]
    run = shlex.join([*confine, *command])
    health = shlex.join([*confine, *check])
    require(machine.run(health, check=False).returncode != 0, "healthy before it runs")
    process = subprocess.Popen(machine.command("exec " + run), text=True, stdout=-1, stderr=-1)
    try:
        until(lambda: machine.run(health, check=False).returncode == 0, "the health check to succeed", 20, every=0.3)
        answer = machine.run(
            "ip netns exec container curl -sSf -H 'Content-Type: application/json' http://127.0.0.1:10910/v1/events"
            " -d '{\"event\":\"prefetch_scheduled\",\"scheduleId\":\"a\",\"timestamp\":\"2025-11-15T05:41:00Z\"}'"
        ).stdout
        require(json.loads(answer)["accepted"] == 1, answer)
        number = getattr(signal, last["STOPSIGNAL"])
        machine.run(f"ip netns pids container | xargs -r kill -{number.value}")
        output, log = process.communicate(timeout=20)
    except (Failure, subprocess.TimeoutExpired) as failure:
        machine.run("ip netns pids container | xargs -r kill -9", check=False)
        raise Failure(f"{failure}\n{process.communicate(timeout=20)[1][-3000:]}") from None
    require(process.returncode == 0, f"it ended with {process.returncode}: {log[-2000:]}")
    require('"event":"prefetch_scheduled"' in output, f"the event is not on standard output: {output[-2000:]}")
    machine.run(f"ip netns del container; rm -r {last['VOLUME']}.container")
