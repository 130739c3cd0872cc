// SPDX-License-Identifier: Apache-2.0

extension LogMessage {
    private static let secondsInTenYears: Int64 = 315_360_000
    private static let microsecondsInADay: Int64 = 86_400_000_000
    private static let tebibyte: Int64 = 1 << 40

    /// Reads the `key=value` pairs of a list, and a hash behind `MD5:`. What is no pair of a known key is passed over.
    mutating func readFields(_ bytes: Span<UInt8>, _ range: Range<Int>, _ zone: ZoneOffsets) {
        if readDigest(bytes, range) { return }
        var position = range.lowerBound
        while let equals = bytes.firstIndex(of: UInt8(ascii: "="), in: position..<range.upperBound) {
            let key = bytes.key(endingAt: equals, from: position)
            position = equals + 1
            guard let field = LogField.table.value(of: bytes, key) else { continue }
            if field == .freeText {
                if event.scheduleId.isEmpty { readLastIdentifier(bytes, position..<range.upperBound) }
                return
            }
            let value = bytes.value(from: position, to: range.upperBound, isSentence: field == .error)
            read(field, bytes, value, zone)
            position = value.upperBound
        }
    }

    private mutating func read(_ field: LogField, _ bytes: Span<UInt8>, _ range: Range<Int>, _ zone: ZoneOffsets) {
        switch field {
        case .scheduleId:
            let id = bytes.word(in: range)
            let isPlaceholder = id.count == 3 && bytes.equals("...", in: id)
            if !rule.idNamesTask, (1...128).contains(id.count), !isPlaceholder { event.scheduleId = id }
        case .notificationTime:
            event.scheduledFor = LogTime(bytes, range).flatMap { planned($0, zone) } ?? event.scheduledFor
        case .earliestBeginDate: event.earliestBeginDate = LogTime(bytes, range).flatMap { planned($0, zone) }
        case .status: event.status = number(bytes, range, 0...999)
        case .bytes: event.byteCount = number(bytes, range, 0...Self.tebibyte)
        case .items: event.itemCount = number(bytes, range, 0...Self.tebibyte)
        case .ttl: event.ttl = number(bytes, range, 0...Self.secondsInTenYears)
        case .age: event.age = decimal(bytes, range, power: 6, 0...Self.secondsInTenYears * 1_000_000)
        case .durationMs: event.duration = decimal(bytes, range, power: 3, 0...Self.microsecondsInADay)
        case .duration: event.duration = decimal(bytes, range, power: 6, 0...Self.microsecondsInADay)
        case .source:
            isFromElsewhere = !bytes.equalsIgnoringCase("prefetch", in: bytes.word(in: range))
        case .error: event.error = bytes.isPlaceholder(range) ? 0..<0 : range
        case .reason: event.reason = FailureReason(named: bytes, bytes.word(in: range)) ?? told(by: range, bytes)
        case .willRetry: event.willRetry = boolean(bytes, range)
        case .success, .fetched: event.fetched = boolean(bytes, range)
        case .usedCached: event.usedCached = boolean(bytes, range)
        case .contentHash: event.contentHash = hash(bytes, range)
        case .scheduleHash: event.scheduleHash = hash(bytes, range)
        case .freeText: break
        }
    }

    /// The reason that words outside the set tell, `OTHER` when they tell nothing.
    private func told(by range: Range<Int>, _ bytes: Span<UInt8>) -> FailureReason? {
        let text = bytes.trimmed(range)
        if text.isEmpty || bytes.isPlaceholder(text) { return nil }
        return FailureReason(error: bytes, text.prefix(256)) ?? .other
    }

    /// Reads what follows `MD5:`; false when nothing of that kind stands there.
    private mutating func readDigest(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        let text = bytes.trimmed(range)
        guard text.count > 4, bytes.equalsIgnoringCase("md5:", in: text.lowerBound..<text.lowerBound + 4) else {
            return false
        }
        event.contentHash = hash(bytes, bytes.trimmed(text.lowerBound + 4..<text.upperBound))
        return true
    }

