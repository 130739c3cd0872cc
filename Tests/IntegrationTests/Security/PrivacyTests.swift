// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("privacy")
struct PrivacyTests {
    private static let event = #"""
        {"event":"prefetch_failure","scheduleId":"private-1","timestamp":"2025-11-15T05:48:32Z","reason":"AUTH",
        "error":"AuthError for jane.doe@example.org, Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl",
        "deviceModel":"call +1 555 010 7788","osVersion":"jane.doe@example.org",
        "appVersion":"did:ethr:0x71c7656ec7ab88b098defb751b7401b5f6d8976f",
        "title":"Your morning summary","body":"Jane owes 12 dollars","token":"tok-4f1c9a7be2d84410",
        "telemetry":{"dnp_prefetch_failure_total":1},
        "installationId":"4E7D1F0A-installation-of-jane","platform":"ios"}
        """#.replacingOccurrences(of: "\n", with: "")

    /// Ids that clients have made of what they should not.
    private static let careless = #"""
        {"event":"prefetch_executed","scheduleId":"jane.doe@example.org","timestamp":"2025-11-15T05:48:33Z",
        "eventId":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl"}
        """#.replacingOccurrences(of: "\n", with: "")

    private static let secrets = [
        "jane.doe@example.org", "eyJhbGciOiJIUzI1NiJ9", "c2lnbmF0dXJl", "555 010 7788", "5550107788",
        "71c7656ec7ab88b098defb751b7401b5f6d8976f", "morning summary", "owes 12 dollars", "tok-4f1c9a7be2d84410",
        "4E7D1F0A-installation-of-jane",
    ]

    @Test("no personal data reaches the journal, the ledger, the page or the log")
    func nothingPersonal() async throws {
        try await TestJournald.with { journal in
            try await withService(
                journal: .journald,
                options: ["--log-level", "trace"],
                in: journal.namespace
            ) { service in
                let client = await service.client
                #expect(try await client.post(Array(Self.event.utf8)).receipt().accepted == 1)
                #expect(try await client.post(Array(Self.careless.utf8)).receipt().accepted == 1)
                let wrong = try await client.post(Array(Self.event.replacing("\"AUTH\"", with: "7").utf8))
                expectClean(wrong.body, in: "the answer to a broken event")
                try await waitUntilJournaled(service)
                expectClean(Array(try await client.metrics().text.utf8), in: "the page")
                let entries = try await journal.namespace.run(
                    ["/usr/bin/journalctl", "--quiet", "--all", "--output=export", "--no-pager"]
                )
                #expect(entries.text.contains("private-1"))
                expectClean(Array(entries.output), in: "the journal")
                await expectClean(Array(service.wholeLog.utf8), in: "the log")
                #expect(
                    await service.wholeLog.contains("sl-service=HTTPService\n"),
                    "the parts of the service are named, not dumped with all that they hold"
                )
                let state = await service.settings.stateDirectory
                await service.kill()
                for name in try FileManager.default.contentsOfDirectory(atPath: state) {
                    expectClean(Array(contents(of: "\(state)/\(name)")), in: name)
                }
            }
        }
    }

    private func expectClean(_ bytes: [UInt8], in place: String) {
        let bytes = Data(bytes)
        let found = Self.secrets.filter { bytes.range(of: Data($0.utf8)) != nil }
        #expect(found == [], "this stands in \(place)")
    }
}

@Suite("secrets")
struct SecretTests {
    /// The fields of an event that a secret is sent in, each in an event of its own.
    private static let fields = [
        "scheduleId", "eventId", "error", "reason", "appVersion", "osVersion", "platform", "deviceModel", "contentHash",
        "scheduleHash", "installationId", "title",
    ]

    private static func event(_ number: Int, _ member: String) -> String {
        #"{"event":"prefetch_failure","timestamp":"2025-11-15T05:48:32Z","scheduledFor":"2025-11-15T06:00:00Z","#
            + #""ttl":\#(number),\#(member)}"#
    }

    private static func quoted(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }

    private static func lines(_ text: String) -> [String] {
        [
            "2025-11-15T05:48:32Z [DNP-FETCH] Fetch success (id=\(text), status=200)",
            "2025-11-15T05:48:33Z [DNP-FETCH] Fetch failed: error=\(text), reason=\(text), willRetry=false",
            "11-15 05:48:34.123  1234  1235 I DNP-FETCH: Cached content MD5: \(text)",
            "<14>1 2025-11-15T05:48:35Z \(text) App 12 - - [DNP-FETCH] Cached content for scheduleId=\(text)",
            "2025-11-15T05:48:36Z [DNP-FETCH] Sang for \(text)",
            text,
        ]
    }

    /// A request with the secret in its path, its query and eight headers.
    private static func request(_ text: String, target: String, body: String = "") -> String {
        """
        POST \(target) HTTP/1.1\r
        Host: localhost\r
        Connection: close\r
        Content-Type: application/x-ndjson\r
        Idempotency-Key: \(text)\r
        Authorization: Bearer \(text)\r
        User-Agent: \(text)\r
        X-Request-Id: \(text)\r
        X-Installation-Id: \(text)\r
        X-Source-Id: \(text)\r
        Cookie: session=\(text)\r
        Referer: https://example.org/\(text)\r
        Content-Length: \(body.utf8.count)\r
        \r
        \(body)
        """
    }

    @Test(
        "none of 300 secrets in 24 fields, lines, broken bodies, headers and URLs is in ledger, journal, page, log or answers",
        .timeLimit(.minutes(5))
    )
    func noSecretIsKept() async throws {
        try await TestJournald.with { journal in
            try await withTemporaryDirectory { directory in
                let socket = "\(directory)/lines.sock"
                try await withService(
                    journal: .journald,
                    options: ["--log-level", "trace", "--listen", "unix:\(socket) serve=lines"],
                    in: journal.namespace
                ) { service in
                    for (number, secret) in SecretCorpus.all.enumerated() {
                        try await send(secret, number, to: service)
                    }
                    let answers = try await sendLines(to: socket)
                    try await waitUntilJournaled(service, within: .seconds(120))
                    let client = await service.client
                    let openMetrics = [("Accept", "application/openmetrics-text; version=1.0.0")]
                    try expectNone(
                        [
                            ("the line socket's answers", Data(answers.utf8)),
                            ("the page", Data(try await client.metrics().text.utf8)),
                            ("the page with exemplars", Data(try await client.scrape(openMetrics).body)),
                            ("the journal", Data(try await exported(journal))),
                            ("the log", Data(await service.wholeLog.utf8)),
                        ]
                    )
                    let page = try await client.metrics()
                    for field in ["scheduleId", "eventId", "error", "appVersion", "deviceModel", "contentHash"] {
                        #expect(page.value("dnp_telemetry_altered_texts_total", ["field": field]) ?? 0 > 20, "\(field)")
                    }
                    let state = await service.settings.stateDirectory
                    await service.kill()
                    for name in try FileManager.default.contentsOfDirectory(atPath: state) {
                        try expectNone([(name, try Data(contentsOf: URL(fileURLWithPath: "\(state)/\(name)")))])
                    }
                }
            }
        }
    }

    /// Sends a secret in every field of an event, in lines, in broken bodies, headers and URLs.
    private func send(_ secret: SecretCorpus.Secret, _ number: Int, to service: Service) async throws {
        let client = await service.client
        let text = try Self.quoted(secret.text)
        let events = Self.fields.map { Self.event(number, "\"\($0)\":\(text)") }
        let broken = ["{\"event\":\(text)}", text, "{\(text):", Self.event(number, #""ttl":\#(text)"#), secret.text]
        var answers = [
            try await client.post(Array((events + broken).joined(separator: "\n").utf8)).body,
            try await client.post(Array(Self.lines(secret.text).joined(separator: "\n").utf8), type: "text/plain").body,
        ]
        let encoded = secret.text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        for target in [
            "/v1/events?access_token=\(encoded)", "/v1/events?\(secret.text)", "/\(encoded)", "/\(secret.text)",
            "/metrics?name[]=\(encoded)",
        ] {
            let connection = try RawConnection(port: client.port)
            connection.send(Self.request(secret.text, target: target, body: Self.event(number, #""eventId":\#(text)"#)))
            answers.append(Array(try await connection.receive { _ in false }.utf8))
        }
        for answer in answers {
            #expect(!secret.isFound(in: Data(answer)), "\(secret) stands in \(String(decoding: answer, as: UTF8.self))")
        }
    }

    /// Sends all secrets as lines of a socket, and returns its answers.
    private func sendLines(to socket: String) async throws -> String {
        let client = try LinesClient(path: socket)
        let text = try SecretCorpus.all.flatMap { secret in
            let quoted = try Self.quoted(secret.text)
            return Self.lines(secret.text) + [Self.event(1, #""eventId":\#(quoted)"#)]
        }
        try await client.sendAll(text.joined(separator: "\n") + "\n")
        client.finish()
        try await client.waitUntilClosed()
        return client.answers.joined(separator: "\n")
    }

    private func exported(_ journal: TestJournald) async throws -> Data {
        let entries = try await journal.namespace.run(
            ["/usr/bin/journalctl", "--quiet", "--all", "--output=export", "--no-pager"]
        )
        #expect(entries.text.contains("DNP_SCHEDULE_ID=redacted-h"))
        return Data(entries.output)
    }

    private func expectNone(_ places: [(String, Data)]) throws {
        for (place, bytes) in places {
            let found = try SecretCorpus.found(in: bytes)
            #expect(found.isEmpty, "\(found.count) secrets stand in \(place), first \(found.sorted().prefix(3))")
        }
    }
}
