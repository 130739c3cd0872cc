// SPDX-License-Identifier: Apache-2.0

internal import Export
internal import Foundation

/// The environment variables of OpenTelemetry ("OpenTelemetry Protocol Exporter" and "Environment Variable
/// Specification"), beside the settings of this service.
///
/// They make one destination, named `opentelemetry`, where an endpoint or an exporter is named; the attributes of the
/// resource count for every destination. As the specification demands, a value that cannot be used is ignored with a warning.
struct OpenTelemetryVariables {
    static let destination = "opentelemetry"

    /// The destination; nil where the variables name none.
    private(set) var setting: ExportSetting?
    /// The attributes of the resource that the variables name.
    private(set) var attributes: [MetricsPage.Label] = []
    /// The values that are ignored.
    private(set) var warnings: [ConfigurationProblem] = []
    private let environment: [String: String]

    init(_ environment: [String: String]) {
        self.environment = environment.filter { $0.key.hasPrefix("OTEL_") && !$0.value.isEmpty }
        readAttributes()
        guard self.environment["OTEL_SDK_DISABLED"]?.lowercased() != "true" else { return }
        let streams = [stream(.metrics, "METRICS"), stream(.logs, "LOGS")].compactMap(\.self)
        if !streams.isEmpty { setting = ExportSetting(streams: streams) }
    }

    /// The value of a signal's own variable, else of the one for all signals, with its name.
    private func value(_ signal: String, _ name: String) -> (name: String, text: String)? {
        for variable in ["OTEL_EXPORTER_OTLP_\(signal)_\(name)", "OTEL_EXPORTER_OTLP_\(name)"] {
            if let text = environment[variable] { return (variable, text) }
        }
        return nil
    }

    private mutating func warn(_ variable: String, _ message: String) {
        warnings.append(ConfigurationProblem(.environment(variable), message + "; it is ignored"))
    }

    private mutating func stream(_ signal: ExportDestination.Signal, _ name: String) -> ExportDestination? {
        let exporters = environment["OTEL_\(name)_EXPORTER"]?.split(separator: ",").map {
            $0.filter { $0 != " " }
        }
        if let exporters, !exporters.contains("otlp") { return nil }
        guard let endpoint = endpoint(name, isNamed: exporters != nil) else { return nil }
        var stream = ExportDestination(Self.destination, signal, endpoint)
        stream.isCompressed = false
        stream.interval = .seconds(60)
        if let (variable, text) = value(name, "PROTOCOL") {
            switch text {
            case "http/protobuf": break
            case "http/json": stream.isJSON = true
            default: warn(variable, "expected http/protobuf or http/json, found \"\(text.prefix(80))\"")
            }
        }
        if let (variable, text) = value(name, "COMPRESSION") {
            switch text {
            case "gzip": stream.isCompressed = true
            case "none": break
            default: warn(variable, "expected gzip or none, found \"\(text.prefix(80))\"")
            }
        }
        if let (variable, text) = value(name, "TIMEOUT") {
            set(variable, text, 1...300_000, \.timeout, of: &stream)
        }
        if let text = environment["OTEL_METRIC_EXPORT_INTERVAL"] {
            set("OTEL_METRIC_EXPORT_INTERVAL", text, 1_000...3_600_000, \.interval, of: &stream)
        }
        if let (variable, text) = value(name, "HEADERS") {
            for pair in pairs(variable, text) {
                guard let header = ExportHeaders.header(pair.name, pair.value) else {
                    warn(variable, "expected a name and a value of a header, found something else")
                    continue
                }
                stream.headers.append(MetricsPage.Label(header.name, header.value))
            }
        }
        stream.files.authorities = file(name, "CERTIFICATE")
        stream.files.certificate = file(name, "CLIENT_CERTIFICATE")
        stream.files.key = file(name, "CLIENT_KEY")
        if (stream.files.certificate == nil) != (stream.files.key == nil) {
            let (variable, other) = stream.files.key == nil ? ("CERTIFICATE", "KEY") : ("KEY", "CERTIFICATE")
            warn(
                "OTEL_EXPORTER_OTLP_CLIENT_\(variable)",
                "expected a client's \(other.lowercased()) with it, found none"
            )
            (stream.files.certificate, stream.files.key) = (nil, nil)
        }
        let temporality = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
        if signal == .metrics, let text = environment[temporality], text.lowercased() != "cumulative" {
            warn(temporality, "expected cumulative, found \"\(text.prefix(80))\"")
        }
        return stream
    }

    private mutating func file(_ name: String, _ suffix: String) -> String? {
        guard let (variable, path) = value(name, suffix) else { return nil }
        guard FileManager.default.isReadableFile(atPath: path) else {
            warn(variable, "expected a file that can be read, found \"\(path.prefix(200))\"")
            return nil
        }
        return path
    }

    private mutating func endpoint(_ name: String, isNamed: Bool) -> ExportEndpoint? {
        let own = "OTEL_EXPORTER_OTLP_\(name)_ENDPOINT"
        if let text = environment[own] {
            // The address of a signal is used as it is.
            if let endpoint = ExportEndpoint(text) { return endpoint }
            warn(own, "expected an address such as https://collector.example:4318/v1/logs, found something else")
            return nil
        }
        let base = "OTEL_EXPORTER_OTLP_ENDPOINT"
        guard environment[base] != nil || isNamed else { return nil }
        guard let endpoint = ExportEndpoint(environment[base] ?? "http://localhost:4318") else {
            warn(base, "expected an address such as https://collector.example:4318, found something else")
            return nil
        }
        return endpoint.appending("/v1/\(name.lowercased())")
    }

    private mutating func set(
        _ variable: String,
        _ text: String,
        _ range: ClosedRange<Int64>,
        _ place: WritableKeyPath<ExportDestination, Duration>,
        of stream: inout ExportDestination
    ) {
        guard let milliseconds = Int64(text), range.contains(milliseconds) else {
            return warn(
                variable,
                "expected milliseconds from \(range.lowerBound) to \(range.upperBound), found \"\(text.prefix(80))\""
            )
        }
        stream[keyPath: place] = .milliseconds(milliseconds)
    }

    private mutating func readAttributes() {
        if let text = environment["OTEL_RESOURCE_ATTRIBUTES"] {
            attributes = pairs("OTEL_RESOURCE_ATTRIBUTES", text).map { MetricsPage.Label($0.name, $0.value) }
        }
        guard let name = environment["OTEL_SERVICE_NAME"] else { return }
        attributes.removeAll { $0.name == "service.name" }
        attributes.append(MetricsPage.Label("service.name", name))
    }

    /// `key=value` pairs between commas, percent-encoded (W3C Baggage).
    private mutating func pairs(_ variable: String, _ text: String) -> [(name: String, value: String)] {
        var pairs: [(String, String)] = []
        for element in text.split(separator: ",") {
            let parts = element.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
            guard parts.count == 2, !parts[0].isEmpty, let value = parts[1].removingPercentEncoding else {
                warn(variable, "expected key=value between commas, found something else")
                continue
            }
            pairs.append((parts[0], value))
        }
        return pairs
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
