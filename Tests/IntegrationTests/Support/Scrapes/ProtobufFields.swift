// SPDX-License-Identifier: Apache-2.0

/// The fields of a message as they come; those of 32 bits, which none of ours has, end it.
struct ProtobufFields {
    enum Value {
        case varint(UInt64)
        case double(Double)
        case bytes(ArraySlice<UInt8>)
    }

    private var rest: ArraySlice<UInt8>
    private let isDelimited: Bool

    /// - Parameter delimited: whether these are messages without tags, each behind its length.
    init(_ bytes: ArraySlice<UInt8>, delimited: Bool = false) {
        rest = bytes
        isDelimited = delimited
    }

    mutating func next() -> (field: Int, value: Value)? {
        guard let key = isDelimited ? 2 : varint(), let value = value(ofType: key & 7) else { return nil }
        return (Int(key >> 3), value)
    }

    /// The number in a field of a message; 0 where it is not there.
    static func number(_ wanted: Int, in message: ArraySlice<UInt8>) -> Double {
        var fields = ProtobufFields(message)
        while let (field, value) = fields.next() {
            guard field == wanted else { continue }
            switch value {
            case .varint(let number): return Double(number)
            case .double(let number): return number
            case .bytes: return .nan
            }
        }
        return 0
    }

    private mutating func value(ofType type: UInt64) -> Value? {
        switch type {
        case 0: varint().map { .varint($0) }
        case 1:
            take(8).map { .double(Double(bitPattern: $0.reversed().reduce(0) { $0 << 8 | UInt64($1) })) }
        case 2: varint().flatMap { take(Int(clamping: $0)) }.map { .bytes($0) }
        default: nil
        }
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}
