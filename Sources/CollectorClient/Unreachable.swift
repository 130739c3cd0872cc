// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import Foundation
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import TextOutput

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

    /// - Parameter mayWantCertificate: whether the connection is encrypted and no certificate was shown: some collectors
    ///   end it then without a word.
    init(_ error: any Error, timeout: Duration, mayWantCertificate: Bool = false) {
        switch error {
        case let error as HTTPClientError: self.init(error, timeout, mayWantCertificate)
        case is NIOTooManyBytesError:
            self.init(reason: "its answer has no end, so it is no collector", isFinal: true)
        case let error as NIOConnectionError:
            if let code = error.connectionErrors.compactMap({ ($0.error as? IOError)?.errnoCode }).first {
                self.init(errno: code, false)
            } else {
                self.init(reason: "the name \(PlainText.line(error.host)) has no address")
            }
        case let error as IOError: self.init(errno: error.errnoCode, mayWantCertificate)
        case let error as NIOSSLError where error.isAboutTrust:
            self.init(
                reason: "its certificate is not trusted, or its time is over; name its authority with --ca",
                isFinal: true
            )
        case is NIOSSLExtraError:
            self.init(
                reason: "its certificate is for another name; tell the name with --server-name",
                isFinal: true
            )
        case let error as ShownCertificate.Unexpected:
            self.init(reason: "expected \(error.expected) as its certificate, found another one", isFinal: true)
        case is NIOSSLError, is BoringSSLError: self.init(tls: "\(error)")
        default: self.init(reason: PlainText.line("\(error)"))
        }
    }

    private init(_ error: HTTPClientError, _ timeout: Duration, _ mayWantCertificate: Bool) {
        switch error {
        case .deadlineExceeded, .readTimeout, .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
            self.init(reason: "no answer within \(timeout.words)")
        case .remoteConnectionClosed: self = .closed(mayWantCertificate)
        default: self.init(reason: error.shortDescription)
        }
    }

    private init(errno code: Int32, _ mayWantCertificate: Bool) {
        switch code {
        case ECONNREFUSED: self.init(reason: "connection refused")
        case ENOENT: self.init(reason: "there is no such socket")
        case EACCES, EPERM: self.init(reason: "permission to connect is denied", isFinal: true)
        case EPIPE, ECONNRESET: self = .closed(mayWantCertificate)
        default: unsafe self.init(reason: String(cString: strerror(code)))
        }
    }

    private static func closed(_ mayWantCertificate: Bool) -> Unreachable {
        Unreachable(
            reason: "it closed the connection"
                + (mayWantCertificate ? "; does it want a client's certificate (--cert)?" : "")
        )
    }

    /// - Parameter words: BoringSSL's, in which the other side's alert stands.
    private init(tls words: String) {
        if words.contains("ALERT_CERTIFICATE_REQUIRED") {
            self.init(reason: "it wants a client's certificate; show one with --cert and --key", isFinal: true)
        } else if words.contains("ALERT_UNKNOWN_CA") || words.contains("ALERT_BAD_CERTIFICATE")
            || words.contains("ALERT_CERTIFICATE_")
        {
            self.init(reason: "it does not take the client's certificate of --cert", isFinal: true)
        } else {
            self.init(reason: "TLS failed; is it an https:// address?")
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
