#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts and the workflow of deploy/ci do what they say, with a stand-in for Xcode that plays recorded logs.

There is no simulator on Linux: the stand-in takes the commands of xcrun and plutil, holds them against what a simulator
needs (booted before installing, launched before attaching), and writes the recorded lines when the app would. The
scripts themselves, the collected log and its judgement are real. So are the faults: what does not boot, launch, attach or
log, a stream that ends early, an interruption. After each of them the simulator must be gone.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from processes import Failure, until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "deploy" / "ci"
LOGS = ROOT / "Tests" / "IntegrationTests" / "Fixtures" / "logs"
BUNDLE, TASK = "org.example.dnptest", "com.timesafari.dailynotification.fetch"
FIRE = f'(void)[[BGTaskScheduler sharedScheduler] _simulateLaunchForTaskWithIdentifier:@"{TASK}"]'
REFUSED = (
    'Failed to schedule BGAppRefreshTask: Error Domain=BGTaskSchedulerErrorDomain Code=1 "(null)"',
    "Background fetch scheduling failed (expected on simulator)",
)

# What xcrun does: a state is a file, and the log stream plays the lines of each state that is reached.
XCODE = """
import json, os, pathlib, sys, time
state, fault = pathlib.Path(os.environ["STATE"]), os.environ.get("FAULT", "")
said = sys.argv[1:]
with open(state / "calls", "a") as calls:
    print(json.dumps(said), file=calls)

def fail(why, status=1):
    sys.exit(print(why, file=sys.stderr) or status)

def reached(name):
    return (state / name).exists()

def reach(name, *needed):
    if fault == name:
        fail(f"An error was encountered processing the command ({name})")
    for one in needed:
        if not reached(one):
            fail(f"not {one} yet")
    (state / name).touch()

def play(follow):
    print('Filtering the log data using "the predicate"', flush=True)
    for name in ("launched", "scheduled", "fired"):
        while follow and not reached(name):
            time.sleep(0.01)
        if not reached(name) or (follow and fault == "stream-ends" and name == "fired"):
            return
        print((state / f"{name}.log").read_text(), end="", flush=True)
    while follow:
        time.sleep(0.01)

match said:
    case ["simctl", "create", _, device, *_] if device.startswith("iPhone"):
        reach("created")
        print("6A3C7C0E-0000-4000-8000-000000000001")
    case ["simctl", "boot", _]:
        reach("booting", "created")
    case ["simctl", "bootstatus", _, "-b"]:
        while fault == "never-booted":
            time.sleep(0.1)
        reach("booted", "booting")
    case ["simctl", "spawn", _, "log", "stream", "--style", "ndjson", *_] if reached("booted"):
        (state / "stream").write_text(str(os.getpid()))
        play(follow=True)
    case ["simctl", "spawn", _, "log", "show", "--style", "ndjson", *_] if reached("booted"):
        play(follow=False)
    case ["simctl", "install", _, app]:
        reach("installed", "booted")
    case ["simctl", "launch", _, "com.apple.Preferences"]:
        reach("background", "launched")
        print("com.apple.Preferences: 4300")
    case ["simctl", "launch", _, bundle, *_]:
        reach("launched", "installed")
        print(f"{bundle}: 4242")
    case ["simctl", "openurl", _, _]:
        reach("scheduled", "launched")
    case ["lldb", "--batch", "-p", "4242", "-o", expression, "-o", "detach"]:
        if fault == "strange-expression":
            print("error: expression failed to parse:", "error: no known class method", sep="\\n")
            sys.exit()
        reach("attached", "background")
        if expression != os.environ["EXPRESSION"]:
            fail(f"not the guide's expression: {expression}")
        if fault != "never-fired":
            reach("fired", "scheduled")
    case ["simctl", "shutdown", _]:
        reach("shut down", "created")
    case ["simctl", "delete", _]:
        reach("deleted", "shut down")
    case _:
        fail(f"unknown command: {said}", 64)
"""


def executable(path, text):
    path.write_text(text)
    path.chmod(0o755)


