// SPDX-License-Identifier: Apache-2.0

internal import TextOutput

/// A problem of the configuration with its origin.
package struct ConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The origin of a value.
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

    /// The origin of the faulty value.
    package var origin: Origin
    /// What was expected, what was found and what may have been meant.
    package var message: String

    /// A problem with its origin.
    package init(_ origin: Origin, _ message: String) {
        self.origin = origin
        self.message = message
    }

    /// `origin: message`, in one line whatever was found.
    package var description: String { PlainText.line("\(origin): \(message)") }
}

extension [ConfigurationProblem] {
    /// In the order of an operator's work: by the lines of the configuration file, then of other files, then the variables
    /// and the options.
    func inOrder(of file: String?) -> [ConfigurationProblem] {
        enumerated().sorted { left, right in
            let (first, second) = (left.element.place(in: file), right.element.place(in: file))
            return (first.rank, first.path, first.line, left.offset) < (
                second.rank, second.path, second.line, right.offset
            )
        }.map(\.element)
    }
}

extension ConfigurationProblem {
    fileprivate func place(in file: String?) -> (rank: Int, path: String, line: Int) {
        switch origin {
        case .file(let path, let line): (path == file ? 0 : 1, path, line ?? 0)
        case .environment(let name): (2, name, 0)
        case .option: (3, "", 0)
        }
    }
}

/// All problems of a configuration.
package struct ConfigurationProblems: Error, Hashable, Sendable, CustomStringConvertible {
    /// Never empty; in the order of lines.
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
