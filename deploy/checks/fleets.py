# SPDX-License-Identifier: Apache-2.0
"""Runs deploy/fleet on free ports: three collectors, HAProxy, Prometheus and VictoriaMetrics."""

import http.client
import pathlib
import re
import shutil
import signal
import socket
import subprocess

from processes import Failure, Process, Prometheus, Service, answers, fetch, free_port, until

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "deploy" / "fleet"
NAMES = ("collector-1", "collector-2", "collector-3")


class VictoriaMetrics(Prometheus):
    """A VictoriaMetrics that receives Prometheus's remote write, and has the same query API."""

    def __init__(self, directory):
        address = f"127.0.0.1:{free_port()}"
        self.base = f"http://{address}"
        self.process = Process(
            [
                shutil.which("victoria-metrics") or "victoria-metrics",
                f"-storageDataPath={directory / 'victoria-metrics'}",
                f"-httpListenAddr={address}",
                "-retentionPeriod=100y",
                "-search.latencyOffset=1s",
            ],
            directory / "victoria-metrics.log",
        )
        until("VictoriaMetrics is ready", lambda: self.process.output() is not None and answers(f"{self.base}/health"))


class Fleet:
    """The fleet, with the shipped files except for addresses and, if `interval` is set, intervals."""

    def __init__(self, binary, directory, interval=None):
        self.directory, self.interval = directory, interval
        self.collectors = {name: Service(binary, directory / name, "--journal", "off") for name in NAMES}
        self.port = free_port()
        self.stats_port = free_port()
        self.proxy = self.victoria = self.prometheus = None

    @property
    def events(self):
        return f"http://127.0.0.1:{self.port}/v1/events"

    def start(self):
        first, *others = self.collectors.values()
        first.start()
        # All collectors share one key, so DNP_INSTALLATION and DNP_CYCLE are the same on each.
        for other in others:
            (other.directory / "state").mkdir(mode=0o700)
            shutil.copy2(first.directory / "state" / "installation.key", other.directory / "state")
            other.start()
        self.victoria = VictoriaMetrics(self.directory)
        self.configure()
        configuration = self.directory / "haproxy" / "haproxy.cfg"
        haproxy = shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin:/usr/bin") or "haproxy"
        self.proxy = Process([haproxy, "-W", "-db", "-f", configuration], self.directory / "haproxy.log")
        until(
            "HAProxy is ready",
            lambda: self.proxy.output() is not None and answers(f"http://127.0.0.1:{self.port}/-/healthy"),
        )
        self.wait_until_ready(NAMES)
        self.prometheus = Prometheus(self.directory / "prometheus" / "prometheus.yml", self.directory)

    def stop(self):
        started = [self.prometheus, self.victoria, *self.collectors.values()]
        processes = [one.process for one in started if one and one.process]
        for process in [self.proxy, *processes] if self.proxy else processes:
            process.end()

    def configure(self):
        """Writes the configurations of the proxy and Prometheus with the current addresses."""
        addresses = {f"127.0.0.1:{10911 + at}": one.instance for at, one in enumerate(self.collectors.values())}
        addresses |= {"127.0.0.1:10910": f"127.0.0.1:{self.port}", "127.0.0.1:8405": f"127.0.0.1:{self.stats_port}"}
        addresses |= {"127.0.0.1:8428": self.victoria.base.removeprefix("http://")}
        proxy, scraper = self.directory / "haproxy", self.directory / "prometheus"
        (scraper / "rules").mkdir(parents=True, exist_ok=True)
        proxy.mkdir(exist_ok=True)
        text = with_addresses((SHIPPED / "haproxy.cfg").read_text(), addresses)
        # These need root.
        (proxy / "haproxy.cfg").write_text(re.sub(r"(?m)^ +(user|group|chroot) .*\n", "", text))
        shutil.copy(SHIPPED / "slots.map", proxy)
        text = with_addresses((SHIPPED / "prometheus.yml").read_text(), addresses)
        rules = [*(ROOT / "deploy" / "prometheus" / "rules").glob("*.yml"), *(SHIPPED / "rules").glob("*.yml")]
        for path in rules:
            (scraper / "rules" / path.name).write_text(self.with_interval(path.read_text()))
        (scraper / "prometheus.yml").write_text(self.with_interval(text))

    def with_interval(self, text):
        if not self.interval:
            return text
        keys = "scrape_interval|scrape_timeout|evaluation_interval|interval"
        return re.sub(rf"(?m)^( +(?:{keys})): \d+[sm]$", rf"\1: {self.interval}", text)

    def move(self, name):
        """Moves a collector to a different directory and port, as if to another machine."""
        collector = self.collectors[name]
        collector.process.end()
        moved = collector.directory.with_name(f"{name}-moved")
        collector.directory.rename(moved)
        position = collector.command.index("--state-dir") + 1
        collector.command[position], collector.directory, collector.port = moved / "state", moved, 0
        collector.start()
        self.configure()
        for process, number in ((self.proxy, signal.SIGUSR2), (self.prometheus.process, signal.SIGHUP)):
            process.child.send_signal(number)
        self.wait_until_ready([name])

    def wait_until_ready(self, names):
        """Waits until the proxy considers these collectors ready."""
        wanted = {f'haproxy_backend_active_servers{{proxy="{name}"}} 1' for name in names}
        base = f"http://127.0.0.1:{self.stats_port}"

        def seen():
            # During a reload the old or the new worker may answer.
            return answers(f"{base}/metrics") and wanted <= set(fetch(f"{base}/metrics").splitlines())

        until(f"the proxy considers {', '.join(names)} ready", seen)

    def post(self, body, headers):
        """Posts once; returns status, headers and body of the response, status 0 if there was none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("POST", "/v1/events", body, {"Content-Type": "application/json", **headers})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, {}, b""
        finally:
            connection.close()


def with_addresses(text, addresses):
    """Replaces addresses in a text, which must contain those of the collectors."""
    collectors = [address for address in addresses if re.search(r":1091[123]$", address)]
    missing = [address for address in collectors if address not in text]
    if missing:
        raise Failure(f"a shipped file lacks the addresses {missing}")
    return re.sub("|".join(map(re.escape, addresses)), lambda found: addresses[found.group()], text)
