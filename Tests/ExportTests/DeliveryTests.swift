// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Export

@Suite("what a receiver's answer means")
struct ExportOutcomeTests {
    static let now: Int64 = 1_763_185_000

    private func isRetried(_ outcome: ExportOutcome) -> Bool {
        if case .again = outcome { true } else { false }
    }

    @Test("OTLP retries 429, 502, 503 and 504 and nothing else", arguments: Array(300...599))
    func retriedStatusesOfOTLP(status: Int) {
        let outcome = ExportOutcome.otlp(ExportAnswer(status: status), now: Self.now)
        #expect(isRetried(outcome) == [429, 502, 503, 504].contains(status))
        if case .taken = outcome { Issue.record("\(status) counts as taken") }
    }

    @Test("remote write retries 429 and 5xx and nothing else", arguments: Array(300...599))
    func retriedStatusesOfRemoteWrite(status: Int) {
        for version in RemoteWrite.Version.allCases {
            let outcome = ExportOutcome.remoteWrite(ExportAnswer(status: status), version, samples: 1, now: Self.now)
            #expect(isRetried(outcome) == (status == 429 || status >= 500))
            if case .taken = outcome { Issue.record("\(status) counts as taken") }
        }
    }

    @Test("Retry-After is read as seconds and as a date, and what is neither is ignored")
    func retryAfter() {
        let cases: [(String, Duration?)] = [
            ("7", .seconds(7)), (" 12 ", .seconds(12)), ("99999999999999999999", .seconds(600)),
            ("4000", .seconds(600)),
            ("Sat, 15 Nov 2025 05:36:50 GMT", .seconds(10)), ("Sat, 15 Nov 2025 05:36:30 GMT", .zero),
            ("soon", nil), ("-1", nil), ("", nil),
        ]
        for (text, expected) in cases {
            let answer = ExportAnswer(status: 503, headers: ["retry-after": text])
            guard case .again(_, let after) = ExportOutcome.otlp(answer, now: Self.now) else {
                Issue.record("503 is not retried")
                continue
            }
            #expect(after == expected, "\(text)")
        }
    }

    @Test("a partial success is final, and what it refused is counted, in protobuf and JSON")
    func partialSuccess() {
        let message = Array("too old".utf8)
        let protobuf: [UInt8] = [0x0A, 0x0B, 0x08, 0x05, 0x12, 0x07] + message
        #expect(
            ExportOutcome.otlp(ExportAnswer(status: 200, body: protobuf), now: Self.now)
                == .taken(refused: 5, note: "too old")
        )
        for count in ["5", "\"5\""] {
            for name in ["rejectedLogRecords", "rejectedDataPoints"] {
                let json = "{\"partialSuccess\":{\"\(name)\":\(count),\"errorMessage\":\"too old\"}}"
                let answer = ExportAnswer(
                    status: 200,
                    headers: ["content-type": "application/json; charset=utf-8"],
                    body: Array(json.utf8)
                )
                #expect(ExportOutcome.otlp(answer, now: Self.now) == .taken(refused: 5, note: "too old"))
            }
        }
    }

    @Test("a success with garbage is a success: the receiver has said so")
    func successWithGarbage() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<500 {
            let body = (0..<Int.random(in: 0..<40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
            for type in ["application/json", "application/x-protobuf", "text/html"] {
                let answer = ExportAnswer(status: 200, headers: ["content-type": type], body: body)
                guard case .taken = ExportOutcome.otlp(answer, now: Self.now) else {
                    Issue.record("refused for \(body)")
                    return
                }
            }
        }
    }

    @Test("2.0 without the written counts, and a 415, mean that the receiver speaks 1.0")
    func fallback() {
        let written = [
            "x-prometheus-remote-write-samples-written": "4", "x-prometheus-remote-write-histograms-written": "1",
        ]
        func outcome(_ answer: ExportAnswer, _ version: RemoteWrite.Version = .v2) -> ExportOutcome {
            .remoteWrite(answer, version, samples: 5, now: Self.now)
        }
        func fallsBack(_ outcome: ExportOutcome) -> Bool { if case .otherVersion = outcome { true } else { false } }
        #expect(fallsBack(outcome(ExportAnswer(status: 204))))
        #expect(fallsBack(outcome(ExportAnswer(status: 415))))
        #expect(!fallsBack(outcome(ExportAnswer(status: 415), .v1)))
        #expect(outcome(ExportAnswer(status: 204), .v1) == .taken(refused: 0, note: ""))
        #expect(outcome(ExportAnswer(status: 204, headers: written)) == .taken(refused: 0, note: ""))
        let fewer = ["x-prometheus-remote-write-samples-written": "3"]
        let note = "it says that it wrote 3 of 5"
        #expect(outcome(ExportAnswer(status: 204, headers: fewer)) == .taken(refused: 2, note: note))
    }

    @Test(
        "whatever a receiver says that it has written is a number of what was sent",
        arguments: ["9223372036854775807", "-9223372036854775808", "99999999999999999999", "five", ""]
    )
    func anyWrittenCount(text: String) {
        let headers = [
            "x-prometheus-remote-write-samples-written": text, "x-prometheus-remote-write-histograms-written": "1",
        ]
        let answer = ExportAnswer(status: 204, headers: headers)
        guard case .taken(let refused, _) = ExportOutcome.remoteWrite(answer, .v2, samples: 5, now: Self.now) else {
            Issue.record("\(text) is no success")
            return
        }
        #expect(refused <= 5)
    }

    @Test("of what a receiver says a line of 300 characters is kept")
    func longTexts() {
        let text = String(repeating: "x", count: 1 << 20) + "\nmore"
        let json = "{\"partialSuccess\":{\"rejectedLogRecords\":1,\"errorMessage\":\"\(text.prefix(1 << 20))\"}}"
        let answer = ExportAnswer(status: 200, headers: ["content-type": "application/json"], body: Array(json.utf8))
        guard case .taken(1, let note) = ExportOutcome.otlp(answer, now: Self.now) else {
            Issue.record("it is no partial success")
            return
        }
        #expect(note.count == 300)
    }
}

