// SPDX-License-Identifier: Apache-2.0

package import TelemetryEvents

/// What has a number in the ledger: an event that was sent, or the verdict on a cycle that broke a rule.
package enum LedgerRecord {
    case event(Event)
    case verdict(CycleVerdict)
}

/// A row of the ledger whose records cannot be read.
package enum LedgerRecordError: Error {
    case event(EventRecordError)
    case verdict(VerdictRecordError)
}

extension LedgerRecordError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .event(let error): error.description
        case .verdict(let error): error.description
        }
    }
}

/// Reads the records of a row one after the other: of a tick the verdicts, else events.
package struct LedgerRecordCursor {
    private enum Cursor {
        case events(EventCursor)
        case verdicts(VerdictCursor)
    }

    private var cursor: Cursor

    /// - Parameter origin: the row's.
    package init(origin: UInt16) {
        cursor = origin == EventOrigin.tick.rawValue ? .verdicts(VerdictCursor()) : .events(EventCursor())
    }

    /// The next record; nil at the end.
    ///
    /// - Parameter bytes: the records of the row, always the same ones.
    package mutating func next(in bytes: Span<UInt8>) throws(LedgerRecordError) -> LedgerRecord? {
        switch cursor {
        case .events(var events):
            do throws(EventRecordError) {
                let event = try events.next(in: bytes)
                cursor = .events(events)
                return event.map { .event($0) }
            } catch {
                throw .event(error)
            }
        case .verdicts(var verdicts):
            do throws(VerdictRecordError) {
                let verdict = try verdicts.next(in: bytes)
                cursor = .verdicts(verdicts)
                return verdict.map { .verdict($0) }
            } catch {
                throw .verdict(error)
            }
        }
    }
}
