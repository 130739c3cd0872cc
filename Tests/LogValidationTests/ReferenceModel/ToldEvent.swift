// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// One event of a history, as a client tells it in JSON. Times are in whole seconds since 1970.
struct ToldEvent: Hashable, Sendable {
    /// The kind by its name in JSON.
    var kind: String
    var time: Int
    var installation: String?
    var id: String?
    /// The notification time.
    var due: Int?
    /// The earliest begin of the task.
    var begin: Int?
    var ttl: Int?
    /// The age of the content in seconds.
    var age: Int?
    var status: Int?
    var error: String?
    var reason: String?
    var willRetry: Bool?
    var fetched: Bool?
    var usedCached: Bool?
    var contentHash: String?
    var scheduleHash: String?
    /// The client's own counters by their names.
    var telemetry: [String: Int]?

    init(_ kind: String, _ time: Int) {
        self.kind = kind
        self.time = time
    }

    /// The same event with a change.
    func with(_ change: (inout ToldEvent) -> Void) -> ToldEvent {
        var told = self
        change(&told)
        return told
    }

    /// The event as one line of NDJSON.
    var json: String {
        var members: [String] = []
        func add(_ name: String, text: String?) {
            if let text { members.append(#""\#(name)":"\#(text)""#) }
        }
        func add(_ name: String, value: (some CustomStringConvertible)?) {
            if let value { members.append(#""\#(name)":\#(value)"#) }
        }
        add("event", text: kind)
        add("timestamp", text: Self.stamp(time))
        add("installationId", text: installation)
        add("scheduleId", text: id)
        add("scheduledFor", text: due.map(Self.stamp))
        add("earliestBeginDate", text: begin.map(Self.stamp))
        add("ttl", value: ttl)
        add("age", value: age)
        add("status", value: status)
        add("error", text: error)
        add("reason", text: reason)
        add("willRetry", value: willRetry)
        add("fetched", value: fetched)
        add("usedCached", value: usedCached)
        add("contentHash", text: contentHash)
        add("scheduleHash", text: scheduleHash)
        if let telemetry {
            let counters = telemetry.sorted { $0.key < $1.key }.map { name, value in
                #""\#(name.replacing("\"", with: "\\\""))":\#(value)"#
            }
            members.append(#""telemetry":{\#(counters.joined(separator: ","))}"#)
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// A time as RFC 3339 in UTC.
    static func stamp(_ time: Int) -> String { "\(Timestamp(seconds: Int64(time)))" }
}

extension ToldEvent {
    /// The optional fields, each of which a shrinker may drop.
    static var droppableFields: [@Sendable (inout ToldEvent) -> Void] {
        [
            { $0.installation = nil }, { $0.id = nil }, { $0.due = nil }, { $0.begin = nil }, { $0.ttl = nil },
            { $0.age = nil }, { $0.status = nil }, { $0.error = nil }, { $0.reason = nil }, { $0.willRetry = nil },
            { $0.fetched = nil }, { $0.usedCached = nil }, { $0.contentHash = nil }, { $0.scheduleHash = nil },
            { $0.telemetry = nil },
        ]
    }
}
