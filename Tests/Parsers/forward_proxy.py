# SPDX-License-Identifier: Apache-2.0
"""A proxy that forwards requests of HTTP and connections of `CONNECT`, and keeps the first line of each.

usage: forward_proxy.py FILE

Prints its port when it listens.
"""

import http.client
import select
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def keep(self):
        with open(sys.argv[1], "a", encoding="utf-8") as file:
            file.write(self.requestline + "\n")

    def do_CONNECT(self):
        self.keep()
        host, port = self.path.rsplit(":", 1)
        with socket.create_connection((host, int(port))) as other:
            self.send_response(200)
            self.end_headers()
            self.wfile.flush()
            ends = {self.connection: other, other: self.connection}
            while True:
                for ready in select.select(list(ends), [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        self.close_connection = True
                        return
                    ends[ready].sendall(data)

    def do_POST(self):
        self.keep()
        target = urlsplit(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        onward = http.client.HTTPConnection(target.hostname, target.port)
        onward.request("POST", target.path, body, dict(self.headers.items()))
        answer = onward.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name in ("Content-Type", "Retry-After"):
            if value := answer.getheader(name):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


ThreadingHTTPServer.daemon_threads = True
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
