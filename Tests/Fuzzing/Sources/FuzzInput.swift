// SPDX-License-Identifier: Apache-2.0

/// What is fuzzed: a function of bytes that returns whatever they are, or ends the process with a finding.
///
/// It keeps nothing from one input to the next that changes what an input gives.
protocol FuzzTarget: SendableMetatype {
    static func check(_ input: [UInt8])
}

/// Ends the run with a finding; libFuzzer then keeps the input.
func finding(_ what: String, _ details: [UInt8]...) -> Never {
    fatalError(details.reduce("finding: \(what)") { "\($0)\n    \(String(decoding: $1, as: UTF8.self))" })
}

/// An input that is taken from its beginning, for targets whose inputs are instructions and not the bytes themselves.
struct Instructions {
    private var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) {
        rest = input[...]
    }

    var isEmpty: Bool { rest.isEmpty }

    /// What is not taken yet.
    var remaining: [UInt8] { Array(rest) }

    /// The next byte; 0 behind the end.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// The next number of some bytes, the highest first.
    mutating func number(bytes count: Int) -> Int {
        (0..<count).reduce(0) { number, _ in number << 8 | Int(byte()) }
    }

    /// The next bytes, fewer at the end.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}

/// Pseudo-random numbers from a seed (xorshift, Marsaglia 2003), for choices that need no bytes of their own.
struct Choices {
    private var state: UInt64

    /// A seed that every byte has a part in (FNV-1a).
    init(_ input: [UInt8]) {
        state = input.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } | 1
    }

    /// A number below a limit.
    mutating func next(_ limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(max(limit, 1)))
    }
}
