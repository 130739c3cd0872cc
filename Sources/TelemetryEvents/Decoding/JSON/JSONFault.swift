// SPDX-License-Identifier: Apache-2.0

/// Why an event is refused, before its index is known.
struct JSONFault: Error {
    var reason: RejectionReason
    var field: EventField?

    init(_ reason: RejectionReason, _ field: EventField? = nil) {
        self.reason = reason
        self.field = field
    }
}
