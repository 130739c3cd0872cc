// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import Testing

@Suite("The documented vocabulary matches the code")
struct DocumentedVocabularyTests {
    let page: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        page = try String(contentsOf: root.appending(path: "docs/events.md"), encoding: .utf8)
    }

    /// The cells of every table row that begins with a name in backticks.
    func rows(under heading: String) -> [[String]] {
        guard let section = page.components(separatedBy: "\n## ").first(where: { $0.hasPrefix(heading) }) else {
            return []
        }
        return section.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.dropFirst().split(separator: "|", omittingEmptySubsequences: false).dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test("the documented event fields match the decoder's names and expectations")
    func documentedFieldsMatchTheDecoder() {
        let documented = Set(rows(under: "Fields").map { $0.joined(separator: " | ") })
        for field in EventField.allCases where field != .events && field != .sentAt {
            let others = field.names.dropFirst().map { "`\($0)`" }.joined(separator: ", ")
            let row = ["`\(field.name)`", others, "\(field.expectation)"].joined(separator: " | ")
            #expect(documented.contains(row), "missing: \(row)")
        }
        #expect(documented.count == EventField.allCases.count - 2)
    }

    @Test("every event kind is documented")
    func everyKindIsDocumented() {
        for kind in EventKind.allCases { #expect(page.contains("`\(kind.name)`")) }
    }
}

@Suite("Failure reasons")
struct FailureReasonTests {
    @Test(
        "a failure reason comes from the reason given, else the status, else the error",
        arguments: [
            (#""reason":"NETWORK","status":401"#, "NETWORK"), (#""reason":"auth""#, "AUTH"),
            (#""reason":"weird","status":403"#, "AUTH"), (#""status":0"#, "NETWORK"), (#""status":408"#, "NETWORK"),
            (#""status":429"#, "NETWORK"), (#""status":503"#, "NETWORK"), (#""status":401"#, "AUTH"),
            (#""error":"NetworkError""#, "NETWORK"), (#""error":"AuthError""#, "AUTH"),
            (#""error":"Error Domain=NSURLErrorDomain Code=-1001""#, "NETWORK"),
            (#""error":"Error Domain=BGTaskSchedulerErrorDomain Code=1""#, "SYSTEM"),
            (#""error":"notPermitted""#, "SYSTEM"),
            (#""error":"Storage unavailable""#, "SYSTEM"), (#""error":"JWT expired""#, "AUTH"),
            (#""reason":"JWT expired""#, "AUTH"), (#""reason":"because","error":"NetworkError""#, "NETWORK"),
            (#""error":"Task expired""#, "SYSTEM"), (#""reason":"weird""#, "OTHER"), (#""error":"gremlins""#, "OTHER"),
        ]
    )
    func failureReasonIsDerived(members: String, expected: String) throws {
        let line = #"{"event":"prefetch_failure","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z",\#(members)}"#
        let lines = try canonical(decode(line))
        #expect(lines.count == 1)
        #expect(lines[0].contains(#""reason":"\#(expected)""#))
    }

    /// Words of errors, and the reasons that they imply.
    static let errors: [([String], String)] = [
        (
            [
                "TokenExpired", "TokenExpiredError", "ExpiredToken", "ExpiredTokenException", "token_expired",
                "The token has expired", "InvalidToken", "invalid_token", "TokenInvalid", "the token is invalid",
                "HTTP 401", "HTTP_403", "status 401", "Request failed with status code 401",
            ], "AUTH"
        ),
        (
            [
                "HTTP 503", "HTTP_503", "HTTP 429", "HTTP status 502", "HTTP/1.1 503", "HTTP/2 500", "HTTP 0",
                "HTTPError 503: Service Unavailable", "HTTP error! status: 503", "HttpException: HTTP 408",
                "TLSError", "CertificateError", "certificate has expired", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH",
                "EPIPE", "ENOTCONN", "EADDRNOTAVAIL", "getaddrinfo ENOTFOUND", "EAI_AGAIN",
                "java.net.NoRouteToHostException",
                "java.net.MalformedURLException", "java.net.ProtocolException",
            ], "NETWORK"
        ),
        (["Task expired", "Storage unavailable", "SQLITE_FULL"], "SYSTEM"),
        (
            [
                "HTTP 404", "HTTP/1.1 404", "HTTP 200", "HTTP 5030", "HTTP 500ms", "http://127.0.0.1:503/x", "HTTP",
                "exit status 137", "OSStatus 503", "status", "Invalid or unexpected token", "details",
            ], "OTHER"
        ),
    ]

    @Test("the words of an error imply its reason, as error and as reason, in JSON and in a line", arguments: errors)
    func wordsOfErrorsImplyReasons(words: [String], reason: String) throws {
        for text in words {
            for field in ["error", "reason"] {
                let event =
                    #"{"event":"prefetch_failure","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z","\#(field)":"\#(text)"}"#
                let line = "2025-11-15T05:48:32Z [DNP-FETCH] Fetch failed (\(field)=\(text), willRetry=false)"
                let decoded = try canonical(decode(event)) + LogReading(line).events
                // A line that tells no reason counts as OTHER, but leaves it open for the lines behind it.
                let reasons = decoded.map { LogReading.value(of: "reason", in: $0) ?? "OTHER" }
                #expect(reasons == [reason, reason], "\(field)=\(text)")
            }
        }
    }

    @Test("a failure without any hint has no reason")
    func failureWithoutHintHasNoReason() throws {
        let line = #"{"event":"prefetch_failure","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#
        #expect(try canonical(decode(line)) == [line])
    }
}