class Run:
    """One run of the scripts in a directory of its own."""

    def __init__(self, directory, binary, log, fault="", **settings):
        self.directory, self.log = directory, log
        self.state = directory / "state"
        self.state.mkdir(parents=True)
        programs = directory / "programs"
        programs.mkdir()
        executable(programs / "xcrun", f"#!{sys.executable} -IS\n{XCODE}")
        executable(programs / "plutil", f"#!/bin/sh\necho {BUNDLE}\n")
        (programs / "dnp-telemetry").symlink_to(binary)
        (directory / "App.app").mkdir()
        for name, lines in stages(log).items():
            (self.state / f"{name}.log").write_text("".join(f"{line}\n" for line in lines))
        self.environment = {
            "PATH": f"{programs}:/usr/bin:/bin",
            "STATE": str(self.state),
            "FAULT": fault,
            "EXPRESSION": f"expression -l objc -O -- {FIRE}",
            "SCHEDULE": 'xcrun simctl openurl "$UDID" "dnptest://schedule?minutes=10"',
            "POLL_SECONDS": "0.1",
            "GITHUB_STEP_SUMMARY": str(directory / "summary.md"),
            **{f"{name}_SECONDS": "20" for name in ("BOOT", "SCHEDULE", "TASK", "NOTIFY")},
            **{name: value for name, value in settings.items()},
        }

    def start(self):
        return subprocess.Popen(
            ["sh", SHIPPED / "run-ios-simulator.sh", "App.app", "device-log"],
            cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True,
        )

    def collect(self):
        """Runs the script; returns its status and output."""
        child = self.start()
        try:
            output = child.communicate(timeout=60)[0]
        except subprocess.TimeoutExpired:
            child.kill()
            raise Failure("run-ios-simulator.sh still runs after 60 s") from None
        self.check_clean()
        return child.returncode, output

    def check_clean(self):
        """The simulator is gone if there was one, and so is the log stream."""
        if (self.state / "created").exists() and not (self.state / "deleted").exists():
            raise Failure(f"the simulator was left behind: {self.calls()}")
        stream = self.state / "stream"
        if stream.exists() and is_running(int(stream.read_text())):
            raise Failure("the log stream still runs")

    def calls(self):
        return [" ".join(json.loads(line)) for line in (self.state / "calls").read_text().splitlines()]

    def collected(self):
        """The collected lines, without the first, by which log stream says that it begins."""
        return (self.directory / "device-log" / "device.ndjson").read_text().splitlines()[1:]

    def judge(self, **settings):
        """Judges the collected log; returns status, output, verdict and the number of failures in the JUnit report."""
        done = subprocess.run(
            ["sh", SHIPPED / "judge-log.sh", "device-log/device.ndjson", "results"],
            cwd=self.directory, env={**self.environment, **settings}, capture_output=True, text=True, timeout=60,
        )
        results = self.directory / "results"
        verdict = json.loads((results / "verdict.json").read_text())["verdict"]
        failures = len(list(xml.etree.ElementTree.parse(results / "junit.xml").iter("failure")))
        return done.returncode, done.stdout + done.stderr, verdict, failures


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def stages(lines):
    """The lines that a log has after the launch, after the scheduling, and after the task is fired."""
    scheduled = next(at for at, line in enumerate(lines) if "Scheduling prefetch" in line)
    fired = next((at for at, line in enumerate(lines) if "BGTask handler invoked" in line), len(lines))
    return {"launched": lines[:scheduled], "scheduled": lines[scheduled:fired], "fired": lines[fired:]}


def refused(lines):
    """The same log of a simulator that refuses the submission."""
    made = []
    for line in lines:
        entry = json.loads(line)
        submitted = entry["eventMessage"].startswith("BGAppRefreshTask scheduled")
        made += [json.dumps({**entry, "eventMessage": said}) for said in (REFUSED if submitted else [entry["eventMessage"]])]
    return made


def expect(what, found, expected):
    if found != expected:
        raise Failure(f"{what}: expected {expected}, found {found}")


def expect_said(what, output, pattern):
    if not re.search(pattern, output):
        raise Failure(f"{what}: expected it to say {pattern!r}, it said: {output}")


