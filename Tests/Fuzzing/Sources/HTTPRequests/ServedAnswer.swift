// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A final answer of the service, read by the rules of RFC 9112.
struct ServedAnswer {
    let status: Int
    let fields: [String: String]
    let body: [UInt8]

    /// The answers to requests, in their order.
    ///
    /// - Parameter methods: those of the requests, as far as they are known; of others none is HEAD.
    static func all(in bytes: [UInt8], to methods: [String]) -> [ServedAnswer] {
        var rest = bytes[...]
        var answers: [ServedAnswer] = []
        while !rest.isEmpty {
            let method = answers.count < methods.count ? methods[answers.count] : nil
            guard let answer = ServedAnswer(&rest, toHead: method == "HEAD") else {
                finding("answer \(answers.count + 1) is none", bytes)
            }
            if answer.status >= 200 { answers.append(answer) }
        }
        return answers
    }

    private init?(_ rest: inout ArraySlice<UInt8>, toHead isHead: Bool) {
        guard let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        guard let start = lines[0].wholeMatch(of: #/HTTP\/1\.1 ([1-5][0-9][0-9]) [ -~]*/#), let status = Int(start.1)
        else {
            return nil
        }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), line.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
                return nil
            }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        self.status = status
        self.fields = fields
        rest = rest[end.upperBound...]
        if isHead || status < 200 || status == 204 || status == 304 {
            body = []
        } else if fields["transfer-encoding"] == "chunked" {
            guard let body = ChunkedBody.take(from: &rest) else { return nil }
            self.body = body
        } else {
            guard let length = fields["content-length"].flatMap({ Int($0) }), length <= rest.count else { return nil }
            body = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
    }

    /// Whether it says that no other one follows.
    var isLast: Bool { fields["connection"]?.lowercased() == "close" }
}

/// What the service says of the events of a request.
struct ReportedEvents: Equatable {
    var accepted = 0
    var duplicates = 0
    var rejected = 0

    var received: Int { accepted + duplicates + rejected }

    /// Nil for an answer that speaks of no events, or of a dry run.
    init?(_ answer: ServedAnswer) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any],
            let rejections = object["rejected"] as? [Any], object["dryRun"] == nil
        else { return nil }
        accepted = object["accepted"] as? Int ?? 0
        duplicates = object["duplicates"] as? Int ?? 0
        rejected = rejections.count + (object["rejectedOmitted"] as? Int ?? 0)
    }

    init() {}

    static func += (left: inout ReportedEvents, right: ReportedEvents) {
        left.accepted += right.accepted
        left.duplicates += right.duplicates
        left.rejected += right.rejected
    }
}

/// The counters of events on the metrics page.
struct CountedEvents {
    /// Over HTTP alone, since the service itself accepts verdicts as time goes by.
    private(set) var received = 0
    private(set) var duplicates = 0
    private(set) var rejected = 0

    static let request = Array(
        ("GET /metrics?name[]=dnp_telemetry_events_received_total&name[]=dnp_telemetry_events_duplicate_total"
            + "&name[]=dnp_telemetry_events_rejected_total HTTP/1.1\r\nHost: fuzz\r\nConnection: close\r\n\r\n").utf8
    )

    init(_ page: [UInt8]) {
        for line in String(decoding: page, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Int(line[line.index(after: space)...]) else {
                finding("a sample of no form: \(line)")
            }
            switch line.prefix(while: { $0 != "{" && $0 != " " }) {
            case "dnp_telemetry_events_received_total" where line.contains(#"source="http""#): received += value
            case "dnp_telemetry_events_duplicate_total": duplicates += value
            case "dnp_telemetry_events_rejected_total": rejected += value
            default: break
            }
        }
    }
}
