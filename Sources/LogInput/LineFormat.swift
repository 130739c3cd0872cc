// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import TelemetryEvents
internal import TextOutput

/// The format of a log's lines and the time zone of their timestamps, for lines that carry neither.
package struct LineFormat: Sendable {
    /// The accepted names of a format.
    package static let names = LogWrapper.allCases.map(\.rawValue)

    /// The format; nil: detected line by line.
    package let wrapper: LogWrapper?
    /// The zone of timestamps without one.
    package let zone: ZoneOffsets

    /// - Parameters:
    ///   - name: one of `names`; nil: detected line by line.
    ///   - timezone: the zone of timestamps without one, as in "Europe/Berlin"; nil: the machine's.
    package init(named name: String? = nil, timezone: String? = nil) throws(InvalidOption) {
        do throws(UnknownChoice) {
            wrapper = try name.map { name throws(UnknownChoice) in try UnknownChoice.check(name, LogWrapper.allCases) }
        } catch {
            throw InvalidOption("--input-format: \(error.description)")
        }
        do throws(UnknownZone) {
            zone = try timezone.map { name throws(UnknownZone) in try ZoneOffsets(named: name) } ?? .machine
        } catch {
            throw InvalidOption("\(error)")
        }
    }

    /// The decoder's options for such lines: without identities and without unrecognised lines.
    package var decoderOptions: LogDecoderOptions {
        var options = LogDecoderOptions(wrapper: wrapper, zone: zone)
        options.identifies = false
        options.reportsUntimedLines = false
        options.unrecognisedLimit = 0
        return options
    }
}

/// An option with an invalid value.
package struct InvalidOption: Error, CustomStringConvertible {
    /// What was expected and what was found.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// A time zone that is unknown, as a sentence for the operator.
package struct UnknownZone: Error, Sendable, CustomStringConvertible {
    /// What was expected, what was found and what may have been meant.
    package let description: String
}

extension ZoneOffsets {
    /// The years (2000 to 2050) whose transitions are looked up; outside them the nearest offset applies.
    private static let years: Range<Int64> = 946_684_800..<2_556_144_000

    /// The sampling step in seconds; two transitions are never closer.
    private static let step: Int64 = 3 * 86_400

    /// A zone by its name in the time zone database (`Europe/Berlin`), or an offset (`+02:00`, `-0330`, `+2`, `UTC`).
    ///
    /// Transitions are known from 2000 to 2050.
    package init(named name: String) throws(UnknownZone) {
        if let fixed = Self.fixedOffset(name) {
            self.init(fixed: fixed)
        } else if let zone = TimeZone(identifier: name) {
            self.init(zone)
        } else {
            throw UnknownZone(
                description: "expected a time zone such as Europe/Berlin or +02:00, found \"\(name.prefix(80))\""
                    + (Self.suggestion(for: name).map { "; did you mean \($0)?" } ?? "")
            )
        }
    }

    /// The zone of the machine.
    package static var machine: ZoneOffsets { ZoneOffsets(TimeZone.current) }

    private init(_ zone: TimeZone) {
        func offset(_ second: Int64) -> Int32 {
            Int32(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))))
        }
        let before = offset(Self.years.lowerBound)
        var transitions: [(utcSeconds: Int64, offset: Int32)] = []
        var last = before
        for next in stride(from: Self.years.lowerBound + Self.step, to: Self.years.upperBound, by: Int(Self.step)) {
            let there = offset(next)
            guard there != last else { continue }
            var range = next - Self.step..<next
            while range.count > 1 {
                let middle = (range.lowerBound + range.upperBound) / 2
                range = offset(middle) == last ? middle..<range.upperBound : range.lowerBound..<middle
            }
            transitions.append((range.upperBound, there))
            last = there
        }
        self.init(transitions: transitions, before: before)
    }

    /// The seconds of `Z`, `UTC`, `+h`, `±hh`, `±hhmm` or `±hh:mm`; nil for anything else.
    private static func fixedOffset(_ text: String) -> Int32? {
        if ["Z", "UTC", "GMT"].contains(text.uppercased()) { return 0 }
        guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
        let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        let digits = parts.joined()
        let isWellFormed =
            switch (parts.count, digits.utf8.count) {
            case (1, 1...2), (1, 4): true
            case (2, 4): parts[0].utf8.count == 2
            default: false
            }
        guard isWellFormed, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int32(digits) else {
            return nil
        }
        let (hours, minutes) = digits.utf8.count == 4 ? (number / 100, number % 100) : (number, 0)
        guard hours <= 18, minutes <= 59 else { return nil }
        return (hours * 3_600 + minutes * 60) * (sign == "-" ? -1 : 1)
    }

    /// The known name that is nearest by edit distance; nil when none is near.
    private static func suggestion(for name: String) -> String? {
        let given = Array(name.lowercased().replacing(" ", with: "_").utf8.prefix(NearestName.maximumLength))
        guard given.count >= 3 else { return nil }
        let candidates = TimeZone.knownTimeZoneIdentifiers.map { known in
            let whole = Array(known.lowercased().utf8)
            let city = whole.lastIndex(of: UInt8(ascii: "/")).map { Array(whole[($0 + 1)...]) } ?? whole
            return (known, min(NearestName.distance(given, whole), NearestName.distance(given, city)))
        }
        guard let (nearest, distance) = candidates.min(by: { ($0.1, $0.0) < ($1.1, $1.0) }) else { return nil }
        return distance <= max(1, given.count / 3) ? nearest : nil
    }
}
