// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A relay that scrapes a service with an Accept header of its own, for a client that cannot be told what to ask for.
enum ScrapeRelay {
    private static let script = """
        import sys, http.server, urllib.request
        port, accept = sys.argv[2], sys.argv[3]
        class Relay(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                request = urllib.request.Request(f"http://127.0.0.1:{port}{self.path}", headers={"Accept": accept})
                with urllib.request.urlopen(request) as answer:
                    body = answer.read()
                    self.send_response(answer.status)
                    self.send_header("Content-Type", answer.headers["Content-Type"])
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
        http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Relay).serve_forever()
        """

    /// Runs a relay to a port, and gives its own.
    static func with<Value>(to port: Int, accept: String, _ body: (Int) async throws -> Value) async throws -> Value {
        try MissingDependency.require(executable: "/usr/bin/python3", package: "python3")
        return try await withTemporaryDirectory { directory in
            let own = try FreePort.any()
            let process = try ChildProcess(
                ["/usr/bin/python3", "-c", script, "\(own)", "\(port)", accept],
                logs: directory,
                name: "relay"
            )
            do {
                let client = TelemetryClient(port: own)
                try await eventually("the relay answers: \(process.errorText)") {
                    (try? await client.get("/metrics", within: .seconds(5)))?.status == 200
                }
                let value = try await body(own)
                await process.killAndWait()
                return value
            } catch {
                await process.killAndWait()
                throw error
            }
        }
    }
}
