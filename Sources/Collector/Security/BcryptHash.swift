// SPDX-License-Identifier: Apache-2.0

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
