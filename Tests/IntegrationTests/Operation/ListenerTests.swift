// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("listeners")
struct ListenerTests {
    private let batch = EventFactory(prefix: "listener").cycles(0..<20)

    private func post(_ body: [UInt8]) -> String {
        let text = String(decoding: body, as: UTF8.self)
        return "POST /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\n"
            + "Content-Length: \(body.count)\r\n\r\n\(text)"
    }

    @Test("a Unix socket has its mode and group, accepts events, and its file is removed with the service")
    func unixSocketListener() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/in.sock"
            let options = ["--listen", "unix:\(path) mode=0620 group=root serve=ingest"]
            try await withService(options: options) { service in
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o620)
                #expect(attributes[.groupOwnerAccountName] as? String == "root")
                #expect(await service.log.contains("post     unix:\(path) /v1/events"))
                let client = try RawConnection(path: path)
                client.send(post(batch.ndjson))
                let answer = try await client.receive { _ in false }
                #expect(answer.contains("\"accepted\":\(batch.count)"), "\(answer)")
                #expect(status(of: try await RawConnection(path: path).ask("/metrics")) == 404)
                #expect(status(of: try await RawConnection(path: path).ask("/-/ready")) == 200)
                #expect(try await service.client.metrics().lifecycle == batch.totals.series)
                #expect(try await service.terminate() == .code(0))
                #expect(!FileManager.default.fileExists(atPath: path))
            }
        }
    }

    @Test("the socket of a killed service is taken over; that of a running one is one clear error")
    func staleUnixSocket() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/in.sock"
            let options = ["--listen", "unix:\(path)"]
            try await withService(options: options) { service in
                await service.kill()
                #expect(FileManager.default.fileExists(atPath: path))
                try await service.start()
                #expect(status(of: try await RawConnection(path: path).ask("/-/ready")) == 200)

                let second = Service(
                    Service.Settings(stateDirectory: "\(directory)/other", options: options),
                    logs: directory
                )
                let process = try await second.launch()
                #expect(try await process.waitForExit() == .code(1))
                #expect(
                    process.errorText
                        == "Error: cannot listen on unix:\(path): another process does; "
                        + "stop it or choose another --listen\n"
                )
                #expect(status(of: try await RawConnection(path: path).ask("/-/ready")) == 200)
            }
        }
    }

    @Test("two listeners have two roles, and both tell whether the service is ready")
    func listenerRoles() async throws {
        let (ingest, metrics) = (try FreePort.any(), try FreePort.any())
        let options = ["--listen", "127.0.0.1:\(metrics) serve=metrics"]
        try await withService(listen: "127.0.0.1:\(ingest) serve=ingest", port: ingest, options: options) {
            service in
            let scraping = TelemetryClient(port: metrics)
            #expect(try await service.client.post(batch.ndjson).receipt().accepted == batch.count)
            #expect(try await service.client.get("/metrics").status == 404)
            #expect(try await scraping.metrics().lifecycle == batch.totals.series)
            let refused = try await scraping.post(batch.ndjson)
            #expect(refused.status == 404)
            #expect(try refused.problem().detail == "Expected /metrics, /-/healthy or /-/ready.")
            #expect(try await scraping.get("/-/ready").status == 200)
        }
    }

    @Test("an inherited socket outlives the service: no connection is refused and no event lost")
    func inheritedListener() async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.any()
            try await withService(
                listen: "systemd:http",
                port: port,
                wrapper: try SocketUnit.wrapper(["http": "\(port)"], in: directory)
            ) { service in
                let client = TelemetryClient(port: port)
                let stop = StopSignal()
                async let first = Sender(client: client, name: "over-a", usesKeys: true, seed: 21).run(until: stop)
                async let second = Sender(client: client, name: "over-b", usesKeys: true, seed: 22).run(until: stop)
                for round in 1...3 {
                    let before = try await client.metrics().sum("dnp_telemetry_events_accepted_total")
                    try await eventually("the load of round \(round) arrives") {
                        try await client.metrics().sum("dnp_telemetry_events_accepted_total") >= before + 300
                    }
                    let process = try await client.metrics().sum("process_start_time_seconds")
                    await service.signal(SIGTERM)
                    try await eventually("another process answers") {
                        try await client.metrics().sum("process_start_time_seconds") != process
                    }
                }
                stop.set()
                let delivery = try await first + second
                #expect(delivery.retries == 0, "each request is answered, over every change of the process")
                expectCounted(delivery, on: try await client.metrics())
                try Data().write(to: URL(fileURLWithPath: "\(directory)/stop"))
                #expect(try await service.terminate() == .code(0))
            }
        }
    }

    @Test("an unknown name of an inherited socket is one clear error that lists the known names")
    func inheritedListenerName() async throws {
        try await withTemporaryDirectory { directory in
            let wrapper = try SocketUnit.wrapper(["http": "\(directory)/x.sock"], in: directory)
            let service = Service(
                Service.Settings(stateDirectory: "\(directory)/state", listen: "systemd:web", wrapper: wrapper),
                logs: directory
            )
            let process = try await service.launch()
            #expect(try await process.waitForExit() == .code(1))
            #expect(
                process.errorText
                    == "Error: cannot listen on systemd:web: no socket of the name \"web\" was handed over, but http; "
                    + "name it by FileDescriptorName=\n"
            )
        }
    }
}

