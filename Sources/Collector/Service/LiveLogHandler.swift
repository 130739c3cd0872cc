// SPDX-License-Identifier: Apache-2.0

package import Logging
internal import Synchronization

/// A log handler whose level can change while it is used.
package struct LiveLogHandler: LogHandler {
    /// The lowest level of every logger that was made with it.
    package final class Level: Sendable {
        private let held: Atomic<Int>

        /// Starts with a level.
        package init(_ level: Logger.Level) {
            held = Atomic(Self.number(level))
        }

        /// The level of this moment.
        package var current: Logger.Level { Logger.Level.allCases[held.load(ordering: .relaxed)] }

        /// Changes it.
        package func change(to level: Logger.Level) { held.store(Self.number(level), ordering: .relaxed) }

        private static func number(_ level: Logger.Level) -> Int {
            Logger.Level.allCases.firstIndex(of: level) ?? 0
        }
    }

    private let level: Level
    private var own: Logger.Level?
    private var upstream: any LogHandler

    /// - Parameters:
    ///   - upstream: the handler that writes.
    ///   - level: the shared level.
    package init(_ upstream: any LogHandler, level: Level) {
        self.level = level
        self.upstream = upstream
        self.upstream.logLevel = .trace
    }

    /// The level of this moment, unless this copy was given one of its own.
    package var logLevel: Logger.Level {
        get { own ?? level.current }
        set { own = newValue }
    }

    /// The metadata of every message.
    package var metadata: Logger.Metadata {
        get { upstream.metadata }
        set { upstream.metadata = newValue }
    }

    /// One value of the metadata.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { upstream[metadataKey: key] }
        set { upstream[metadataKey: key] = newValue }
    }

    /// Writes.
    package func log(event: LogEvent) {
        upstream.log(event: event)
    }
}
