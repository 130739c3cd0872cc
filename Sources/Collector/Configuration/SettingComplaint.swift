// SPDX-License-Identifier: Apache-2.0

/// What is wrong with the text of a setting, without where it stands.
struct SettingComplaint: Error, Hashable, Sendable {
    /// What was expected and what was found.
    var message: String
    /// Which value of a list.
    var index = 0

    init(_ message: String) {
        self.message = message
    }

    /// - Parameters:
    ///   - expected: what would be right, as in "a port from 0 to 65535".
    ///   - found: the text.
    init(expected: String, found: String) {
        self.init("expected \(expected), found \(found.isEmpty ? "nothing" : "\"\(found.prefix(200))\"")")
    }
}
