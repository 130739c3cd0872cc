// SPDX-License-Identifier: Apache-2.0

/// Encodes log records as a request of OTLP (opentelemetry-proto, `ExportLogsServiceRequest`), one at a time.
package struct OTLPLogs: Sendable {
    /// The attribute of the identity (OpenTelemetry's semantic conventions, "General logs attributes").
    private static let identity = Array("log.record.uid".utf8)

    private let resource: ExportResource
    private let version: String
    private var records = ProtobufWriter()
    /// How many records wait for ``finish()``.
    package private(set) var count = 0

    package init(_ resource: ExportResource, version: String) {
        self.resource = resource
        self.version = version
    }

    /// The size of the records, about that of the request.
    package var byteCount: Int { records.bytes.count }

    /// Appends a record.
    ///
    /// - Parameters:
    ///   - time: when it happened, in microseconds since 1970.
    ///   - observed: when the service got it, in microseconds since 1970.
    ///   - identity: appends what identifies the record, so that a receiver can drop repeats.
    ///   - fill: appends everything else.
    package mutating func append(
        time: Int64,
        observed: Int64,
        identity: (inout [UInt8]) -> Void,
        _ fill: (inout Record) -> Void
    ) {
        count += 1
        records.message(2, expecting: 1_024) { log in
            var record = Record(appendingTo: log.take())
            record.writer.fixed64(1, Self.nanoseconds(time))
            record.writer.fixed64(11, Self.nanoseconds(observed))
            fill(&record)
            record.attribute(Self.identity, writing: identity)
            log = record.finished()
        }
    }

    /// The request with all records since the last one; nil without any.
    package mutating func finish() -> [UInt8]? {
        guard count > 0 else { return nil }
        count = 0
        let records = records.take()
        var writer = ProtobufWriter()
        writer.reserve(records.count + 1_024)
        writer.message(1, expecting: records.count) { resourceLogs in
            resource.write(to: &resourceLogs, field: 1)
            resourceLogs.message(2, expecting: records.count) { scopeLogs in
                scopeLogs.scope(1, version: version)
                scopeLogs.append(records)
            }
        }
        return writer.take()
    }

    private static func nanoseconds(_ microseconds: Int64) -> UInt64 { UInt64(max(microseconds, 0)) * 1_000 }

    /// A record that is being appended: its name, severity and body in any order, then its attributes, which stand one after
    /// the other for ``OTLPJSON``. No field allocates.
    package struct Record: ~Copyable {
        fileprivate var writer: ProtobufWriter

        fileprivate init(appendingTo bytes: consuming [UInt8]) { writer = ProtobufWriter(appendingTo: bytes) }

        fileprivate consuming func finished() -> ProtobufWriter { writer }

        /// Sets the kind of the event, at most once.
        package mutating func name(_ name: StaticString) {
            writer.write(12, name)
        }

        /// Sets the severity to that of a syslog level, 0 (emergency) to 7 (debug), at most once.
        package mutating func severity(ofPriority priority: Int) {
            let (number, name) = Self.severity(priority)
            writer.integer(2, number)
            writer.write(3, name)
        }

        /// Sets the body to the text that the closure appends, at most once.
        package mutating func body(writing text: (inout [UInt8]) -> Void) {
            writer.message(5, expecting: 256) { $0.message(1, expecting: 256) { $0.write(text) } }
        }

        /// Appends an attribute, each name once.
        package mutating func attribute(_ name: [UInt8], _ value: StaticString) {
            attribute(name) { any in any.write(1, value) }
        }

        /// Appends an attribute whose value the closure appends.
        package mutating func attribute(_ name: [UInt8], writing value: (inout [UInt8]) -> Void) {
            attribute(name) { any in any.message(1) { $0.write(value) } }
        }

        /// Appends an attribute with several values.
        package mutating func attribute(_ name: [UInt8], all values: [StaticString]) {
            attribute(name) { any in
                any.message(5) { array in
                    for value in values { array.message(1) { $0.write(1, value) } }
                }
            }
        }

        @inline(__always)
        private mutating func attribute(_ name: [UInt8], _ value: (inout ProtobufWriter) -> Void) {
            writer.message(6) { pair in
                pair.data(1, name)
                pair.message(2, value)
            }
        }

        /// The severity of a syslog level (OpenTelemetry, Logs Data Model, "Appendix B").
        private static func severity(_ priority: Int) -> (number: Int, name: StaticString) {
            switch priority {
            case 0: (21, "FATAL")
            case 1: (19, "ERROR3")
            case 2: (18, "ERROR2")
            case 3: (17, "ERROR")
            case 4: (13, "WARN")
            case 5: (10, "INFO2")
            case 6: (9, "INFO")
            default: (5, "DEBUG")
            }
        }
    }
}
