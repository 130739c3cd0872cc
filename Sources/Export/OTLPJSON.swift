// SPDX-License-Identifier: Apache-2.0

/// Turns encoded requests of OTLP into their JSON form (OTLP 1, "JSON Protobuf Encoding"), so that both forms come from one
/// encoder.
///
/// Names are lowerCamelCase, enums numbers, numbers of 64 bits texts, and doubles that JSON has no number for the texts
/// `NaN`, `Infinity` and `-Infinity`.
package enum OTLPJSON {
    /// The request in JSON; nil for bytes that are not one of these messages.
    package static func metrics(_ request: [UInt8]) -> [UInt8]? { transcode(request, .metricsRequest) }

    /// The request in JSON; nil for bytes that are not one of these messages.
    package static func logs(_ request: [UInt8]) -> [UInt8]? { transcode(request, .logsRequest) }

    private static func transcode(_ request: [UInt8], _ schema: OTLPMessage) -> [UInt8]? {
        var output = JSONOutput()
        output.reserve(request.count * 2)
        do throws(ProtobufReader.Failure) {
            try output.object(request[...], schema)
        } catch {
            return nil
        }
        return output.bytes
    }
}

/// The fields of a message as JSON names them.
private indirect enum OTLPMessage {
    case metricsRequest, logsRequest, resource, scope, attribute, value, array
    case scopeMetrics, resourceMetrics, metric, gauge, sum, histogram, exponentialHistogram
    case number, histogramPoint, exponentialPoint, buckets, exemplar
    case resourceLogs, scopeLogs, logRecord

    enum Form {
        case text, double
        /// 64 bits, a text in JSON.
        case long
        /// 64 bits with a sign, in the form that keeps small magnitudes small.
        case signed
        /// At most 32 bits, or an enum.
        case small
        case flag
        /// A packed list of varints, of words of 64 bits, or of doubles.
        case varints, words, doubles
        case message(OTLPMessage)
    }

    typealias Field = (name: String, form: Form, isList: Bool)

    private static func one(_ name: String, _ form: Form) -> Field { (name, form, false) }
    private static func list(_ name: String, _ form: Form) -> Field { (name, form, true) }

    /// Nil for a field that this product does not write.
    func field(_ number: Int) -> Field? {
        switch (self, number) {
        case (.metricsRequest, 1): Self.list("resourceMetrics", .message(.resourceMetrics))
        case (.resourceMetrics, 1), (.resourceLogs, 1): Self.one("resource", .message(.resource))
        case (.resourceMetrics, 2): Self.list("scopeMetrics", .message(.scopeMetrics))
        case (.resource, 1): Self.list("attributes", .message(.attribute))
        case (.scopeMetrics, 1), (.scopeLogs, 1): Self.one("scope", .message(.scope))
        case (.scopeMetrics, 2): Self.list("metrics", .message(.metric))
        case (.scope, 1), (.metric, 1): Self.one("name", .text)
        case (.scope, 2): Self.one("version", .text)
        case (.attribute, 1): Self.one("key", .text)
        case (.attribute, 2): Self.one("value", .message(.value))
        case (.value, 1): Self.one("stringValue", .text)
        case (.value, 5): Self.one("arrayValue", .message(.array))
        case (.array, 1): Self.list("values", .message(.value))
        case (.metric, 2): Self.one("description", .text)
        case (.metric, 3): Self.one("unit", .text)
        case (.metric, 5): Self.one("gauge", .message(.gauge))
        case (.metric, 7): Self.one("sum", .message(.sum))
        case (.metric, 9): Self.one("histogram", .message(.histogram))
        case (.metric, 10): Self.one("exponentialHistogram", .message(.exponentialHistogram))
        case (.gauge, 1), (.sum, 1): Self.list("dataPoints", .message(.number))
        case (.histogram, 1): Self.list("dataPoints", .message(.histogramPoint))
        case (.exponentialHistogram, 1): Self.list("dataPoints", .message(.exponentialPoint))
        case (.sum, 2), (.histogram, 2), (.exponentialHistogram, 2): Self.one("aggregationTemporality", .small)
        case (.sum, 3): Self.one("isMonotonic", .flag)
        case (.number, 2), (.histogramPoint, 2), (.exponentialPoint, 2): Self.one("startTimeUnixNano", .long)
        case (.number, 3), (.histogramPoint, 3), (.exponentialPoint, 3): Self.one("timeUnixNano", .long)
        case (.number, 4): Self.one("asDouble", .double)
        case (.number, 5), (.histogramPoint, 8), (.exponentialPoint, 11): Self.list("exemplars", .message(.exemplar))
        case (.number, 7), (.histogramPoint, 9), (.exponentialPoint, 1), (.logRecord, 6):
            Self.list("attributes", .message(.attribute))
        case (.histogramPoint, 4), (.exponentialPoint, 4): Self.one("count", .long)
        case (.histogramPoint, 5), (.exponentialPoint, 5): Self.one("sum", .double)
        case (.histogramPoint, 6): Self.list("bucketCounts", .words)
        case (.buckets, 2): Self.list("bucketCounts", .varints)
        case (.histogramPoint, 7): Self.list("explicitBounds", .doubles)
        case (.exponentialPoint, 6): Self.one("scale", .signed)
        case (.exponentialPoint, 7): Self.one("zeroCount", .long)
        case (.exponentialPoint, 8): Self.one("positive", .message(.buckets))
        case (.exponentialPoint, 9): Self.one("negative", .message(.buckets))
        case (.exponentialPoint, 14): Self.one("zeroThreshold", .double)
        case (.buckets, 1): Self.one("offset", .signed)
        case (.exemplar, 2), (.logRecord, 1): Self.one("timeUnixNano", .long)
        case (.exemplar, 3): Self.one("asDouble", .double)
        case (.exemplar, 7): Self.list("filteredAttributes", .message(.attribute))
        case (.logsRequest, 1): Self.list("resourceLogs", .message(.resourceLogs))
        case (.resourceLogs, 2): Self.list("scopeLogs", .message(.scopeLogs))
        case (.scopeLogs, 2): Self.list("logRecords", .message(.logRecord))
        case (.logRecord, 2): Self.one("severityNumber", .small)
        case (.logRecord, 3): Self.one("severityText", .text)
        case (.logRecord, 5): Self.one("body", .message(.value))
        case (.logRecord, 11): Self.one("observedTimeUnixNano", .long)
        case (.logRecord, 12): Self.one("eventName", .text)
        default: nil
        }
    }
}

