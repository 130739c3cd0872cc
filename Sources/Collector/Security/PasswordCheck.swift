// SPDX-License-Identifier: Apache-2.0

internal import CCrypt
internal import Glibc
internal import Hashing
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Checks passwords on a few threads of its own, so that guessing passwords can't starve the service of CPU.
final class PasswordCheck: Sendable {
    /// The checks that may run or wait at once; more are refused.
    static let maximumWaiting = 32

    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: max(1, System.coreCount / 2))
        threads.start()
        return threads
    }()

    private let verified = Mutex(VerifiedPasswords())
    private let waiting = Atomic(0)

    /// Whether the password is the user's; nil if too many checks wait. An unknown user takes as long as a known one.
    func verify(user: [UInt8], password: [UInt8], _ web: WebConfiguration) async -> Bool? {
        let known = String(validating: user, as: UTF8.self).flatMap { web.users[$0] }
        let hash = known ?? web.nobody
        let entry = verified.withLock { $0.entry(user: user, hash, password: password) }
        if known != nil, verified.withLock({ $0.contains(entry) }) { return true }
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= Self.maximumWaiting else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return nil
        }
        defer { waiting.wrappingSubtract(1, ordering: .relaxed) }
        let isRight = (try? await Self.threads.runIfActive { Bcrypt.verify(password, hash) }) ?? false
        guard isRight, known != nil else { return false }
        verified.withLock { $0.insert(entry) }
        return true
    }
}

/// A cache of correct passwords, as hashes keyed by this process, so that each password costs one bcrypt check.
///
/// An entry covers the user's bcrypt hash: when that changes, the password is checked again.
struct VerifiedPasswords {
    /// The cache is emptied when it holds this many entries.
    static let capacity = 1_024

    /// The keyed hash of a user, the configured bcrypt hash and the password.
    struct Entry: Hashable {
        fileprivate let code: SHA256Digest
    }

    private let key = KeyedHash256(key: KeyedHash256.randomKey())
    private var entries: Set<Entry> = []

    var count: Int { entries.count }

    func entry(user: [UInt8], _ hash: BcryptHash, password: [UInt8]) -> Entry {
        var message: [UInt8] = []
        for part in [user, hash.text, password] {
            message += unsafe withUnsafeBytes(of: UInt64(part.count)) { unsafe Array($0) }
            message += part
        }
        return Entry(code: key.code(of: message))
    }

    func contains(_ entry: Entry) -> Bool { entries.contains(entry) }

    mutating func insert(_ entry: Entry) {
        if entries.count >= Self.capacity { entries = [] }
        entries.insert(entry)
    }
}

/// Checks a password against a bcrypt hash with libcrypt (crypt_rn(3)).
///
/// The work is bounded by the hash's cost (``BcryptHash/costs``), the memory is one `struct crypt_data` of 32 KiB.
enum Bcrypt {
    /// Longer passwords are wrong; in bytes. Bcrypt itself ignores what follows the first 72 bytes.
    static let maximumPassword = 512

    /// Whether the password has the hash, in the same time for each wrong password.
    ///
    /// A password with a zero byte is wrong, since libcrypt would see only what precedes that byte.
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

/// A bcrypt hash in its text form: `$2y$10$`, 22 characters of salt and 31 of digest (crypt(5)).
struct BcryptHash: Hashable, Sendable {
    /// Why a text is no usable hash, without the text.
    enum Flaw: Error, Equatable {
        case notBcrypt
        case cost(Int)
    }

    /// A check takes 2 to the power of the cost rounds; cost 14 takes about a second.
    static let costs = 4...14

    /// The text form: 60 ASCII bytes.
    let text: [UInt8]
    let cost: Int

    /// The length of the digest at the end of ``text``.
    fileprivate static let digestLength = 31

    init(_ string: some StringProtocol) throws(Flaw) {
        let bytes = Array(string.utf8)
        guard bytes.count == 60, bytes[0] == UInt8(ascii: "$"), bytes[1] == UInt8(ascii: "2"),
            [UInt8(ascii: "a"), UInt8(ascii: "b"), UInt8(ascii: "y")].contains(bytes[2]), bytes[3] == UInt8(ascii: "$"),
            bytes[6] == UInt8(ascii: "$"), bytes[7...].allSatisfy(Self.isDigit),
            let tens = Self.decimal(bytes[4]), let ones = Self.decimal(bytes[5])
        else { throw .notBcrypt }
        cost = tens * 10 + ones
        guard Self.costs.contains(cost) else { throw .cost(cost) }
        text = bytes
    }

    /// A random hash, for checks of unknown users that take as long as others.
    init(ofNobodyAtCost cost: Int) {
        self.cost = min(max(cost, Self.costs.lowerBound), Self.costs.upperBound)
        let salt = (0..<22).map { _ in Self.digits[Int.random(in: 0..<64)] }
        let digest = (0..<Self.digestLength).map { _ in Self.digits[Int.random(in: 0..<64)] }
        text = Array("$2y$\(self.cost < 10 ? "0" : "")\(self.cost)$".utf8) + salt + digest
    }

    private static let digits = Array("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ".")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    private static func decimal(_ byte: UInt8) -> Int? {
        (0x30...0x39).contains(byte) ? Int(byte) - 0x30 : nil
    }
}
