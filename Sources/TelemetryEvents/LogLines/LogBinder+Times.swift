// SPDX-License-Identifier: Apache-2.0

extension LogBinder {
    /// When a line was written.
    enum LineTime {
        case known(Timestamp)
        /// No stamp; the time is that of the last line of its stream with one.
        case inherited(Timestamp)
        /// No stamp, and the log is not live; the time only orders the line.
        case assumed(Timestamp)
        /// The year is not yet known.
        case yearless(YearlessStamp)

        /// When it was written, as far as is known.
        var known: Timestamp? {
            switch self {
            case .known(let time), .inherited(let time): time
            case .assumed, .yearless: nil
            }
        }

        var any: Timestamp? {
            switch self {
            case .known(let time), .inherited(let time), .assumed(let time): time
            case .yearless: nil
            }
        }

        /// Whether the line does not say it itself, so that no rule about time may apply.
        var isAssumed: Bool {
            switch self {
            case .inherited, .assumed: true
            case .known, .yearless: false
            }
        }
    }

    /// The receiver's clock may be slow, which makes lines look like future ones.
    private static let clockTolerance: Int64 = 3_600_000_000
    /// How late a line may be written behind a later one, in microseconds.
    private static let longestDelay: Int64 = 900_000_000
    /// The same in an hour that a clock shows twice: a line that is later still is of the second time.
    private static let longestRepeatedDelay: Int64 = 120_000_000
    /// How far a run and a delivery are from the notification time at most, in microseconds.
    private static let longestLead: Int64 = 1_800_000_000
    /// The longest gap between leap years in the Gregorian calendar, across a century such as 2100.
    private static let longestWithoutLeapYear: Int64 = 8

    /// The time of a line: its stamp, else its stream's last one, else the reading time.
    ///
    /// - Parameter isNew: whether the line was not read before.
    mutating func time(of parsed: ParsedMessage, stream: Int, isNew: Bool) -> LineTime {
        let begun = parsed.message.form.kind?.begunRun
        defer { binding.streams[stream].begunRun = begun }
        // Only the log of one device is known to go on in its order.
        let next = isNew && options.isOneDevice ? stream : nil
        guard let stamp = parsed.stamp else {
            if var last = binding.streams[stream].last {
                // What begins a run comes behind what was told of the run before it.
                if let begun, begun != binding.streams[stream].begunRun {
                    last.microseconds += 1
                    binding.streams[stream].last = last
                }
                return .inherited(last)
            }
            if lastStamp == .min, let head = headTime {
                headTime = Timestamp(microseconds: head.microseconds + 1)
                return .assumed(head)
            }
            assumedTime.microseconds += options.untimedStep
            return options.isLive ? .known(assumedTime) : .assumed(assumedTime)
        }
        var context = StampContext(stream: next)
        switch parsed.message.form.phase {
        case .execution, .delivery: context.planned = binding.streams[stream].anchor
        default: break
        }
        if stamp.hasYear {
            let time = utc(stamp.wallMicroseconds, stamp.offsetSeconds, context)
            binding.streams[stream].last = time
            return .known(time)
        }
        let yearless = YearlessStamp(wallMicroseconds: stamp.wallMicroseconds, offset: stamp.offsetSeconds)
        guard let anchor = binding.streams[stream].anchor ?? (options.isLive ? readAt : nil) else {
            return .yearless(yearless)
        }
        let time = dated(yearless, near: anchor, isPast: binding.streams[stream].anchor == nil, context)
        binding.streams[stream].last = time
        return .known(time)
    }

    /// The time of the lines before the first stamp, a second before it, or before the first event among them where no line
    /// has a stamp; nil where nothing has one, or one that no event may have.
    func headTime(in parsed: ParsedLog) -> Timestamp? {
        var first: Timestamp?
        if let stamp = parsed.messages.lazy.compactMap(\.stamp).first {
            first = stamp.hasYear ? utc(stamp.wallMicroseconds, stamp.offsetSeconds) : dated(stamp, as: parsed)
        } else if headTime == nil, !parsed.messages.isEmpty {
            first = parsed.events.first?.decoded.events.times?.first
        }
        return first.flatMap { accepted(Timestamp(microseconds: $0.microseconds - 1_000_000)) }
    }

    /// The time of a stamp without a year, as far as the lines before and behind it tell it.
    private func dated(_ stamp: LogStamp, as parsed: ParsedLog) -> Timestamp {
        let stamp = YearlessStamp(wallMicroseconds: stamp.wallMicroseconds, offset: stamp.offsetSeconds)
        guard let anchor = parsed.messages.lazy.compactMap({ $0.message.due ?? $0.message.begin }).first else {
            return fallbackTime(stamp)
        }
        return dated(stamp, near: anchor, isPast: false)
    }

