// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemPrimitives

/// An error of the operating system or of libsystemd.
///
/// Public, and so apart from the package's own `ErrorNumber`, which writes its text.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number, as in errno(3).
    public let code: Int32

    /// An error of the given number, or of a negated one, as libsystemd returns it.
    public init(code: Int32) {
        self.code = code.magnitude > UInt32(Int32.max) ? EINVAL : abs(code)
    }

    /// The calling thread's last error.
    static var last: SystemError { SystemError(code: errno) }

    /// The system's text for it, with the number.
    public var description: String { ErrorNumber(code).description }
}
