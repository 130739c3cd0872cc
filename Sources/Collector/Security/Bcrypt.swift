// SPDX-License-Identifier: Apache-2.0

internal import CCrypt
internal import Glibc

/// Checks a password against a bcrypt hash with libcrypt (crypt_rn(3)).
///
/// The work is bounded by the hash's cost (``BcryptHash/costs``), the memory is one `struct crypt_data` of 32 KiB.
enum Bcrypt {
    /// The longest password that is looked at; bcrypt itself takes no notice of what stands behind 72 bytes.
    static let maximumPassword = 512

    /// Whether the password is the hash's; takes equally long for each wrong one.
    ///
    /// A password with a zero byte is nobody's, since libcrypt would see its beginning only.
    static func verify(_ password: [UInt8], _ hash: BcryptHash) -> Bool {
        let isUsable = password.count <= maximumPassword && !password.contains(0)
        let phrase = (isUsable ? password : []) + [0]
        let setting = hash.text + [0]
        var area = [UInt64](repeating: 0, count: MemoryLayout<crypt_data>.size / 8 + 1)
        let isEqual = unsafe area.withUnsafeMutableBytes { data -> Bool in
            defer { unsafe data.initializeMemory(as: UInt8.self, repeating: 0) }
            let computed = unsafe phrase.withUnsafeBytes { phrase in
                unsafe setting.withUnsafeBytes { setting in
                    unsafe crypt_rn(
                        phrase.baseAddress?.assumingMemoryBound(to: CChar.self),
                        setting.baseAddress?.assumingMemoryBound(to: CChar.self),
                        data.baseAddress,
                        Int32(data.count)
                    )
                }
            }
            guard let computed = unsafe computed, unsafe strnlen(computed, data.count) == hash.text.count else {
                return false
            }
            let digest = hash.text.count - BcryptHash.digestLength
            var difference: UInt8 = 0
            for index in digest..<hash.text.count {
                difference |= unsafe UInt8(bitPattern: computed[index]) ^ hash.text[index]
            }
            return difference == 0
        }
        return isEqual && isUsable
    }
}
