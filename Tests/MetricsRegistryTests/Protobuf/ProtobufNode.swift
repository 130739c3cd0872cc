// SPDX-License-Identifier: Apache-2.0

import Testing

/// A message in protobuf's text form, as protoc prints it: one field a line.
struct ProtobufNode {
    private enum Value {
        case message(ProtobufNode)
        case scalar(String)
    }

    private var fields: [(name: String, value: Value)] = []

    static func parse(_ text: String) throws -> ProtobufNode {
        var open: [(name: String, node: ProtobufNode)] = [("", ProtobufNode())]
        for line in text.split(separator: "\n") {
            let line = line.drop { $0 == " " }
            if line.hasSuffix(" {") {
                open.append((String(line.dropLast(2)), ProtobufNode()))
            } else if line == "}" {
                let closed = open.removeLast()
                open[open.count - 1].node.fields.append((closed.name, .message(closed.node)))
            } else {
                let colon = try #require(line.firstIndex(of: ":"))
                let value = String(line[colon...].dropFirst(2))
                open[open.count - 1].node.fields.append((String(line[..<colon]), .scalar(value)))
            }
        }
        try #require(open.count == 1)
        return open[0].node
    }

    /// The names of all fields, unknown ones as their numbers.
    var names: Set<String> { Set(fields.map(\.name)) }

    func messages(_ name: String) -> [ProtobufNode] {
        fields.compactMap { field in
            if field.name == name, case .message(let node) = field.value { node } else { nil }
        }
    }

    func message(_ name: String) -> ProtobufNode? { messages(name).first }

    func scalars(_ name: String) -> [String] {
        fields.compactMap { field in
            if field.name == name, case .scalar(let text) = field.value { text } else { nil }
        }
    }

    func integers<Integer: FixedWidthInteger>(_ name: String, as type: Integer.Type) -> [Integer] {
        scalars(name).compactMap { Integer($0) }
    }

    func double(_ name: String) -> Double? {
        scalars(name).first.flatMap { Double($0) }
    }

    /// A string without its quotes and escapes: of C, bytes in octal.
    func text(_ name: String) -> String? {
        guard let quoted = scalars(name).first?.utf8.dropFirst().dropLast() else { return nil }
        var bytes: [UInt8] = []
        var rest = quoted[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "0")...UInt8(ascii: "7"):
                let digits = [escape] + rest.prefix(2)
                rest = rest.dropFirst(2)
                bytes.append(UInt8(truncatingIfNeeded: digits.reduce(0) { $0 * 8 + Int($1) - 48 }))
            default: bytes.append(escape)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
