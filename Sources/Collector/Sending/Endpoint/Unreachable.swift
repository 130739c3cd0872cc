// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import Foundation
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// A request that came to no answer.
struct Unreachable: Error, Equatable {
    /// Why, in words.
    let reason: String
    /// Whether trying again changes nothing.
    let isFinal: Bool

    init(reason: String, isFinal: Bool = false) {
        self.reason = reason
        self.isFinal = isFinal
    }

    init(_ error: any Error, timeout: Duration) {
        switch error {
        case let error as HTTPClientError: self.init(error, timeout)
        case is NIOTooManyBytesError:
            self.init(reason: "its answer has no end, so it is no collector", isFinal: true)
        case let error as NIOConnectionError:
            if let code = error.connectionErrors.compactMap({ ($0.error as? IOError)?.errnoCode }).first {
                self.init(errno: code)
            } else {
                self.init(reason: "the name \(PlainText.line(error.host)) has no address")
            }
        case let error as IOError: self.init(errno: error.errnoCode)
        case let error as NIOSSLError where error.isAboutTrust:
            self.init(reason: "its certificate is not trusted; name its authority with --ca", isFinal: true)
        case is NIOSSLExtraError:
            self.init(reason: "its certificate is not for this name; name it in --to as it stands there", isFinal: true)
        case is NIOSSLError: self.init(reason: "TLS failed; is it an https:// address?", isFinal: false)
        default: self.init(reason: PlainText.line("\(error)"))
        }
    }

    private init(_ error: HTTPClientError, _ timeout: Duration) {
        switch error {
        case .deadlineExceeded, .readTimeout, .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
            self.init(reason: "no answer within \(timeout.words)")
        case .remoteConnectionClosed: self.init(reason: "it closed the connection")
        default: self.init(reason: error.shortDescription)
        }
    }

    private init(errno code: Int32) {
        switch code {
        case ECONNREFUSED: self.init(reason: "connection refused")
        case ENOENT: self.init(reason: "there is no such socket")
        case EACCES, EPERM: self.init(reason: "permission to connect is denied", isFinal: true)
        case EPIPE, ECONNRESET: self.init(reason: "it closed the connection")
        default: unsafe self.init(reason: String(cString: strerror(code)))
        }
    }
}

extension NIOSSLError {
    fileprivate var isAboutTrust: Bool {
        if case .handshakeFailed(let error) = self { return "\(error)".contains("CERTIFICATE_VERIFY_FAILED") }
        return self == .unableToValidateCertificate || self == .noCertificateToValidate
    }
}

extension Duration {
    /// A duration as people say it: `250 ms`, `3 s`, `5 min`.
    var words: String {
        let milliseconds = components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
        if milliseconds < 1_000 { return "\(milliseconds) ms" }
        if milliseconds < 60_000 || milliseconds % 60_000 != 0 && milliseconds < 120_000 {
            return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(Double(milliseconds / 100) / 10) s"
        }
        return "\(milliseconds / 60_000) min"
    }
}
