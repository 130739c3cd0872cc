// SPDX-License-Identifier: Apache-2.0

/// One thing that is wrong with the configuration, and where.
package struct ConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where a value was told.
    package enum Origin: Hashable, Sendable, CustomStringConvertible {
        /// An option, by its name with dashes.
        case option(String)
        /// A variable of the environment, by its name.
        case environment(String)
        /// A file, with the line counted from 1 where one is known.
        case file(String, line: Int?)

        /// The option, the variable, or `file:line`.
        package var description: String {
            switch self {
            case .option(let name), .environment(let name): name
            case .file(let path, let line?): "\(path):\(line)"
            case .file(let path, nil): path
            }
        }
    }

    /// Where.
    package var origin: Origin
    /// What was expected, what was found and what may have been meant.
    package var message: String

    /// A problem at a place.
    package init(_ origin: Origin, _ message: String) {
        self.origin = origin
        self.message = message
    }

    /// `origin: message`.
    package var description: String { "\(origin): \(message)" }
}

/// All that is wrong with the configuration.
package struct ConfigurationProblems: Error, Hashable, Sendable, CustomStringConvertible {
    /// Never empty; in the order in which a reader meets them.
    package var problems: [ConfigurationProblem]

    /// One problem a line.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Why the service cannot start: one sentence for the operator.
package struct CollectorError: Error, Sendable, CustomStringConvertible {
    /// What was expected, what was found and what to do.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
