// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to one of the three, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import EventLedger
internal import Glibc
package import Logging
internal import TextOutput

/// Where the service's own log goes: standard error, in one of the forms.
///
/// Where that is the journal, each line begins with its priority (sd-daemon(3)), and has no time, which journald adds.
package struct LogOutput: Sendable {
    private let format: LogFormat
    private let isJournal: Bool

    /// - Parameter environment: of the process; names the journal's stream in `JOURNAL_STREAM`.
    package init(_ format: LogFormat, environment: [String: String]) {
        self.format = format
        isJournal = Self.isJournal(STDERR_FILENO, environment["JOURNAL_STREAM"])
    }

    init(_ format: LogFormat, isJournal: Bool) {
        self.format = format
        self.isJournal = isJournal
    }

    /// Whether lines are for people, as the start screen is.
    package var isForPeople: Bool { format == .text }

    /// A handler that writes here.
    package func handler() -> any LogHandler { Handler(output: self) }

    /// Writes why the service could not start or go on.
    package func fail(_ sentences: [String]) {
        if isForPeople, !isJournal {
            write("Error: " + sentences.joined(separator: "\n       ") + "\n")
        } else {
            write(sentences.map { line(.error, $0, [:]) }.joined())
        }
    }

    /// A line with its end, after the priority where the journal reads it.
    func line(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> String {
        let line = LogLine(level, message, metadata, time: isJournal ? nil : LedgerClock.system.now())
        return (isJournal ? "<\(Self.priority(level))>" : "") + line.text(format, hasLevel: !isJournal) + "\n"
    }

    /// In one write, so that lines of several threads do not mix.
    private func write(_ text: String) {
        _ = FileOutput.write(Array(text.utf8), to: STDERR_FILENO)
    }

    /// The priority of syslog (RFC 5424, 6.2.1).
    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }

    /// Whether a descriptor is the stream to the journal that the service manager has named by device and inode
    /// (systemd.exec(5)); it may have been redirected since.
    private static func isJournal(_ descriptor: Int32, _ named: String?) -> Bool {
        var status = stat()
        guard let named, unsafe fstat(descriptor, &status) == 0 else { return false }
        return named == "\(status.st_dev):\(status.st_ino)"
    }

    private struct Handler: LogHandler {
        let output: LogOutput
        var logLevel = Logger.Level.info
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            var all = metadata.merging(event.metadata ?? [:]) { $1 }
            if let error = event.error { all["error"] = "\(error)" }
            output.write(output.line(event.level, "\(event.message)", all))
        }
    }
}
