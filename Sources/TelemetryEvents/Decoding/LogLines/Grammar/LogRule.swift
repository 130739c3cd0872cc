// SPDX-License-Identifier: Apache-2.0

/// One form of the plugin's log lines: how its message begins and what it says.
struct LogRule: Sendable {
    /// What a line tells.
    enum Meaning: Equatable, Sendable {
        /// An event of this kind.
        case event(EventKind)
        /// Which cycle the lines around it are about; no event.
        case cycle
        /// Nothing that counts.
        case nothing
    }

    /// The part of the lifecycle in which the line is written; a line without an id of its own is about the cycle that its
    /// stream is in there.
    enum Phase: UInt8, Sendable {
        case plugin
        case scheduling
        case execution
        case delivery
        case summary
    }

    /// How the text behind the opening is read.
    enum Remainder: Sendable {
        case nothing
        /// `key=value` pairs, in parentheses, behind a colon or between words.
        case fields
        /// A time, or else fields.
        case notificationTime
        /// A sentence that tells an error.
        case error
        /// Names of counters and their values.
        case counters
    }

    /// How the message begins, in any letter case.
    let opening: StaticString
    /// What it says.
    let form: Form

    /// What a message of one opening says.
    struct Form: Sendable {
        var meaning: Meaning
        var phase: Phase
        var remainder: Remainder
        /// Whether `id` names the task and not the schedule.
        var idNamesTask: Bool
        /// The reason that the form itself tells.
        var reason: FailureReason?

        /// The kind of event; nil for a line that makes none.
        var kind: EventKind? {
            if case .event(let kind) = meaning { kind } else { nil }
        }
    }

    init(
        _ opening: StaticString,
        _ meaning: Meaning,
        _ phase: Phase,
        _ remainder: Remainder = .fields,
        idNamesTask: Bool = false,
        reason: FailureReason? = nil
    ) {
        self.opening = opening
        form = Form(
            meaning: meaning,
            phase: phase,
            remainder: remainder,
            idNamesTask: idNamesTask,
            reason: reason
        )
    }
}