    /// A time; nil for one that no event may have.
    func accepted(_ time: Timestamp) -> Timestamp? {
        let isAccepted = time >= .earliestAccepted && time.microseconds - readAt.microseconds <= Timestamp.acceptedLead
        return isAccepted ? time : nil
    }

    /// The time of a stamp in a stream without an absolute time: nearest to the log's last absolute time, else the
    /// latest past one.
    func fallbackTime(_ stamp: YearlessStamp) -> Timestamp {
        if let anchor = binding.anchor { return dated(stamp, near: anchor, isPast: false) }
        return dated(stamp, near: readAt, isPast: true)
    }

    /// The stamp in the year that brings it nearest to a time, or in the latest year in which it is not after that
    /// time.
    ///
    /// - Parameter context: what tells which of two times it is.
    func dated(
        _ stamp: YearlessStamp,
        near anchor: Timestamp,
        isPast: Bool,
        _ context: StampContext = StampContext()
    ) -> Timestamp {
        let year = CivilDate.date(daysSince1970: anchor.microseconds.flooredDivision(by: 86_400_000_000)).year
        func best(within years: Int64) -> Timestamp? {
            self.best(stamp, in: year - years...year + years, near: anchor, isPast: isPast, context)
        }
        return best(within: 1) ?? best(within: Self.longestWithoutLeapYear) ?? anchor
    }

    private func best(
        _ stamp: YearlessStamp,
        in years: ClosedRange<Int64>,
        near anchor: Timestamp,
        isPast: Bool,
        _ context: StampContext
    ) -> Timestamp? {
        var best: Timestamp?
        for year in years {
            guard let time = inYear(year, stamp, context) else { continue }
            if isPast {
                if time.microseconds <= anchor.microseconds + Self.clockTolerance { best = max(best ?? time, time) }
            } else if best.map({ time.distance(to: anchor) < $0.distance(to: anchor) }) ?? true {
                best = time
            }
        }
        return best
    }

    private func inYear(_ year: Int64, _ stamp: YearlessStamp, _ context: StampContext) -> Timestamp? {
        let days = stamp.wallMicroseconds.flooredDivision(by: 86_400_000_000)
        let date = CivilDate.date(daysSince1970: days)
        guard date.day <= CivilDate.daysInMonth(date.month, year: year) else { return nil }
        let inYear = CivilDate.daysSince1970(year: year, month: date.month, day: date.day)
        return utc(stamp.wallMicroseconds + (inYear - days) * 86_400_000_000, stamp.offset, context)
    }

    /// What tells which time a stamp means that a clock shows twice in autumn.
    struct StampContext {
        /// The stream that its line goes on; nil for a line out of order.
        var stream: Int?
        /// The notification time that a line of a run or of a delivery is about.
        var planned: Timestamp?
    }

    /// The time of a stamp; of one that a clock shows twice in autumn the second one, where the first would lie before the
    /// lines that it follows, or the second is the nearer one to the notification.
    private func utc(_ wall: Int64, _ offset: Int32?, _ context: StampContext = StampContext()) -> Timestamp {
        if let offset { return Timestamp(microseconds: wall - Int64(offset) * 1_000_000) }
        let first = options.zone.utcMicroseconds(wall: wall)
        guard let second = options.zone.repetition(ofWall: wall) else { return Timestamp(microseconds: first) }
        if let planned = context.planned?.microseconds, abs(planned - second) <= Self.longestLead,
            abs(planned - second) < abs(planned - first)
        {
            return Timestamp(microseconds: second)
        }
        guard let stream = context.stream, let last = lastTime(onDeviceOf: stream)?.microseconds,
            last - first > Self.longestRepeatedDelay, last - second <= Self.longestDelay
        else { return Timestamp(microseconds: first) }
        return Timestamp(microseconds: second)
    }

    private func lastTime(onDeviceOf stream: Int) -> Timestamp? {
        let device = binding.streams[stream].device
        return binding.streams.lazy.filter { $0.device == device }.compactMap(\.last).max()
    }
}

extension EventBatch {
    /// The times of the first event and of the last one; nil where there is none. O(events).
    var times: (first: Timestamp, last: Timestamp)? {
        var cursor = EventCursor()
        var times: (first: Timestamp, last: Timestamp)?
        while let event = try? cursor.next(in: bytes.span) {
            times = (times?.first ?? event.timestamp, event.timestamp)
        }
        return times
    }
}

/// A stamp without a year.
struct YearlessStamp: Hashable {
    var wallMicroseconds: Int64
    var offset: Int32?
}
