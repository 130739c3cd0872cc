// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("export over TLS and through a proxy")
struct ExportTransportTests {
    private static func retries(_ service: Service) async throws -> Double {
        let page = try await service.client.metrics()
        return page.value("dnp_telemetry_export_retries_total", ["destination": "otlp", "signal": "logs"]) ?? 0
    }

    private func post(_ service: Service) async throws {
        let batch = EventFactory(prefix: "transport").cycles(0..<10)
        #expect(try await service.client.post(batch.ndjson).receipt().accepted == batch.count)
    }

    private func withAuthority(_ body: (CertificateAuthority) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let authority = try await CertificateAuthority(in: directory)
            try await authority.sign("client", names: "DNS:client")
            try await authority.selfSign("stranger", names: "DNS:stranger")
            try await body(authority)
        }
    }

    private func attributes(_ authority: CertificateAuthority, _ client: String?, ca: String = "ca") -> String {
        let trusted = "ca=\(authority.file("\(ca).pem"))"
        guard let client else { return trusted }
        return "\(trusted) cert=\(authority.file("\(client).pem")) key=\(authority.file("\(client).key"))"
    }

    @Test("a receiver that wants a client's certificate gets it, by OTLP and remote write")
    func clientCertificate() async throws {
        try await withAuthority { authority in
            try await withExportReceiver(authority) { receiver in
                let files = attributes(authority, "client")
                let options = [
                    "--export", "otlp \(receiver.address) interval=1s \(files)",
                    "--export", "remote-write \(receiver.address)/write interval=1s \(files)",
                ]
                try await withService(options: options) { service in
                    try await post(service)
                    try await eventually("logs, metrics and writes arrive") {
                        let (records, sums, writes) = await (receiver.records, receiver.sums, receiver.writes)
                        return records.count >= 10 && !sums.isEmpty && !writes.isEmpty
                    }
                }
            }
        }
    }

    @Test(
        "without a certificate that the receiver takes, or an authority that signed its, nothing is sent and it is told",
        arguments: [(String?.none, "ca"), ("stranger", "ca"), ("client", "stranger")]
    )
    func refusedCertificates(client: String?, ca: String) async throws {
        try await withAuthority { authority in
            try await withExportReceiver(authority) { receiver in
                let files = attributes(authority, client, ca: ca)
                let options = ["--export", "otlp \(receiver.address) only=logs \(files)"]
                try await withService(options: options) { service in
                    try await post(service)
                    try await eventually("it is tried again") { try await Self.retries(service) >= 2 }
                    #expect(await receiver.requests.isEmpty)
                    #expect(await service.log.contains("a destination takes nothing: "))
                }
            }
        }
    }

    @Test("a file of TLS that cannot be used is refused at the start, by name", arguments: ["ca", "cert"])
    func unusableFiles(attribute: String) async throws {
        try await withAuthority { authority in
            let file = authority.file("none.pem")
            let key = attribute == "cert" ? " key=\(authority.file("client.key"))" : ""
            let options = ["--export", "otlp https://localhost:1 \(attribute)=\(file)\(key)"]
            await #expect {
                try await withService(options: options) { _ in }
            } throws: { error in
                guard let error = error as? Service.DidNotStart else { return false }
                return error.log.contains(file) && error.log.contains("expected a file in PEM form")
            }
        }
    }

    private func withProxy(_ body: (_ address: String, _ lines: () -> [String]) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/lines"
            let proxy = try await PythonServer.start("forward_proxy.py", [file], logs: directory, name: "proxy")
            let port = String(decoding: proxy.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            do {
                try await body("http://127.0.0.1:\(port)") { text(of: file).split(separator: "\n").map(String.init) }
            } catch {
                await proxy.killAndWait()
                throw error
            }
            await proxy.killAndWait()
        }
    }

    @Test("a proxy takes the requests of http")
    func proxyOfRequests() async throws {
        try await withExportReceiver { receiver in
            try await withProxy { proxy, lines in
                let options = ["--export", "otlp \(receiver.address) only=logs proxy=\(proxy)"]
                try await withService(options: options) { service in
                    try await post(service)
                    try await eventually("the records arrive") { await receiver.records.count >= 10 }
                    #expect(lines().contains("POST \(receiver.address)/v1/logs HTTP/1.1"))
                }
            }
        }
    }

    @Test("a proxy forwards the connection of https, and sees nothing of it")
    func proxyOfConnections() async throws {
        try await withAuthority { authority in
            try await withExportReceiver(authority) { receiver in
                try await withProxy { proxy, lines in
                    let files = attributes(authority, "client")
                    let options = ["--export", "otlp \(receiver.address) only=logs proxy=\(proxy) \(files)"]
                    try await withService(options: options) { service in
                        try await post(service)
                        try await eventually("the records arrive") { await receiver.records.count >= 10 }
                        #expect(lines().allSatisfy { $0 == "CONNECT localhost:\(receiver.port) HTTP/1.1" })
                        #expect(!lines().isEmpty)
                    }
                }
            }
        }
    }

    @Test(
        "a destination or a proxy that nothing comes from holds up no stop",
        arguments: ["http://127.0.0.1:PORT", "https://localhost:1 proxy=http://127.0.0.1:PORT"]
    )
    func silence(address: String) async throws {
        try await withTemporaryDirectory { directory in
            let listener = try await PythonServer.start("silent_listener.py", [], logs: directory, name: "silent")
            let port = String(decoding: listener.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            let options = ["--export", "otlp \(address.replacing("PORT", with: port)) timeout=5m"]
            try await withService(options: options) { service in
                try await post(service)
                #expect(try await service.terminate(within: .seconds(10)) == .code(0))
            }
            await listener.killAndWait()
        }
    }

    @Test("headers of the operator cannot change where a request ends, nor its form")
    func headersOfTransport() async throws {
        try await withExportReceiver { receiver in
            try await withTemporaryDirectory { directory in
                let file = "\(directory)/headers"
                let lines = "Content-Length: 3\nTransfer-Encoding: chunked\nContent-Type: text/plain\nX-Own: 1\n"
                try Data(lines.utf8).write(to: URL(fileURLWithPath: file))
                let options = ["--export", "otlp \(receiver.address) only=logs headers=\(file)"]
                try await withService(options: options) { service in
                    try await post(service)
                    try await eventually("the records arrive") { await receiver.records.count >= 10 }
                    let headers = try #require(await receiver.requests.first?.headers)
                    #expect(headers["X-Own"] == "1" && headers["Content-Type"] == "application/x-protobuf")
                    #expect(headers["Transfer-Encoding"] == nil)
                }
            }
        }
    }
}
