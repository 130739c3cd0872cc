// SPDX-License-Identifier: Apache-2.0

internal import CCrypt
internal import Crypto
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Checks passwords on threads of its own, few at once, so that guessing takes no processor from the rest.
final class PasswordCheck: Sendable {
    /// How many checks may run or wait at once; more are refused.
    static let maximumWaiting = 32

    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: max(1, System.coreCount / 2))
        threads.start()
        return threads
    }()

    private let verified = Mutex(VerifiedPasswords())
    private let waiting = Atomic(0)

    /// Whether the password is the user's; nil when too many checks wait. An unknown user takes as long as a known one.
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

/// The passwords that were found right, as hashes under a key of this process, so that each costs one check.
///
/// A hash covers the user's hash too: once that is changed, the password has to be checked again.
struct VerifiedPasswords {
    /// How many are kept; then it begins anew.
    static let capacity = 1_024

    /// What stands for a user, the hash of the password in the configuration and the password shown.
    struct Entry: Hashable {
        fileprivate let code: [UInt8]
    }

    private let key = SymmetricKey(size: .bits256)
    private var entries: Set<Entry> = []

    var count: Int { entries.count }

    func entry(user: [UInt8], _ hash: BcryptHash, password: [UInt8]) -> Entry {
        var authentication = HMAC<SHA256>(key: key)
        for part in [user, hash.text, password] {
            authentication.update(data: unsafe withUnsafeBytes(of: UInt64(part.count)) { unsafe Array($0) })
            authentication.update(data: part)
        }
        return Entry(code: Array(authentication.finalize()))
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

/// A bcrypt hash as it is written: `$2y$10$`, 22 characters of salt and 31 of hash (crypt(5)).
struct BcryptHash: Hashable, Sendable {
    /// What is wrong with a hash; never the hash itself.
    enum Flaw: Error, Equatable {
        case notBcrypt
        case cost(Int)
    }

    /// 2 to the power of the cost is the work of one check; at 14 it takes about a second.
    static let costs = 4...14

    /// The whole text, ASCII, 60 bytes.
    let text: [UInt8]
    let cost: Int

    /// The part that depends on the password.
    static let digestLength = 31

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

    /// A hash that no password is known for, to do the work of a check where there is no user.
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
