// SPDX-License-Identifier: Apache-2.0

/// A time as options write it, in the words of the settings: `250ms`, `10s`, `5m`, `2h`, `7d`.
package struct TimeSpan: Hashable, Sendable, CustomStringConvertible {
    /// The longest.
    static let longest = Duration.seconds(366 * 86_400)

    /// How long it is.
    package let duration: Duration

    /// - Parameter duration: in whole milliseconds.
    package init(_ duration: Duration) {
        self.duration = duration
    }

    /// Nil for a text that is no time.
    package init?(_ text: String) {
        guard let duration = try? SettingText.duration(text, .zero...Self.longest) else { return nil }
        self.duration = duration
    }

    /// In the largest unit that leaves a whole number.
    package var description: String { SettingText.shown(duration) }
}
