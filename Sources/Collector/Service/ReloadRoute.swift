// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Hummingbird
internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import TelemetryEvents

/// `POST /-/reload`: what a SIGHUP does, and tells what came of it.
final class ReloadRoute: Sendable {
    private let reloader: Reloader
    private let turns = Mutex(ReloadTurns())

    init(reloader: Reloader) {
        self.reloader = reloader
    }

    func respond() async throws -> Response {
        if case .wait(let pause) = turns.withLock({ $0.ask(at: LedgerClock.system.monotonic()) }) {
            throw Problem.reloadedJustNow(pause)
        }
        defer { turns.withLock { $0.ended() } }
        // Files are read on a thread that may wait for them.
        switch try await NIOThreadPool.singleton.runIfActive({ self.reloader.reload() }) {
        case .applied(let changed, let waiting):
            var body = JSONWriter()
            body.object { body in
                for (name, settings) in [("changed", changed), ("needsRestart", waiting)] {
                    body.name(name)
                    body.array { list in for setting in settings { list.value(setting) } }
                }
            }
            return Response(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(bytes: body.bytes + Array("\n".utf8)))
            )
        case .refused(let problems): throw Problem.unusableConfiguration(problems)
        }
    }
}

extension Problem {
    fileprivate static func unusableConfiguration(_ problems: ConfigurationProblems) -> Problem {
        let first = problems.problems.first.map { "\($0)" } ?? ""
        var list = JSONWriter()
        list.array { list in for problem in problems.problems { list.value("\(problem)") } }
        return Problem(
            status: .unprocessableContent,
            type: "configuration",
            title: "The configuration stays as it was",
            detail: "What was read has \(problems.problems.count) problems; the first: \(first)",
            members: #","problems":"# + String(decoding: list.bytes, as: UTF8.self)
        )
    }

    fileprivate static func reloadedJustNow(_ pause: Duration) -> Problem {
        Problem(
            status: .tooManyRequests,
            type: "reloaded-just-now",
            title: "Read just now",
            detail: "The configuration was read within the last second, or is being read. Try again.",
            retryAfter: RetryHint.jittered(pause)
        )
    }
}
