// SPDX-License-Identifier: Apache-2.0

package import Logging
import Synchronization

/// A log that keeps its lines.
package final class LoggedLines: Sendable {
    private struct Handler: LogHandler {
        let lines: LoggedLines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let (level, message) = (event.level, event.message)
            lines.lines.withLock { $0.append("\(level) \(message)") }
        }
    }

    private let lines = Mutex<[String]>([])

    package init() {}

    package var logger: Logger { Logger(label: "tests") { _ in Handler(lines: self) } }
    package var levels: [String] { lines.withLock { $0.map { String($0.prefix { $0 != " " }) } } }
}
