// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import NIOCore

/// `POST /-/reload`: what a SIGHUP does, and tells what came of it.
struct ReloadRoute: Sendable {
    let reloader: Reloader

    func respond() throws -> Response {
        switch reloader.reload() {
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
}

extension Problem {
    fileprivate static func unusableConfiguration(_ problems: ConfigurationProblems) -> Problem {
        let first = problems.problems.first.map { "\($0)" } ?? ""
        return Problem(
            status: .unprocessableContent,
            type: "configuration",
            title: "The configuration stays as it was",
            detail: "What was read has \(problems.problems.count) problems; the first: \(first)"
        )
    }
}
