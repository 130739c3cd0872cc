// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents

/// The values that stand one after the other in an input, told apart by brackets and quotes alone and then read by
/// Foundation.
struct TopLevelValues {
    /// Whether every value is JSON to Foundation.
    private(set) var areJSON = true
    /// Whether every value is an object or an array, so that none takes its line with it when it is refused.
    private(set) var areContainers = true
    /// How many values there are.
    private(set) var count = 0
    /// Whether no value reaches over a line's end.
    private(set) var standOnLines = true
    /// How many events there are, counting what is none where one is expected.
    private(set) var events = 0

    init(_ input: [UInt8]) {
        var rest = input.starts(with: [0xEF, 0xBB, 0xBF]) ? input[3...] : input[...]
        while let start = rest.firstIndex(where: { !Self.isSpace($0) }) {
            rest = rest[start...]
            let end = Self.endOfValue(rest)
            add(rest[..<end])
            rest = rest[end...]
        }
    }

    private mutating func add(_ value: ArraySlice<UInt8>) {
        count += 1
        if value.contains(0x0A) { standOnLines = false }
        switch try? JSONSerialization.jsonObject(with: Data(value), options: .fragmentsAllowed) {
        case nil: areJSON = false
        case _ where Self.hasTrailingComma(value): areJSON = false
        case let array as [Any]: events += array.count
        case let object as [String: Any]: events += (object["events"] as? [Any])?.count ?? 1
        default:
            areContainers = false
            events += 1
        }
    }

    /// Whether a comma stands before a closing bracket, which Foundation lets pass and RFC 8259 does not.
    private static func hasTrailingComma(_ value: ArraySlice<UInt8>) -> Bool {
        var index = value.startIndex
        var isBehindComma = false
        while index < value.endIndex {
            let byte = value[index]
            if isBehindComma, byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { return true }
            if !isSpace(byte) { isBehindComma = byte == UInt8(ascii: ",") }
            index = byte == UInt8(ascii: "\"") ? endOfString(value, from: index) : index + 1
        }
        return false
    }

    private static func endOfValue(_ text: ArraySlice<UInt8>) -> Int {
        var depth = 0
        var index = text.startIndex
        while index < text.endIndex {
            switch text[index] {
            case UInt8(ascii: "\""): index = endOfString(text, from: index)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                index += 1
            default: index += 1
            }
            if depth <= 0, index == text.endIndex || isBoundary(text, index) { return index }
        }
        return index
    }

    private static func endOfString(_ text: ArraySlice<UInt8>, from start: Int) -> Int {
        var index = start + 1
        while index < text.endIndex {
            switch text[index] {
            case UInt8(ascii: "\\"): index += 2
            case UInt8(ascii: "\""): return index + 1
            default: index += 1
            }
        }
        return text.endIndex
    }

    /// Whether a value ends before `index`: at white space, where a new value begins, or behind a closing one.
    private static func isBoundary(_ text: ArraySlice<UInt8>, _ index: Int) -> Bool {
        let isBehindClosing = text[index - 1] == UInt8(ascii: "}") || text[index - 1] == UInt8(ascii: "]")
        return isBehindClosing || isSpace(text[index])
            || [UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "[")].contains(text[index])
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09].contains(byte) }
}
