// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import NIOPosix
internal import Synchronization
internal import TelemetryEvents

/// Answers of the console's API: JSON with an `ETag`, or 304 where the client has it (RFC 9110, 8.8.3 and 13.1.2).
enum APIAnswer {
    /// - Parameters:
    ///   - tag: what the answer depends on; nil for its bytes.
    static func json(_ json: JSONWriter, to request: Request, tag: [UInt8]? = nil) -> Response {
        let bytes = json.asLine()
        return ConditionalResponse(
            contentType: "application/json",
            bytes: bytes,
            hash: String(hash(tag ?? bytes), radix: 36)
        ).response(to: request)
    }

    /// FNV-1a. It tells versions of one answer apart, nothing more.
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

/// The threads on which the console's answers are made that read the ledger, so that they hold up no other request.
enum ConsoleThreads {
    /// The most answers that are made or wait to be made.
    private static let maximumWaiting = 32
    private static let waiting = Atomic(0)

    /// Never shut down: they serve until the process exits.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        return threads
    }()

    /// Runs the work on one of the threads.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let count = waiting.add(1, ordering: .relaxed).newValue
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard count <= maximumWaiting else { throw Problem.consoleBusy }
        return try await threads.runIfActive(work)
    }
}

extension Problem {
    static var consoleBusy: Problem {
        Problem(
            status: .serviceUnavailable,
            type: "console-busy",
            title: "Too many requests to the console",
            detail: "Too many answers of the console are being made. Try again.",
            retryAfter: RetryHint.jittered(.seconds(1))
        )
    }

    static var consoleStarting: Problem {
        Problem(
            status: .serviceUnavailable,
            type: "console-starting",
            title: "The console has no data yet",
            detail: "The service has just started. Try again.",
            retryAfter: 1
        )
    }
}
