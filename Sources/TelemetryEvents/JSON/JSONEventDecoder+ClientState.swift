// SPDX-License-Identifier: Apache-2.0

/// What a client tells of its device and of its plan.
extension JSONEventDecoder {
    private static let mostMinutes: Int64 = 5_270_400
    private static let mostNotifications: Int64 = 1_000_000

    func minutes(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) -> Int64 {
        try integer(.minutes, -Self.mostMinutes...Self.mostMinutes, &scanner, bytes)
    }

    /// Reads the name of a network, ignoring case.
    func network(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) -> NetworkKind {
        let name = try string(.network, &scanner, bytes).range
        guard let kind = NetworkKind(bytes, name) else { throw JSONFault(.outOfRange, .network) }
        return kind
    }

    /// Reads a number of the rolling window.
    mutating func rolling(
        _ count: RollingCount,
        _ field: EventField,
        into draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        let value = try integer(field, 0...Self.mostNotifications, &scanner, bytes)
        copyTexts(of: &draft.event, bytes)
        let kept = draft.event.clientCounters
        let start = texts.appendState(kept) { entry in
            if case .rolling(count, _) = entry { false } else { true }
        }.lowerBound
        draft.event.clientCounters = start..<texts.append(count, UInt64(value)).upperBound
    }

    /// Reads the plugin's plan: an array of schedules.
    mutating func plannedSchedules(
        _ first: UInt8,
        into draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        guard first == UInt8(ascii: "[") else { throw JSONFault(.wrongType, .schedules) }
        scanner.position += 1
        copyTexts(of: &draft.event, bytes)
        var plan: [UInt8] = []
        var count = 0
        if scanner.peek(bytes) == UInt8(ascii: "]") {
            scanner.position += 1
        } else {
            repeat {
                guard scanner.peek(bytes) == UInt8(ascii: "{") else { throw JSONFault(.wrongType, .schedules) }
                let schedule = try plannedSchedule(of: &draft, &scanner, bytes)
                count += 1
                guard count <= PlannedSchedule.maximum else { throw JSONFault(.tooLong, .schedules) }
                ClientStateRecord.append(schedule, texts: texts.bytes.span, to: &plan)
            } while try !scanner.endsList(with: UInt8(ascii: "]"), bytes)
        }
        let kept = draft.event.clientCounters
        let start = texts.appendState(kept) { if case .planned = $0 { false } else { true } }.lowerBound
        draft.event.clientCounters = start..<texts.append(plan).upperBound
    }

    /// Reads one schedule, whose texts are then in `texts`; the position is at its brace.
    private mutating func plannedSchedule(
        of draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> PlannedSchedule {
        var schedule = PlannedSchedule()
        scanner.position += 1
        if scanner.peek(bytes) == UInt8(ascii: "}") {
            scanner.position += 1
            throw JSONFault(.missingField, .scheduleId)
        }
        repeat {
            let name = try scanner.string(bytes)
            try scanner.expect(UInt8(ascii: ":"), bytes)
            let field = fieldNamed(name, bytes)
            guard scanner.peek(bytes) != UInt8(ascii: "n") else {
                try scanner.literal("null", bytes)
                continue
            }
            switch field {
            case .scheduleId?: schedule.scheduleId = try plannedId(of: &draft, &scanner, bytes)
            case .scheduledFor?: schedule.scheduledFor = try plannedTime(.scheduledFor, &scanner, bytes)
            case .earliestBeginDate?: schedule.earliestBeginDate = try plannedTime(.earliestBeginDate, &scanner, bytes)
            case .minutes?: schedule.leadMinutes = try minutes(&scanner, bytes)
            case .scheduleHash?:
                schedule.scheduleHash = try hash(.scheduleHash, .scheduleHash, of: &draft, &scanner, bytes)
            default:
                decoded.unknownFields += 1
                fieldSpellings.note(name, bytes)
                try scanner.skipValue(bytes, depth: 3)
            }
        } while try !scanner.endsList(with: UInt8(ascii: "}"), bytes)
        guard !schedule.scheduleId.isEmpty || schedule.scheduledFor != nil else {
            throw JSONFault(.missingField, .scheduleId)
        }
        return schedule
    }

    /// Reads a schedule id in the form in which it leaves.
    private mutating func plannedId(
        of draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Range<Int> {
        let id = try text(.scheduleId, 1...128, of: &draft.event, &scanner, bytes)
        if keepsIdentifiers || EventTexts.isPlain(id, in: texts.bytes.span) { return id }
        draft.altered.insert(.field(.scheduleId))
        return texts.pseudonym(of: id, pseudonyms)
    }
}
