// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An error number of the operating system.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number, as in errno(3).
    public let code: Int32

    /// An error of the given number; a negative one, as libsystemd returns it, is turned around.
    public init(code: Int32) {
        self.code = code.magnitude > UInt32(Int32.max) ? EINVAL : abs(code)
    }

    /// The calling thread's last error.
    static var last: SystemError { SystemError(code: errno) }

    /// The system's words for it, with the number.
    public var description: String {
        var text = [CChar](repeating: 0, count: 128)
        let found = unsafe text.withUnsafeMutableBufferPointer { buffer -> Bool in
            guard let base = buffer.baseAddress else { return false }
            return unsafe strerror_r(code, base, buffer.count) == 0
        }
        guard found else { return "error \(code)" }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return "\(String(decoding: bytes, as: UTF8.self)) (\(code))"
    }
}
