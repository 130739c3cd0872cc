// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What holds of the decoder's result whatever the input: `received = accepted + rejected`, and the rejections in order.
enum DecodedInvariants {
    static func check(_ decoded: DecodedEvents) {
        var cursor = EventCursor()
        var readable = 0
        do throws(EventRecordError) {
            while try cursor.next(in: decoded.events.bytes.span) != nil { readable += 1 }
        } catch {
            finding("an accepted event cannot be read back: \(error)")
        }
        guard readable == decoded.events.count else {
            finding("\(decoded.events.count) events accepted, \(readable) read back")
        }
        guard decoded.identities.count == readable else {
            finding("\(readable) events, \(decoded.identities.count) identities")
        }
        guard decoded.received == readable + decoded.rejected else {
            finding("\(decoded.received) received, \(readable) accepted, \(decoded.rejected) rejected")
        }
        guard decoded.rejections.count == min(decoded.rejected, JSONLimits.namedRejections) else {
            finding("\(decoded.rejected) rejected, \(decoded.rejections.count) named")
        }
        var byReason = [UInt64](repeating: 0, count: RejectionReason.allCases.count)
        var next = 0
        for rejection in decoded.rejections {
            guard rejection.index >= next, rejection.index < decoded.received else {
                finding("rejection \(rejection.index) after \(next - 1) of \(decoded.received)")
            }
            next = rejection.index + 1
            byReason[Int(rejection.reason.rawValue)] += 1
            if rejection.description.isEmpty { finding("a rejection without words: \(rejection.reason)") }
        }
        if decoded.rejected <= JSONLimits.namedRejections, byReason != decoded.rejectedByReason {
            finding("rejections by reason \(decoded.rejectedByReason), named \(byReason)")
        }
    }
}
