// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import LedgerState
internal import NIOCore
internal import TelemetryEvents

/// `POST /api/v1/pseudonym`: the pseudonym of an installation's id, as ingest makes it.
///
/// The id comes in a body, so that it gets into no log of a proxy and no history of a browser. It is kept nowhere.
struct PseudonymRoute: Sendable {
    private static let maximumBody = 4_096
    /// As of `installationId` in an event, in bytes.
    private static let lengths = 1...256

    let key: InstallationKey

    func respond(to request: Request) async throws -> Response {
        var body: [UInt8] = []
        for try await part in request.body {
            guard body.count + part.readableBytes <= Self.maximumBody else { throw Problem.longId }
            body.append(contentsOf: part.readableBytesView)
        }
        guard
            let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any], object.count == 1,
            let id = object["installation"] as? String, Self.lengths.contains(id.utf8.count)
        else { throw Problem.noId }
        var json = JSONWriter()
        json.object { json in
            json.name("installation")
            json.value(key.pseudonym(of: Array(id.utf8).span).hexadecimal)
        }
        let bytes = json.asLine()
        return Response(
            status: .ok,
            headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }
}

extension Problem {
    fileprivate static let longId = Problem(
        status: .contentTooLarge,
        type: "body-too-large",
        title: "Body too large",
        detail: "Expected at most 4 KiB."
    )

    fileprivate static let noId = Problem(
        status: .badRequest,
        type: "installation-id",
        title: "Unusable installation",
        detail: #"Expected {"installation":"..."} with an id of 1 to 256 bytes and nothing else."#
    )
}