def check_good(new, happy):
    run = new(happy)
    expect("a good run", run.collect()[0], 0)
    expect("the collected log", run.collected(), happy)
    status, output, verdict, failures = run.judge()
    expect("the judgement of a good run", (status, verdict, failures), (0, "coherent", 0))
    expect_said("judge-log.sh", output, r"(?m)^coherent: ")
    record = (run.directory / "results" / "run.md").read_text()
    if not record or (run.directory / "summary.md").read_text() != record:
        raise Failure("the record of the test run is not in the summary of the job")
    order = ("create", "boot ", "bootstatus", "log stream", "install", f"launch .* {BUNDLE}$", "openurl", "Preferences", "lldb", "shutdown", "delete")
    at = [next((i for i, call in enumerate(run.calls()) if re.search(word, call)), None) for word in order]
    if None in at or at != sorted(at):
        raise Failure(f"expected the calls {order} in this order, found {run.calls()}")


def check_judgements(new, happy, network):
    run = new(network)
    expect("a run with a failed fetch", run.collect()[0], 0)
    expect("its judgement", (run.judge()[0], run.judge()[2:]), (1, ("coherent", 1)))
    expect("its judgement with REQUIRE=fallback", run.judge(REQUIRE="fallback")[0], 0)
    run = new(refused(happy))
    expect("a run on a simulator that refuses to schedule", run.collect()[0], 0)
    expect_said("judge-log.sh", run.judge()[1], "refused to schedule the task")
    run = new(happy, fault="never-fired", TASK_SECONDS="1", NOTIFY_SECONDS="1")
    status, output = run.collect()
    expect("a run whose task does not run", status, 0)
    expect_said("run-ios-simulator.sh", output, "waited 1 s for the task to end; the log has no such line")
    expect("its judgement", run.judge()[0], 1)
    run = new(happy, fault="stream-ends", TASK_SECONDS="1", NOTIFY_SECONDS="1")
    status, output = run.collect()
    expect("a run whose log stream ends early", (status, run.collected()), (0, happy))
    expect_said("run-ios-simulator.sh", output, "taking what log show has")


def check_sequence(new, happy):
    """The guide's script: all steps in order, a missing one, a misplaced one, nothing, and nothing to read."""

    def script(lines, *arguments, by_name=False):
        run = new(happy)
        log = "".join(f"{line}\n" for line in lines)
        if by_name:
            (run.directory / "phone.log").write_text(log)
            arguments = ("phone.log",)
        done = subprocess.run(
            [SHIPPED / "validate-ios-logs.sh", *arguments], cwd=run.directory, env=run.environment, text=True, timeout=60,
            stdin=subprocess.DEVNULL if by_name else None, input=None if by_name else log, capture_output=True,
        )
        return done.returncode, done.stdout.strip(), done.stderr

    whole, incomplete = "✅ Log sequence validated: All steps present", "❌ Log sequence incomplete: Missing steps"
    stamped = (LOGS / "happy-stamped.log").read_text().splitlines()
    for lines in (happy, stamped, [line for line in stamped if "DNP-STORAGE" not in line]):
        for by_name in (False, True):
            expect("the sequence of a good log", script(lines, by_name=by_name)[:2], (0, whole))
    status, output, said = script([line for line in stamped if "Starting fetch" not in line])
    expect("the sequence without a step", (status, output), (1, incomplete))
    expect_said("validate-ios-logs.sh", said, "missing: Starting fetch")
    late = [line.replace("T05:5", "T04:5", 1) if "BGTask handler invoked" in line else line for line in stamped]
    status, output, said = script(late)
    expect("the sequence in another order", (status, output), (1, incomplete))
    expect_said("validate-ios-logs.sh", said, "out of order: BGTask handler invoked")
    expect("the sequence of nothing", script([])[:2], (1, incomplete))
    expect("the sequence of a log that is not there", script(stamped, "nowhere.log")[:2], (2, ""))