/// A stand-in for a socket unit of systemd: it binds once and passes the sockets to each service that it starts, one after
/// the other. Files in its directory control it: "hold" delays the next start, "stop" prevents further ones, and
/// "break-NAME" shuts the listener of that name down.
enum SocketUnit {
    /// The arguments in front of the service's own.
    ///
    /// - Parameters:
    ///   - sockets: ports of 127.0.0.1, or paths, by the names of their descriptors.
    ///   - directory: where the program and its files are.
    static func wrapper(_ sockets: [String: String], in directory: String) throws -> [String] {
        let path = "\(directory)/socket-unit.py"
        try Data(program.utf8).write(to: URL(fileURLWithPath: path))
        let places = sockets.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        return ["/usr/bin/python3", path, places, directory]
    }

    /// The service gets SIGTERM when the program does, and a new one is started at once.
    private static let program = """
        import os, signal, socket, sys, time
        places, directory, command = sys.argv[1].split(), sys.argv[2], sys.argv[3:]
        listeners = {}
        for place in places:
            name, address = place.split("=", 1)
            if address.startswith("/"):
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(address)
            else:
                listener = socket.socket()
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind(("127.0.0.1", int(address)))
            listener.listen(128)
            listeners[name] = listener
        child = 0
        def forward(number, frame):
            if child:
                os.kill(child, signal.SIGTERM)
        signal.signal(signal.SIGTERM, forward)
        def there(name):
            return os.path.exists(os.path.join(directory, name))
        def start():
            # Out of the way of the numbers that they get.
            copies = [os.dup2(one.fileno(), 100 + index) for index, one in enumerate(listeners.values())]
            for index, copy in enumerate(copies):
                os.dup2(copy, 3 + index)
                os.set_inheritable(3 + index, True)
            names = ":".join(listeners)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(copies)), LISTEN_FDNAMES=names)
            for copy in copies:
                os.close(copy)
            os.execv(command[0], command)
        status = 0
        while not there("stop"):
            while there("hold"):
                time.sleep(0.01)
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                start()
            ended = 0
            while not ended:
                time.sleep(0.01)
                for name in [name for name in listeners if there("break-" + name)]:
                    listeners.pop(name).shutdown(socket.SHUT_RDWR)
                ended, status = os.waitpid(child, os.WNOHANG)
            child = 0
            status = os.waitstatus_to_exitcode(status)
            if status:
                break
        sys.exit(status)

        """
}
