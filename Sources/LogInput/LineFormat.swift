// SPDX-License-Identifier: Apache-2.0

package import TelemetryEvents
internal import TextOutput

/// The form of a log's lines and the zone of their stamps, where the lines themselves say neither.
package struct LineFormat: Sendable {
    /// The accepted names of a form.
    package static let names = LogWrapper.allCases.map(\.rawValue)

    /// The form; nil: detected line by line.
    package let wrapper: LogWrapper?
    /// The zone of stamps that name none.
    package let zone: ZoneOffsets

    /// - Parameters:
    ///   - name: one of `names`; nil: detected line by line.
    ///   - timezone: the zone of stamps that name none, as in "Europe/Berlin"; nil: the machine's.
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

    /// How a decoder reads such lines: no identities, and no account of unrecognised lines.
    package var decoderOptions: LogDecoderOptions {
        var options = LogDecoderOptions(wrapper: wrapper, zone: zone)
        options.identifies = false
        options.reportsUntimedLines = false
        options.unrecognisedLimit = 0
        return options
    }
}

/// An option whose value is not valid.
package struct InvalidOption: Error, CustomStringConvertible {
    /// What was expected and what was found.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