    /// Reads the `id` that follows free text: the last one that stands behind a comma.
    private mutating func readLastIdentifier(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        var position = range.upperBound - 3
        while position > range.lowerBound {
            if bytes.equals("id=", in: position..<position + 3), bytes[position - 1] == UInt8(ascii: " "),
                position - 2 >= range.lowerBound, bytes[position - 2] == UInt8(ascii: ",")
            {
                let id = bytes.word(in: position + 3..<range.upperBound)
                if (1...128).contains(id.count) { event.scheduleId = id }
                return
            }
            position -= 1
        }
    }

    private func number(_ bytes: Span<UInt8>, _ range: Range<Int>, _ allowed: ClosedRange<Int64>) -> Int64? {
        decimal(bytes, range, power: 0, allowed)
    }

    /// The number that a value begins with; a unit behind it is passed over: `age=180s`, `duration=1.5s`, `2432ms`.
    private func decimal(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        power: Int,
        _ allowed: ClosedRange<Int64>
    ) -> Int64? {
        let text = bytes.trimmed(range)
        var number = JSONNumber()
        var position = text.lowerBound
        while position < text.upperBound, bytes[position].isDigit {
            number.append(digit: bytes[position], afterPoint: false)
            position += 1
        }
        guard position > text.lowerBound else { return nil }
        if position + 1 < text.upperBound, bytes[position] == UInt8(ascii: "."), bytes[position + 1].isDigit {
            position += 1
            while position < text.upperBound, bytes[position].isDigit {
                number.append(digit: bytes[position], afterPoint: true)
                position += 1
            }
        }
        let isMilliseconds =
            power == 6 && position + 2 <= text.upperBound && bytes.equals("ms", in: position..<position + 2)
        return number.scaled(byPowerOfTen: isMilliseconds ? 3 : power, in: allowed, exact: false)
    }

    private func boolean(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool? {
        let word = bytes.word(in: range)
        if bytes.equalsIgnoringCase("true", in: word) || bytes.equalsIgnoringCase("yes", in: word) { return true }
        if bytes.equalsIgnoringCase("false", in: word) || bytes.equalsIgnoringCase("no", in: word) { return false }
        return nil
    }

    private func hash(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Event.Text {
        var end = range.lowerBound
        while end < range.upperBound, bytes[end].isHexDigit { end += 1 }
        let digits = range.lowerBound..<end
        let isWhole = end == range.upperBound || !bytes[end].isLetterOrDigit
        return isWhole && (1...128).contains(digits.count) ? digits : 0..<0
    }

    /// Reads `name=value`, `name: value` or `name value` for each counter that is named; a name without a value says nothing.
    mutating func readCounters(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        var position = range.lowerBound
        while position < range.upperBound {
            guard bytes[position].isLetterOrDigit else {
                position += 1
                continue
            }
            let name = bytes.counterName(at: position, end: range.upperBound)
            position = max(name.upperBound, position + 1)
            guard let counter = counter(named: bytes, name) else { continue }
            var start = position
            while start < range.upperBound, start - position < 3,
                bytes[start] == UInt8(ascii: "=") || bytes[start] == UInt8(ascii: ":")
                    || bytes[start] == UInt8(ascii: " ")
            { start += 1 }
            if let value = number(bytes, start..<range.upperBound, 0...Self.tebibyte) {
                counters[counter] = UInt64(value)
            }
        }
    }

    /// The counter of a name; the plugin's own snapshot writes `DNP-` in place of `dnp_`.
    private func counter(named bytes: Span<UInt8>, _ name: Range<Int>) -> ClientCounter? {
        if let counter = EventVocabulary.shared.clientCounters.value(of: bytes, name) { return counter }
        return ClientCounter.allCases.first { counter in
            let known = counter.name.bytes.dropFirst(4)
            return known.count == name.count && zip(known, name).allSatisfy { $0 == bytes[$1] }
        }
    }
}
