// SPDX-License-Identifier: Apache-2.0

/// Encodes log records as a request of OTLP (opentelemetry-proto, `ExportLogsServiceRequest`), one at a time.
package struct OTLPLogs: Sendable {
    /// What a record is besides its attributes.
    package struct Record {
        /// When it happened, in microseconds since 1970.
        package var time: Int64
        /// When the service got it, in microseconds since 1970.
        package var observed: Int64
        /// The syslog level, 0 (emergency) to 7 (debug).
        package var priority: Int
        /// The kind of the event.
        package var name: ArraySlice<UInt8>
        package var body: ArraySlice<UInt8>
        /// Identifies the record, so that a receiver can drop repeats.
        package var identity: [UInt8]

        package init(
            time: Int64,
            observed: Int64,
            priority: Int,
            name: ArraySlice<UInt8>,
            body: ArraySlice<UInt8>,
            identity: [UInt8]
        ) {
            self.time = time
            self.observed = observed
            self.priority = priority
            self.name = name
            self.body = body
            self.identity = identity
        }
    }

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

    /// Appends a record with the attributes that a closure appends by `logAttribute`, each name once.
    package mutating func append(_ record: Record, _ attributes: (inout ProtobufWriter) -> Void) {
        count += 1
        records.message(2, expecting: 1_024) { log in
            log.fixed64(1, Self.nanoseconds(record.time))
            let (severity, name) = Self.severity(record.priority)
            log.integer(2, severity)
            log.text(3, name)
            log.message(5, expecting: 256) { $0.data(1, record.body) }
            log.logAttribute(Self.identity, record.identity)
            attributes(&log)
            log.fixed64(11, Self.nanoseconds(record.observed))
            if !record.name.isEmpty { log.data(12, record.name) }
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

    /// The severity of a syslog level (OpenTelemetry, Logs Data Model, "Appendix B").
    private static func severity(_ priority: Int) -> (number: Int, name: String) {
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

extension ProtobufWriter {
    /// Writes an attribute of a `LogRecord`.
    @inline(__always)
    package mutating func logAttribute(_ name: some Collection<UInt8>, _ value: some Collection<UInt8>) {
        attribute(6, name, value)
    }

    /// Writes an attribute of a `LogRecord` that has several texts.
    package mutating func logAttribute(_ name: some Collection<UInt8>, list values: [ArraySlice<UInt8>]) {
        message(6) { pair in
            pair.data(1, name)
            pair.message(2) { any in
                any.message(5) { array in
                    for value in values { array.message(1) { $0.data(1, value) } }
                }
            }
        }
    }
}
