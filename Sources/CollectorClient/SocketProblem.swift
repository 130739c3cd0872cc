// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import NIOCore
internal import TextOutput

extension Unreachable {
    /// What was found at the path of a Unix socket that cannot be talked to; nil where the error says enough.
    init?(atSocket path: String, _ error: any Error) {
        let shown = PlainText.line(path)
        if error is LineSocketDetector.Found {
            self.init(
                reason:
                    "a line socket answers there, which takes lines and no HTTP; name the socket of HTTP, or write the "
                    + "lines to it with nc -UN \(shown)",
                isFinal: true
            )
            return
        }
        guard let code = (error as? IOError)?.errnoCode, code == ENOENT || code == ENOTDIR || code == ECONNREFUSED
        else {
            return nil
        }
        let type = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
        switch type {
        case .typeSocket?:
            self.init(reason: "connection refused: nothing listens at the socket; is the service that made it running?")
        case nil:
            let directory = (path as NSString).deletingLastPathComponent
            let isThere = FileManager.default.fileExists(atPath: directory)
            self.init(
                reason: "there is no such socket"
                    + (isThere ? "; does the service listen there?" : ", and no directory \(PlainText.line(directory))")
            )
        case .typeSymbolicLink?: return nil
        case .typeDirectory?: self.init(reason: "it is a directory and no socket; name a socket in it", isFinal: true)
        default: self.init(reason: "it is a file and no socket", isFinal: true)
        }
    }
}

/// Notices that what answers on a Unix socket is a line socket, whose answers begin with a word of its own
/// (docs/line-socket.md).
final class LineSocketDetector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    struct Found: Error {}

    private static let beginnings = ["ok ", "rejected ", "note "]
    private var hasLooked = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if !hasLooked {
            hasLooked = true
            if Self.beginnings.contains(where: { bytes.readableBytesView.starts(with: $0.utf8) }) {
                return context.fireErrorCaught(Found())
            }
        }
        context.fireChannelRead(data)
    }
}
