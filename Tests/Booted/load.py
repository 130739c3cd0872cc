# SPDX-License-Identifier: Apache-2.0
"""Sends events until its standard input ends, then prints as JSON what became of them: load.py NAME SOCKET FILE

Half of the HTTP clients connect anew for each request, the others keep their connections. Every request is sent until
it is acknowledged, with the same key. A key tells apart what one client sent twice. Beside them a client of the socket
of lines sends each line until it is acknowledged, and a program writes to the file that is followed.
"""

import http.client
import json
import sys
import threading
import time

from line_clients import LineClient

ADDRESS = ("127.0.0.1", 10910)
BATCH = 20
TRIES = 200
# Some 150,000 events come together during an upgrade, which the journal confirms in a few seconds.
PAUSE = 0.005


class Client(threading.Thread):
    def __init__(self, number, keeps, run, stop):
        super().__init__()
        self.number, self.keeps, self.run_id, self.stop = number, keeps, run, stop
        self.connection = None
        self.counts = {"requests": 0, "acknowledged": 0, "refused": 0, "broken": 0, "pushed_back": 0, "lost": 0}
        self.longest = 0.0
        self.failures = []

    def run(self):
        sent = 0
        while not self.stop.is_set():
            self.deliver(sent)
            sent += 1
            time.sleep(PAUSE)

    def deliver(self, index):
        began = time.monotonic()
        key = f"{self.run_id}-{self.number}-{index}"
        body = "".join(scheduled(f"{key}-{event}") + "\n" for event in range(BATCH))
        self.counts["requests"] += 1
        for _ in range(TRIES):
            if self.attempt(key, body):
                self.longest = max(self.longest, time.monotonic() - began)
                return
            time.sleep(0.05)
        self.counts["lost"] += 1
        self.failures.append(f"{key}: not acknowledged in {TRIES} tries")

    def attempt(self, key, body):
        headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": key}
        fresh = self.connection is None
        try:
            if fresh:
                self.connection = http.client.HTTPConnection(*ADDRESS, timeout=30)
                self.connection.connect()
        except ConnectionRefusedError as error:
            return self.failed("refused", error)
        except OSError as error:
            return self.failed("broken", error)
        try:
            self.connection.request("POST", "/v1/events", body, headers)
            answer = self.connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            # A connection that was kept may be closed while a request is on its way: the client sends it again.
            return self.failed("broken" if fresh else "closed_while_kept", error)
        if answer.will_close or not self.keeps:
            self.disconnect()
        if answer.status in (429, 503):
            return self.failed("pushed_back", answer.status, disconnects=False)
        if answer.status != 200:
            return self.failed("other_answers", f"{answer.status} {text[:200]}", disconnects=False)
        told = json.loads(text)
        if told["accepted"] + told["duplicates"] != BATCH:
            return self.failed("other_answers", text[:200], disconnects=False)
        self.counts["acknowledged"] += BATCH
        return True

    def failed(self, kind, error, disconnects=True):
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if len(self.failures) < 5:
            self.failures.append(f"{kind}: {error!r}")
        if disconnects:
            self.disconnect()
        return False

    def disconnect(self):
        if self.connection:
            self.connection.close()
        self.connection = None


class Lines(threading.Thread):
    """Sends a line at a time over the socket of lines."""

    def __init__(self, run, path, stop):
        super().__init__()
        self.run_id, self.client, self.stop = run, LineClient(path), stop
        self.counts = {"lines": 0, "lines_refused": 0, "lines_sent_again": 0, "lines_lost": 0}
        self.failures = []

    def run(self):
        while not self.stop.is_set():
            line = scheduled(f"{self.run_id}-line-{self.counts['lines']}")
            self.counts["lines"] += 1
            for _ in range(TRIES):
                if self.attempt(line):
                    break
                self.counts["lines_sent_again"] += 1
                time.sleep(0.05)
            else:
                self.counts["lines_lost"] += 1
            time.sleep(PAUSE)

    def attempt(self, line):
        try:
            answer = self.client.send(line)
        except OSError as error:
            self.counts["lines_refused"] += 1
            self.failures.append(f"a line: {error!r}")
            return False
        if answer and not answer.startswith("ok "):
            self.failures.append(answer)
        return answer.startswith("ok ")


class Writer(threading.Thread):
    """Writes to the followed file."""

    def __init__(self, run, path, stop):
        super().__init__()
        self.run_id, self.path, self.stop = run, path, stop
        self.counts, self.failures = {"written": 0}, []

    def run(self):
        with open(self.path, "a", buffering=1) as file:
            while not self.stop.is_set():
                file.write(scheduled(f"{self.run_id}-file-{self.counts['written']}") + "\n")
                self.counts["written"] += 1
                time.sleep(PAUSE)


def scheduled(name):
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return json.dumps({"event": "prefetch_scheduled", "timestamp": stamp, "scheduleId": name})


def main():
    run, path, file = sys.argv[1:]
    stop = threading.Event()
    clients = [Client(number, number % 2 == 1, run, stop) for number in range(4)]
    senders = [*clients, Lines(run, path, stop), Writer(run, file, stop)]
    for sender in senders:
        sender.start()
    sys.stdin.read()
    stop.set()
    for sender in senders:
        sender.join()
    total = {}
    for sender in senders:
        for name, count in sender.counts.items():
            total[name] = total.get(name, 0) + count
    total["longest_seconds"] = round(max(client.longest for client in clients), 3)
    total["failures"] = [failure for sender in senders for failure in sender.failures]
    print(json.dumps(total))


if __name__ == "__main__":
    main()
