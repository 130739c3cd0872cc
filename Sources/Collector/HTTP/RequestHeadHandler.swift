// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1
internal import TextOutput

/// Refuses heads that break a rule of HTTP/1.1 which the parser leaves to the server, and turns what else may come into
/// requests of HTTP/1.1.
///
/// A request of HTTP/1.0 becomes one of HTTP/1.1 with `Connection: close` and without `Expect`, which HTTP/1.0 does not
/// have (RFC 9110, 10.1.1). An upgrade is ignored, but the parser takes no request after one, so the connection closes.
final class RequestHeadHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Whether a head was refused, after which nothing of the connection is passed on.
    private var hasRefused = false

    /// Adds it before the codec, where the version of a request and all its fields are still known.
    func add(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
        try pipeline.addHandler(self, position: .before(codec))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if hasRefused { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let fields: RequestHeadFields
        do throws(RequestHeadFault) {
            fields = try RequestHeadFields(head)
        } catch {
            hasRefused = true
            context.fireErrorCaught(error)
            return
        }
        guard head.version != .http1_1 || fields.asksForUpgrade else { return context.fireChannelRead(data) }
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        if head.version != .http1_1 { head.headers.remove(name: "Expect") }
        head.version = .http1_1
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}

/// Why a head is refused before anything of its request is read.
enum RequestHeadFault: Error, CaseIterable {
    /// No `Host` where one is needed, several, or one that is no host (RFC 9112, 3.2).
    case host
    /// A `Content-Length` that no body can have.
    case contentLength
    /// A transfer coding other than `chunked` (RFC 9112, 6.1).
    case transferCoding
    /// Fields that leave the end of the body open (RFC 9112, 6.3).
    case framing
}

/// What a head says about its host and its body.
struct RequestHeadFields {
    private(set) var asksForUpgrade: Bool

    /// Checks the fields of a head that the parser has accepted: it has at most one `Content-Length`, of digits, and not
    /// both that and a `Transfer-Encoding`.
    init(_ head: HTTPRequestHead) throws(RequestHeadFault) {
        asksForUpgrade = head.method == .CONNECT
        var hosts = 0
        var codings: [String]?
        for (name, value) in head.headers {
            switch name.utf8.count {
            case 4 where name.lowercased() == "host":
                hosts += 1
                guard hosts == 1, Self.isHost(value.trimmed) else { throw .host }
            case 7 where name.lowercased() == "upgrade":
                asksForUpgrade = true
            case 14 where name.lowercased() == "content-length":
                guard Int(value.trimmed) != nil else { throw .contentLength }
            case 17 where name.lowercased() == "transfer-encoding":
                codings = (codings ?? []) + value.split(separator: ",").map(\.trimmed).filter { !$0.isEmpty }
            default: break
            }
        }
        guard hosts == 1 || head.version != .http1_1 else { throw .host }
        guard let codings else { return }
        guard codings.allSatisfy({ $0.lowercased() == "chunked" }) else { throw .transferCoding }
        // HTTP/1.0 has no transfer codings, and nothing is chunked twice.
        guard codings.count == 1, head.version == .http1_1 else { throw .framing }
    }

    /// Whether a value is a host with or without a port, by its characters (RFC 3986, 3.2); empty where the target has
    /// no host.
    static func isHost(_ value: String) -> Bool {
        var rest = value.utf8[...]
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = rest[rest.index(after: rest.startIndex)..<end]
            guard !address.isEmpty, address.allSatisfy({ $0 == UInt8(ascii: ":") || isNameByte($0) }) else {
                return false
            }
            rest = rest[rest.index(after: end)...]
        } else {
            rest = rest.drop { isNameByte($0) }
        }
        guard let colon = rest.popFirst() else { return true }
        return colon == UInt8(ascii: ":") && rest.count <= 5 && rest.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Whether a byte may stand in a registered name: unreserved, a sub-delimiter, or a percent sign.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~%!$&'()*+,;=".utf8.contains(byte)
        }
    }
}

/// The line that a request of an unknown method begins with, which the parser gives up at.
struct UnknownMethodLine {
    /// The longest method and target that are read, in bytes.
    private static let longestMethod = 32
    private static let longestTarget = 1_024

    /// What the request asks for.
    let target: Substring

    /// Nil for anything but `METHOD target HTTP/1.x` and a line's end.
    init?(_ bytes: ByteBuffer) {
        let line = bytes.readableBytesView.prefix(Self.longestMethod + Self.longestTarget + 16)
        guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        var text = Substring(decoding: line[..<end], as: UTF8.self)
        if text.last == "\r" { text.removeLast() }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0",
            (1...Self.longestMethod).contains(parts[0].utf8.count),
            parts[0].utf8.allSatisfy({ (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D }),
            parts[1].first == "/"
        else { return nil }
        target = parts[1]
    }
}

/// The limits of a request's head.
enum RequestHeadLimits {
    /// Names and values of all fields together, and the request's target.
    static let bytes = 64 << 10
    static let fields = 200
}

extension Problem {
    init(_ fault: RequestHeadFault) {
        switch fault {
        case .host:
            self.init(
                status: .badRequest,
                type: "host",
                title: "Host missing or wrong",
                detail: "Expected one Host with the name and port that the request was sent to, as HTTP/1.1 has it "
                    + "(RFC 9112, 3.2), found none, several, or something else."
            )
        case .contentLength: self = .bodyTooLarge
        case .transferCoding:
            self.init(
                status: .notImplemented,
                type: "transfer-coding",
                title: "Unknown transfer coding",
                detail: "Expected Transfer-Encoding chunked or none, found another one; to compress the body use "
                    + "Content-Encoding gzip."
            )
        case .framing:
            self.init(
                status: .badRequest,
                type: "unreadable-request",
                title: "Unreadable request",
                detail: "Expected a body with one Content-Length, or chunked once by HTTP/1.1, found fields that leave "
                    + "its end open. Nothing of it was stored."
            )
        }
    }

    /// The answer to another version than HTTP/1.1 and HTTP/1.0.
    static let unsupportedVersion = Problem(
        status: .httpVersionNotSupported,
        type: "version",
        title: "HTTP version not supported",
        detail: "Expected HTTP/1.1 or HTTP/1.0, found another version."
    )
}
