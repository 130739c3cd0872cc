// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization
import Testing

/// The bytes of a response's body, and the body as JSON.
struct ResponseBytes {
    let bytes: [UInt8]

    init(_ response: Response) async throws {
        let collected = CollectedBody()
        try await response.body.write(collected)
        bytes = collected.bytes
    }

    /// The body's members, as Foundation reads them.
    func object(sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: Any] {
        let json = try JSONSerialization.jsonObject(with: Data(bytes))
        return try #require(json as? [String: Any], sourceLocation: sourceLocation)
    }
}

/// Keeps what a body writes.
private final class CollectedBody: ResponseBodyWriter, Sendable {
    private let written = Mutex<[UInt8]>([])

    var bytes: [UInt8] { written.withLock { $0 } }

    func write(_ buffer: ByteBuffer) async throws {
        written.withLock { $0.append(contentsOf: buffer.readableBytesView) }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
