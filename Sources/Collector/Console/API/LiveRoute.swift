// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import LedgerState
internal import NIOCore
internal import Synchronization
internal import TelemetryEvents

/// `GET /api/v1/live`: committed events as Server-Sent Events (the HTML standard, 9.2).
///
/// A person reads a few events a second. A stream sends the newest of each quarter of a second and says how many it left
/// out, so that what it costs does not depend on the rate of the events.
struct LiveRoute: Sendable {
    private static let pause = Duration.milliseconds(250)
    /// The most events of one pause.
    private static let maximumEvents = 10
    /// A comment is sent after so many pauses without events, so that proxies keep the stream. A client that has gone is
    /// noticed by it alone, since one that has only finished sending may still read; its place is free again in seconds.
    private static let pausesOfHeartbeat = 8
    /// The access is checked again after so many pauses.
    private static let pausesOfAccessCheck = 4

    let feed: ConsoleFeed
    let readiness: Readiness
    let key: InstallationKey

    /// - Parameter isAllowed: whether the client's access is still valid.
    func respond(to request: Request, while isAllowed: @escaping @Sendable () -> Bool) throws -> Response {
        let filter = try LiveFilter(request, key)
        let resumed =
            filter.after ?? HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }.flatMap { UInt64($0) }
        let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        guard request.method != .head else { return Response(status: .ok, headers: headers) }
        guard feed.live.open() else { throw Problem.tooManyStreams }
        let stream = OpenStream(live: feed.live)
        let readiness = readiness
        let body = ResponseBody { writer in
            defer { stream.close() }
            var position = min(resumed ?? stream.live.lastSequence, stream.live.lastSequence)
            var quiet = 0
            var checks = 0
            while true {
                checks += 1
                let end: StaticString? = readiness.isReady ? nil : "the service stops"
                if checks % Self.pausesOfAccessCheck == 0, end == nil, !isAllowed() {
                    try await writer.write(Self.end("the access was withdrawn"))
                    break
                }
                let excerpt = LiveExcerpt(
                    stream.live,
                    after: position,
                    isFirst: checks == 1,
                    filter,
                    limit: Self.maximumEvents
                )
                position = excerpt.last
                if !excerpt.isEmpty || checks == 1 {
                    try await writer.write(excerpt.message)
                    quiet = 0
                } else {
                    quiet += 1
                    if quiet >= Self.pausesOfHeartbeat {
                        try await writer.write(ByteBuffer(string: ":\n\n"))
                        quiet = 0
                    }
                }
                if let end {
                    try await writer.write(Self.end(end))
                    break
                }
                try await Task.sleep(for: Self.pause)
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }

    private static func end(_ reason: StaticString) -> ByteBuffer {
        ByteBuffer(string: "event: end\ndata: {\"reason\":\"\(reason)\"}\n\n")
    }
}

/// A stream that counts as open until it is closed or its response is dropped.
private final class OpenStream: Sendable {
    let live: LiveEvents
    private let isClosed = Atomic(false)

    init(live: LiveEvents) {
        self.live = live
    }

    func close() {
        if !isClosed.exchange(true, ordering: .relaxed) { live.close() }
    }

    deinit { close() }
}

/// What a stream shows of the events.
struct LiveFilter: Sendable {
    private var kinds: Set<EventKind> = []
    private var platform: [UInt8] = []
    private var version: [UInt8] = []
    private var scheduleId: [UInt8] = []
    private var installation: Pseudonym?
    /// The number after which a stream goes on that a page opens anew.
    private(set) var after: UInt64?

    init(_ request: Request, _ key: any Pseudonymising) throws(Problem) {
        for (name, value) in request.uri.queryParameters where !value.isEmpty {
            guard value.utf8.count <= 512 else {
                throw .badQuery("Expected values of at most 512 bytes, found a longer one.")
            }
            switch name {
            case "kind":
                guard let kind = EventKind.allCases.first(where: { "\($0.name)" == value }) else {
                    throw .badQuery("Expected kind= with the name of an event, such as prefetch_scheduled.")
                }
                kinds.insert(kind)
            case "platform": platform = Array(value.utf8)
            case "version": version = Array(value.utf8)
            case "schedule": scheduleId = Array(key.shaped(identifier: String(value)).utf8)
            case "installation":
                guard let found = Pseudonym(hexadecimal: value) else {
                    throw .badQuery("Expected installation= with the 32 hexadecimal digits of a pseudonym.")
                }
                installation = found
            case "after":
                guard let number = UInt64(value) else {
                    throw .badQuery("Expected after= with the number of an event.")
                }
                after = number
            default:
                throw .badQuery(
                    "Expected one of kind, platform, version, schedule, installation, after, found another parameter."
                )
            }
        }
    }

