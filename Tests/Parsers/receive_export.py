# SPDX-License-Identifier: Apache-2.0
"""A receiver of OTLP and remote write that reads with the official definitions and keeps what it took.

usage: receive_export.py PORT DIRECTORY [CERTIFICATE KEY AUTHORITIES]

With a certificate it speaks TLS, and wants a client certificate of the authorities.

What it took is in the directory before it answers, a line of JSON each, so that it can be killed at any moment:

    logs      identity, event, body, time, observed, severity and attributes of each log record
    metrics   the last request of metrics
    starts    each series of a request of metrics with its start time
    writes    version, timestamps and series of each request of remote write
    requests  path, headers, size, digest and answer of each request

The file `mode` in the directory says how to answer: a status, `partial`, `old` (a receiver of remote write 1.0 that
refuses 2.0), or one of the hostile ways below. Each request reads it again. Remote write 2.0 is answered with what was
written, but not where the mode is 204. Prints a line when it listens.
"""

import gzip
import hashlib
import json
import os
import ssl
import struct
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import cramjam
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest, ExportLogsServiceResponse)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest, ExportMetricsServiceResponse)
from read_export import VERSIONS, message_class, read_strictly

PORT, DIRECTORY = int(sys.argv[1]), Path(sys.argv[2])
LARGEST = 64 << 20


def keep(name, lines):
    """Appends in one write, so that a kill leaves whole lines but for the last."""
    with open(DIRECTORY / name, "ab", buffering=0) as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines).encode())


def attributes(pairs):
    return {pair.key: pair.value.string_value or [each.string_value for each in pair.value.array_value.values]
            for pair in pairs}


def keep_logs(request):
    lines = []
    for resource in request.resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                named = attributes(record.attributes)
                lines.append({
                    "identity": named.pop("log.record.uid"), "event": record.event_name, "body": record.body.string_value,
                    "time": record.time_unix_nano, "observed": record.observed_time_unix_nano,
                    "severity": record.severity_number, "attributes": named,
                })
    keep("logs", lines)
    return len(lines)


def keep_metrics(request):
    lines, count = [], 0
    for resource in request.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                data = getattr(metric, metric.WhichOneof("data"))
                for point in data.data_points:
                    count += 1
                    if metric.HasField("gauge"):
                        continue
                    labels = sorted(attributes(point.attributes).items())
                    lines.append({"series": [metric.name, *labels], "start": point.start_time_unix_nano})
    keep("starts", lines)
    (DIRECTORY / "metrics.new").write_text(json_format.MessageToJson(request))
    os.replace(DIRECTORY / "metrics.new", DIRECTORY / "metrics")
    return count


WRITES = {number: message_class(*VERSIONS[f"remote-write-{number}"]) for number in (1, 2)}


def keep_write(version, body):
    """Returns how many samples and histograms there are, and how many exemplars."""
    request, kept, exemplars = read_strictly(WRITES[version], body), [], 0
    for series in request.timeseries:
        if version == 1:
            labels = [[label.name, label.value] for label in series.labels]
        else:
            texts = [request.symbols[place] for place in series.labels_refs]
            labels = [list(pair) for pair in zip(texts[::2], texts[1::2], strict=True)]
        exemplars += len(series.exemplars)
        for sample in [*series.samples, *series.histograms]:
            is_histogram = hasattr(sample, "schema")
            value = sample.sum if is_histogram else sample.value
            kept.append({
                "labels": labels, "value": repr(value), "bits": struct.pack(">d", value).hex(), "isHistogram": is_histogram,
                "time": sample.timestamp, "start": sample.start_timestamp if version == 2 else 0,
                "kind": series.metadata.type if version == 2 else 0,
            })
    keep("writes", [{"version": version, "series": kept}])
    return (sum(not each["isHistogram"] for each in kept), sum(each["isHistogram"] for each in kept), exemplars)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        mode = (DIRECTORY / "mode").read_text().split()
        keep("requests", [{
            "path": self.path, "size": len(body), "digest": hashlib.sha256(body).hexdigest(), "mode": mode,
            "headers": dict(self.headers.items()),
        }])
        if hostile := getattr(self, f"answer_{mode[0]}", None):
            return hostile()
        if mode[0].isdigit() and not mode[0].startswith("2"):
            headers = dict(pair.split("=", 1) for pair in mode[1:])
            return self.answer(int(mode[0]), headers, "text/plain", b"the receiver says no\n")
        self.take(body, mode)

    def take(self, body, mode):
        encoding = self.headers.get("Content-Encoding", "")
        if encoding == "gzip":
            body = gzip.decompress(body)
        elif encoding == "snappy":
            body = bytes(cramjam.snappy.decompress_raw(body))
        if len(body) > LARGEST:
            return self.answer(413, {}, "text/plain", b"too large\n")
        is_logs = self.path.endswith("/v1/logs")
        if not is_logs and not self.path.endswith("/v1/metrics"):
            return self.take_write(body, mode)
        request = ExportLogsServiceRequest() if is_logs else ExportMetricsServiceRequest()
        response = ExportLogsServiceResponse() if is_logs else ExportMetricsServiceResponse()
        is_json = self.headers["Content-Type"].startswith("application/json")
        if is_json:
            json_format.Parse(body, request)
        else:
            request.ParseFromString(body)
        count = keep_logs(request) if is_logs else keep_metrics(request)
        if mode[0] == "partial":
            name = "rejected_log_records" if is_logs else "rejected_data_points"
            setattr(response.partial_success, name, min(int(mode[1]), count))
            response.partial_success.error_message = "not all of it"
        if is_json:
            return self.answer(200, {}, "application/json", json_format.MessageToJson(response).encode())
        self.answer(200, {}, "application/x-protobuf", response.SerializeToString())

    def take_write(self, body, mode):
        version = 2 if "proto=io.prometheus.write.v2.Request" in self.headers["Content-Type"] else 1
        if version == 2 and mode[0] == "old":
            return self.answer(415, {}, "text/plain", b"expected 1.0\n")
        written = keep_write(version, body)
        if version == 1 or mode[0] == "204":
            return self.answer(204, {}, "", b"")
        names = ("Samples", "Histograms", "Exemplars")
        headers = {f"X-Prometheus-Remote-Write-{name}-Written": str(count) for name, count in zip(names, written)}
        self.answer(204, headers, "", b"")

    def answer(self, status, headers, kind, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    # The hostile ways.

    def answer_half(self):
        """Closes within the answer."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        self.close_connection = True

    def answer_silent(self):
        """Closes without an answer."""
        self.close_connection = True

    def answer_slow(self):
        """Begins an answer and never ends it."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        for _ in range(600):
            time.sleep(0.05)
            self.wfile.write(b"")
            if (DIRECTORY / "mode").read_text().split()[0] != "slow":
                break
        self.close_connection = True

    def answer_huge(self):
        """Answers without an end."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        for _ in range(1024):
            self.wfile.write(chunk)
        self.close_connection = True

    def answer_garbage(self):
        """Is no HTTP at all."""
        self.wfile.write(b"\x00\xff\x00\xffEHLO you\r\n\r\n")
        self.close_connection = True


ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer.allow_reuse_address = True
ThreadingHTTPServer.request_queue_size = 64
server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    context.load_verify_locations(sys.argv[5])
    context.verify_mode = ssl.CERT_REQUIRED
    # The handshake comes with the first read, in the thread of the connection.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print("listening", flush=True)
server.serve_forever()