/// JSON text while it is written.
private struct JSONOutput {
    private(set) var bytes: [UInt8] = []

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    /// Writes a message; the elements of a list stand one after the other, as the encoder writes them.
    mutating func object(_ message: ArraySlice<UInt8>, _ schema: OTLPMessage) throws(ProtobufReader.Failure) {
        write("{")
        var reader = ProtobufReader(message)
        var open: Int?
        var isFirst = true
        while let (number, value) = try reader.next() {
            guard let field = schema.field(number) else { throw .malformed }
            if open == number {
                write(",")
            } else {
                if open != nil { write("]") }
                open = field.isList ? number : nil
                write(isFirst ? "\"" : ",\"")
                write(field.name)
                write(field.isList ? "\":[" : "\":")
            }
            isFirst = false
            try self.value(value, field)
        }
        write(open == nil ? "}" : "]}")
    }

    private mutating func value(
        _ value: ProtobufReader.Value,
        _ field: OTLPMessage.Field
    ) throws(ProtobufReader.Failure) {
        switch field.form {
        case .message(let schema): try object(value.message, schema)
        case .text: text(try value.text())
        case .small: write("\(value.number)")
        case .signed: write("\(value.signed)")
        case .flag: write(value.number == 0 ? "false" : "true")
        case .long: write("\"\(value.number)\"")
        case .double: double(value.double)
        case .varints, .words, .doubles: try packed(value.message, field.form)
        }
    }

    private mutating func packed(
        _ list: ArraySlice<UInt8>,
        _ form: OTLPMessage.Form
    ) throws(ProtobufReader.Failure) {
        var reader = ProtobufReader(list)
        var isFirst = true
        while !reader.isAtEnd {
            if !isFirst { write(",") }
            isFirst = false
            switch form {
            case .doubles: double(Double(bitPattern: try reader.word(8)))
            case .words: write("\"\(try reader.word(8))\"")
            default: write("\"\(try reader.varint())\"")
            }
        }
    }

    private mutating func double(_ value: Double) {
        if value.isFinite {
            write("\(value)")
        } else {
            write(value.isNaN ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"")
        }
    }

    private mutating func text(_ value: String) {
        write("\"")
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                write(byte < 0x10 ? "\\u000" : "\\u00")
                write(String(byte, radix: 16))
            default: bytes.append(byte)
            }
        }
        write("\"")
    }

    private mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }
}