@Suite("when a destination gets the next request")
struct DeliveryStateTests {
    @Test("failures back off up to a limit with jitter, and a success ends that")
    func backsOff() {
        var random = SplitMix64(seed: 1)
        var state = DeliveryState(maximum: 1_000)
        var ceiling = Duration.milliseconds(500)
        var pauses: Set<Duration> = []
        for _ in 0..<40 {
            #expect(
                state.answered(.again("down", after: nil), count: 9, size: 1_000, now: .seconds(5), using: &random)
                    == .again
            )
            let pause = state.earliest - .seconds(5)
            #expect(pause >= .zero && pause <= ceiling)
            pauses.insert(pause)
            ceiling = min(ceiling * 2, .seconds(30))
        }
        #expect(pauses.count > 35 && pauses.contains { $0 > .seconds(15) })
        #expect(!state.isUp)
        let decision = state.answered(
            .taken(refused: 0, note: ""),
            count: 9,
            size: 1_000,
            now: .seconds(6),
            using: &random
        )
        #expect(decision == .proceed(refused: 0))
        #expect(state.isUp && state.failures == 0 && state.earliest == .seconds(6))
    }

    @Test("a pause is never shorter than the receiver asks for")
    func retryAfterIsKept() {
        var random = SplitMix64(seed: 2)
        var state = DeliveryState(maximum: 1_000)
        for _ in 0..<20 {
            _ = state.answered(
                .again("busy", after: .seconds(90)),
                count: 1,
                size: 1_000,
                now: .seconds(1),
                using: &random
            )
            #expect(state.earliest >= .seconds(91))
        }
    }

    @Test("a request that is far below the limit and still too large is halved itself")
    func smallRequestIsHalved() {
        var random = SplitMix64(seed: 3)
        var state = DeliveryState(maximum: 1_000_000)
        #expect(state.answered(.tooLarge("413"), count: 8, size: 600, now: .zero, using: &random) == .less)
        #expect(state.limit == 300)
    }

    @Test("what is too large is halved down to one record, which is refused, and the limit grows again")
    func tooLargeIsHalved() {
        var random = SplitMix64(seed: 3)
        var state = DeliveryState(maximum: 1_000)
        #expect(state.answered(.tooLarge("413"), count: 8, size: 1_000, now: .zero, using: &random) == .less)
        #expect(state.limit == 500)
        for _ in 0..<20 { _ = state.answered(.tooLarge("413"), count: 2, size: 1_000, now: .zero, using: &random) }
        #expect(state.limit == 1)
        #expect(
            state.answered(.tooLarge("413"), count: 1, size: 1_000, now: .zero, using: &random) == .proceed(refused: 1)
        )
        for _ in 0..<20 {
            _ = state.answered(.taken(refused: 0, note: ""), count: 1, size: 1_000, now: .zero, using: &random)
        }
        #expect(state.limit == 1_000)
    }

    @Test("a refusal is final and counts every record of the request")
    func refusalsAreFinal() {
        var random = SplitMix64(seed: 4)
        var state = DeliveryState(maximum: 1_000)
        #expect(
            state.answered(.refused("HTTP 400"), count: 7, size: 1_000, now: .zero, using: &random)
                == .proceed(refused: 7)
        )
        #expect(state.complaint == "HTTP 400")
        let partial = state.answered(.taken(refused: 99, note: "n"), count: 7, size: 1_000, now: .zero, using: &random)
        #expect(partial == .proceed(refused: 7))
    }
}

@Suite("addresses and headers of destinations")
struct ExportEndpointTests {
    @Test("an address is read with its port, path and query, and its description hides the query")
    func addresses() throws {
        let endpoint = try #require(ExportEndpoint("https://db.example/write?db=a&p=secret"))
        #expect(endpoint.isEncrypted && endpoint.host == "db.example" && endpoint.port == 443)
        #expect(endpoint.path == "/write?db=a&p=secret")
        #expect(endpoint.description == "https://db.example/write")
        let base = try #require(ExportEndpoint("http://[::1]:4318/base/"))
        #expect(base.host == "::1" && base.port == 4318 && base.serverName == nil && base.hostOfAuthority == "[::1]")
        #expect(base.appending("/v1/logs").path == "/base/v1/logs")
        #expect(
            try #require(ExportEndpoint("http://a:1")).appending("/v1/metrics").description == "http://a:1/v1/metrics"
        )
    }

    @Test(
        "what is no address, or shows a password, is refused",
        arguments: [
            "http://a%0d%0aX:1", "http://a%20b", "", "db.example:9090", "ftp://a", "http://", "http://u:p@a",
            "http://a#b", "http://a:0", "http://a:70000",
        ]
    )
    func refusedAddresses(text: String) {
        #expect(ExportEndpoint(text) == nil)
    }

    @Test("headers are a name and a value a line; a line break or a control character is never part of one")
    func headers() {
        let read = ExportHeaders.parse(Array("Authorization: Bearer a b\r\nX-Scope-OrgID:7 \n\n".utf8))
        #expect(read?.map(\.name) == ["Authorization", "X-Scope-OrgID"])
        #expect(read?.map(\.value) == ["Bearer a b", "7"])
        for text in ["no colon", "bad name: x", ": x", "a: \u{1}", "a: b\rX: c"] {
            #expect(ExportHeaders.parse(Array(text.utf8)) == nil)
        }
    }
}
