// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents

/// Sends an input to the service over one connection, and says that nothing more comes.
///
/// The first byte says how it is cut: into pieces of at most two to the power of its lowest four bits.
enum HTTPRequestsTarget: FuzzTarget {
    static func check(_ input: [UInt8]) {
        guard let size = input.first else { return }
        let bytes = Array(input.dropFirst())
        let client = SocketClient(path: ServiceUnderFuzz.socket)
        let before = counted(client)
        guard let received = client.exchange(pieces(of: bytes, at: size, Choices(input))) else {
            finding("the service neither answers nor closes", bytes)
        }
        let (requests, isWhole) = PlainRequest.all(in: bytes)
        // An answer to HEAD has no body, and which one it is cannot be told among requests of another form.
        guard isWhole || !bytes.containsHead(behind: requests) else { return }
        let answers = ServedAnswer.all(in: received, to: requests.map(\.method))
        checkCount(answers, requests, isWhole: isWhole, received)
        checkEvents(answers, requests)
        checkAccounts(answers, before, counted(client), received)
    }

    private static func pieces(of bytes: [UInt8], at size: UInt8, _ choices: Choices) -> [[UInt8]] {
        var choices = choices
        var rest = bytes[...]
        var pieces: [[UInt8]] = []
        while !rest.isEmpty {
            let count = size & 15 == 15 ? rest.count : 1 + choices.next(1 << Int(size & 15))
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }

    /// Every whole request has one answer, up to one that says that it is the last.
    private static func checkCount(
        _ answers: [ServedAnswer],
        _ requests: [PlainRequest],
        isWhole: Bool,
        _ received: [UInt8]
    ) {
        if let last = answers.firstIndex(where: \.isLast), last < answers.count - 1 {
            finding("\(answers.count) answers, the last of which is number \(last + 1)", received)
        }
        let isEnded = answers.last?.isLast ?? false
        guard answers.count >= requests.count || isEnded else {
            finding("\(answers.count) answers to \(requests.count) requests", received)
        }
        guard !isWhole || answers.count <= requests.count else {
            finding("\(answers.count) answers to \(requests.count) requests", received)
        }
    }

    /// Each event of a body is accepted, known already or rejected.
    private static func checkEvents(_ answers: [ServedAnswer], _ requests: [PlainRequest]) {
        for (answer, request) in zip(answers, requests) where answer.status == 200 && request.method == "POST" {
            let framing: JSONEventDecoder.Framing
            switch request.fields["content-type"] {
            case "application/json": framing = .document
            case "application/x-ndjson": framing = .lines
            default: continue
            }
            guard let reported = ReportedEvents(answer) else { continue }
            let sent = decode(request.body, framing).received
            guard reported.received == sent else {
                finding("\(sent) events, \(reported) reported", request.body, answer.body)
            }
        }
    }

    /// What was answered is what was counted, and the other way round.
    private static func checkAccounts(
        _ answers: [ServedAnswer],
        _ before: CountedEvents,
        _ after: CountedEvents,
        _ received: [UInt8]
    ) {
        var reported = ReportedEvents()
        for answer in answers { reported += ReportedEvents(answer) ?? ReportedEvents() }
        guard after.received - before.received == reported.received,
            after.duplicates - before.duplicates == reported.duplicates,
            after.rejected - before.rejected == reported.rejected
        else { finding("\(reported) reported; counted before \(before), after \(after)", received) }
    }

    private static func counted(_ client: SocketClient) -> CountedEvents {
        guard let received = client.exchange([CountedEvents.request]),
            let answer = ServedAnswer.all(in: received, to: ["GET"]).first, answer.status == 200
        else { finding("the metrics are not served any more") }
        return CountedEvents(answer.body)
    }
}

extension [UInt8] {
    /// Whether there may be a request by HEAD behind the plain ones.
    fileprivate func containsHead(behind requests: [PlainRequest]) -> Bool {
        String(decoding: self, as: UTF8.self).components(separatedBy: "HEAD").count - 1
            > requests.count { $0.method == "HEAD" }
    }
}