    func matches(_ event: Event, in bytes: Span<UInt8>) -> Bool {
        if !kinds.isEmpty, !kinds.contains(event.kind) { return false }
        if let installation, event.installation != installation { return false }
        return Self.isEqual(event.platform, platform, bytes) && Self.isEqual(event.appVersion, version, bytes)
            && Self.isEqual(event.scheduleId, scheduleId, bytes)
    }

    private static func isEqual(_ text: Event.Text, _ wanted: [UInt8], _ bytes: Span<UInt8>) -> Bool {
        guard !wanted.isEmpty else { return true }
        guard text.count == wanted.count else { return false }
        for index in wanted.indices where bytes[text.lowerBound + index] != wanted[index] { return false }
        return true
    }
}

/// The newest events after a number that a filter lets pass, and how many were left out.
struct LiveExcerpt {
    /// So many events are decoded at most.
    private static let maximumDecoded: UInt64 = 2_000
    /// So many where the newest batch alone has more, so that a large one is seen.
    private static let maximumDecodedOfNewest: UInt64 = 20_000

    private(set) var events: [LoggedEvent] = []
    private(set) var leftOut: UInt64 = 0
    /// The number of the last event that was looked at or left out.
    let last: UInt64

    /// - Parameter isFirst: whether a stream begins, so that what came before and is not kept was missed by its client.
    init(_ live: LiveEvents, after position: UInt64, isFirst: Bool = false, _ filter: LiveFilter, limit: Int) {
        let batches = live.batches(after: position)
        last = max(batches.last?.lastSequence ?? position, live.lastSequence)
        var rest = Self.maximumDecoded
        var seen: UInt64 = 0
        for batch in batches.reversed() {
            let fresh = min(UInt64(batch.count), batch.lastSequence - position)
            seen += fresh
            let isNewest = batch.lastSequence == batches.last?.lastSequence
            guard rest >= fresh || isNewest && fresh <= Self.maximumDecodedOfNewest, events.count < limit else {
                leftOut += fresh
                continue
            }
            rest -= min(rest, fresh)
            var found = Self.events(of: batch, after: position, filter)
            let room = limit - events.count
            if found.count > room {
                leftOut += UInt64(found.count - room)
                found.removeFirst(found.count - room)
            }
            events.insert(contentsOf: found, at: 0)
        }
        if batches.isEmpty, isFirst { leftOut = last - position }
        // What is no longer kept, verdicts among it.
        if !batches.isEmpty || last > position { leftOut += Self.missing(batches, after: position) }
    }

    private static func missing(_ batches: [LiveEvents.Batch], after position: UInt64) -> UInt64 {
        guard let first = batches.first, first.firstSequence > position + 1 else { return 0 }
        return first.firstSequence - position - 1
    }

    private static func events(of batch: LiveEvents.Batch, after position: UInt64, _ filter: LiveFilter)
        -> [LoggedEvent]
    {
        var events: [LoggedEvent] = []
        var cursor = EventCursor()
        var sequence = batch.firstSequence
        let records = batch.records.span
        while let event = try? cursor.next(in: records) {
            if sequence > position, filter.matches(event, in: records) {
                events.append(LoggedEvent(event, in: records, sequence: sequence, receivedAt: batch.receivedAt))
            }
            sequence += 1
        }
        return events
    }

    var isEmpty: Bool { events.isEmpty && leftOut == 0 }

    /// A message of the stream.
    var message: ByteBuffer {
        var json = JSONWriter()
        json.object { json in
            json.name("events")
            json.array { json in for event in events { json.value(event) } }
            json.name("leftOut")
            json.value(leftOut)
        }
        var message = ByteBuffer(string: "event: events\nid: \(last)\ndata: ")
        message.writeBytes(json.bytes)
        message.writeString("\n\n")
        return message
    }
}

extension Problem {
    static var tooManyStreams: Problem {
        Problem(
            status: .serviceUnavailable,
            type: "too-many-streams",
            title: "Too many live streams",
            detail: "Expected at most \(LiveEvents.maximumStreams) live streams at once. Close one and try again.",
            retryAfter: RetryHint.jittered(.seconds(5))
        )
    }
}