def check_faults(new, happy):
    faults = {
        "created": "no simulator of the type iPhone 15",
        "booting": "does not boot",
        "never-booted": "was not ready in 1 s",
        "installed": "cannot be installed",
        "launched": f"{BUNDLE} does not launch",
        "scheduled": "the command that schedules failed with status 1",
        "attached": "lldb cannot attach",
        "strange-expression": "cannot be fired: error: expression failed to parse",
    }
    for fault, words in faults.items():
        status, output = new(happy, fault=fault, BOOT_SECONDS="1" if fault == "never-booted" else "20").collect()
        expect(f"a run with the fault {fault}", status, 2)
        expect_said(f"the fault {fault}", output, words)
    run = new(happy)
    (run.directory / "App.app").rmdir()
    expect_said("a run without an app", run.collect()[1], "expected an app built for the simulator")
    run = new(happy)
    (run.directory / "programs" / "xcrun").unlink()
    expect_said("a run without Xcode", run.collect()[1], "xcrun is missing")
    return len(faults) + 2


def check_interruption(new, happy):
    run = new(happy, fault="never-fired")
    child = run.start()
    until("the task is fired", lambda: (run.state / "attached").exists())
    child.send_signal(signal.SIGTERM)
    expect("an interrupted run", child.wait(20), 143)
    child.stdout.close()
    until("the log stream is gone", lambda: not is_running(int((run.state / "stream").read_text())))
    run.check_clean()


def check_workflow():
    """The workflow parses, is bounded, and fits the scripts that it calls."""
    convert = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"
    python = shutil.which("python3", path="/usr/bin") or "python3"
    path = SHIPPED / "github-actions.yml"
    done = subprocess.run([python, "-c", convert], input=path.read_text(), capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{path.name} (apt-get install python3-yaml): {done.stderr}")
    made = json.loads(done.stdout)
    expect("its permissions", made["permissions"], {"contents": "read"})
    uploaded, steps = set(), 0
    for name, job in made["jobs"].items():
        if not 0 < job.get("timeout-minutes", 0) <= 60 or job.get("needs", name) not in made["jobs"]:
            raise Failure(f"{path.name}: the job {name} has no limit, or needs an unknown one")
        for step in job["steps"]:
            steps += 1
            action, artifact = step.get("uses", ""), step.get("with", {}).get("name")
            if ("run" in step) == bool(action) or (action and not re.fullmatch(r"actions/[\w-]+@v\d+", action)):
                raise Failure(f"{path.name}: a step of {name} is neither a command nor an action with its version: {step}")
            if "upload-artifact" in action:
                uploaded.add(artifact)
            elif "download-artifact" in action and artifact not in uploaded:
                raise Failure(f"{path.name}: {name} takes {artifact}, which no step before it keeps")
            check_step(path.name, step.get("run", ""), step.get("env", {}))
    return steps


def check_step(where, command, environment):
    if "${{" in command:
        raise Failure(f"{where}: pass expressions by env; in a command they may be code: {command}")
    if command:
        done = subprocess.run(["shellcheck", "-s", "bash", "-"], input=command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"{where}: {done.stdout}{done.stderr}")
    for script in re.findall(r"sh scripts/(\S+)", command):
        if not (SHIPPED / script).exists():
            raise Failure(f"{where} calls {script}, which is not in deploy/ci")
        known = set(re.findall(r"\b[A-Z][A-Z_]+\b", (SHIPPED / script).read_text()))
        if unknown := environment.keys() - known:
            raise Failure(f"{where} sets {sorted(unknown)}, which {script} does not know")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the executable dnp-telemetry")
    binary = pathlib.Path(parser.parse_args().binary).resolve()
    happy = (LOGS / "happy-oslog.ndjson").read_text().splitlines()
    network = (LOGS / "network-failure.log").read_text().splitlines()
    with tempfile.TemporaryDirectory(prefix="dnp-simulator-") as directory:
        numbers = itertools.count(1)

        def new(log, **settings):
            return Run(pathlib.Path(directory) / str(next(numbers)), binary, log, **settings)

        try:
            steps = check_workflow()
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                checks = (
                    pool.submit(check_faults, new, happy),
                    pool.submit(check_judgements, new, happy, network),
                    pool.submit(check_sequence, new, happy),
                    pool.submit(check_good, new, happy),
                    pool.submit(check_interruption, new, happy),
                )
                faults = [check.result() for check in checks][0]
        except Failure as failure:
            sys.exit(f"deploy/checks/simulator.py: {failure}")
    print(f"simulator: {next(numbers) - 1} runs with a stand-in for Xcode, {faults} of them with faults; {steps} steps of the workflow")


if __name__ == "__main__":
    main()
