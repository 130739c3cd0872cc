# SPDX-License-Identifier: Apache-2.0
"""A systemd of its own, booted by systemd-nspawn on an overlay of this machine's file system.

What it writes stands in memory and is gone with it. It has no network but its own loopback, none of the services that
are enabled here, and no Swift. It ends with the process that booted it, whatever ends that.
"""

import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}

# $1 is the place of the layers, $2 what is hidden. A name is hidden by a device 0/0 in the upper layer, the content of
# a directory by an attribute of it (overlayfs.rst of the kernel).
BOOT = r"""
set -eu
mount -t tmpfs -o size=8g,mode=755 tmpfs "$1"
cd "$1"
mkdir -p upper/etc/systemd work root
chmod 755 upper
for path in $2; do mkdir -p "upper$(dirname "$path")"; mknod "upper$path" c 0 0; done
set --  upper/etc/systemd/system upper/var/log/journal upper/tmp upper/etc/rc{2,3,5,S}.d
mkdir -p "$@"
python3 -c 'import os, sys; [os.setxattr(path, "trusted.overlay.opaque", b"y") for path in sys.argv[1:]]' "$@"
mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work overlay root
export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
exec systemd-nspawn -q -D root --private-network --register=no --keep-unit --boot --machine=booted --console=pipe \
    --resolv-conf=off --timezone=off --link-journal=no systemd.unit=multi-user.target
"""


class Failure(Exception):
    """Something that must hold does not, or did not in time."""


class Machine:
    def __enter__(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="booted-", dir="/var/tmp"))
        self.console = open(self.place.with_suffix(".log"), "w+b")
        self.nspawn = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private",
             "bash", "-c", BOOT, "boot", str(self.place), " ".join(hidden())],
            stdin=subprocess.DEVNULL, stdout=self.console, stderr=self.console, start_new_session=True,
        )
        try:
            self.init = until(self._init, "systemd-nspawn to start an init", 20)
            until(self._booted, "the machine to boot", 90)
        except BaseException:
            self.__exit__(Failure)
            raise
        return self

    def __exit__(self, failure, *_):
        # The init's death takes every process of the machine with it.
        for process in (getattr(self, "init", None), self.nspawn.pid):
            try:
                if process:
                    os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.nspawn.wait(20)
        if failure:
            self.console.seek(0)
            print("\nThe console ended with:\n" + self.console.read()[-4000:].decode(errors="replace"))
        self.console.close()
        os.unlink(self.console.name)
        os.rmdir(self.place)

    def _init(self):
        """The process that is 1 in a namespace below nspawn's."""
        if self.nspawn.poll() is not None:
            raise Failure("systemd-nspawn ended before it booted")
        for status in pathlib.Path("/proc").glob("[0-9]*/status"):
            try:
                fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
            except (OSError, ValueError):
                continue
            numbers = fields["NSpid"].split()
            if len(numbers) > 1 and numbers[-1] == "1" and int(fields["PPid"]) == self.nspawn.pid:
                return int(numbers[0])
        return None

    def _booted(self):
        state = self.run("systemctl is-system-running", check=False).stdout.strip()
        return state in ("running", "degraded")

    def command(self, script):
        """The words that run a line of shell in the machine."""
        variables = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
        return ["nsenter", "-t", str(self.init), "-m", "-u", "-i", "-n", "-p", "-r", "-w",
                "env", "-i", *variables, "bash", "-o", "pipefail", "-c", script]

    def run(self, script, check=True, timeout=60, stdin=None):
        """Runs a line of shell in the machine and returns it with its output, both texts."""
        try:
            done = subprocess.run(self.command(script), input=stdin, text=True, capture_output=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failure(f"not done within {timeout} s: {script}") from None
        if check and done.returncode != 0:
            raise Failure(f"exit status {done.returncode} of: {script}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done

    def start(self, words, **options):
        """Starts a program of this machine in the network of the booted one."""
        return subprocess.Popen(["nsenter", "-t", str(self.init), "-n", *words], text=True, **options)

    def path(self, path):
        """Where a file of the machine is found from here."""
        return pathlib.Path(f"/proc/{self.init}/root{path}")

    def copy(self, source, path):
        shutil.copyfile(source, self.path(path))

    def write(self, path, text):
        self.path(path).write_text(text)

    def show(self, unit, *properties):
        """Properties of a unit, as systemctl tells them."""
        words = " ".join(f"-p {name}" for name in properties)
        lines = self.run(f"systemctl show {shlex.quote(unit)} {words}").stdout.splitlines()
        values = dict(line.split("=", 1) for line in lines if "=" in line)
        return values[properties[0]] if len(properties) == 1 else [values[name] for name in properties]


def until(fact, what, seconds, every=0.05):
    """Asks until the answer is neither false nor nothing, and returns it."""
    end = time.monotonic() + seconds
    while True:
        answer = fact()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Failure(f"waited {seconds} s for {what}")
        time.sleep(every)


def hidden():
    """What of this machine has to be hidden: Swift, and what forbids packages to start services."""
    paths = {"/usr/lib/swift", "/usr/libexec/swift", "/usr/sbin/policy-rc.d"}
    found = shutil.which("swift")
    if found:
        paths.add(found)
        home = pathlib.Path(found).resolve().parent.parent
        if home.name == "usr" and home != pathlib.Path("/usr"):
            paths.add(str(home.parent))
    # A name below a hidden one cannot be hidden too.
    present = sorted(path for path in paths if os.path.lexists(path))
    return [path for path in present if not any(path.startswith(other + "/") for other in present)]
