// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Hummingbird
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// `POST /-/reload`: what a SIGHUP does, and tells what came of it.
final class ReloadRoute: Sendable {
    private struct State {
        var turns = ReloadTurns()
        var current: Task<Reloader.Outcome, any Error>?
    }

    private let reloader: Reloader
    private let state = Mutex(State())

    init(reloader: Reloader) {
        self.reloader = reloader
    }

    func respond() async throws -> Response {
        switch try await turn().value {
        case .applied(let changed, let waiting):
            var body = JSONText()
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

    /// The reload that this request has a part in; files are read on a thread that may wait for them.
    private func turn() throws(Problem) -> Task<Reloader.Outcome, any Error> {
        let (turn, current) = state.withLock { state in
            let turn = state.turns.ask(at: LedgerClock.system.monotonic())
            if turn == .begin {
                state.current = Task {
                    defer { self.state.withLock { $0.turns.ended() } }
                    return try await NIOThreadPool.singleton.runIfActive { self.reloader.reload() }
                }
            }
            return (turn, state.current)
        }
        if case .wait(let pause) = turn { throw .reloadedJustNow(pause) }
        guard let current else { throw .reloadedJustNow(.seconds(1)) }
        return current
    }
}

extension Problem {
    fileprivate static func unusableConfiguration(_ problems: ConfigurationProblems) -> Problem {
        let first = problems.problems.first.map { "\($0)" } ?? ""
        var list = JSONText()
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
            detail: "The configuration was read within the last second. Try again.",
            retryAfter: RetryHint.jittered(pause)
        )
    }
}
