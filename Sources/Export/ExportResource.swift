// SPDX-License-Identifier: Apache-2.0

/// Who exports: the resource of OTLP, and the labels `job` and `instance` of remote write.
package struct ExportResource: Sendable, Hashable {
    /// The attributes, sorted by name, each once.
    package private(set) var attributes: [MetricsPage.Label]

    /// - Parameters:
    ///   - version: of this build.
    ///   - instance: tells one service from another, for as long as its counters continue: the ledger's id.
    ///   - named: attributes that the operator chose, which win over the defaults.
    package init(version: String, instance: String, named: [MetricsPage.Label] = []) {
        var values = [
            "service.name": "dnp-telemetry", "service.version": version, "service.instance.id": instance,
        ]
        for attribute in named { values[attribute.name] = attribute.value }
        attributes = values.map { MetricsPage.Label($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    private subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// The labels that a Prometheus would give a scraped target, by the mapping of OpenTelemetry (Prometheus and
    /// OpenMetrics Compatibility, "Resource Attributes").
    var targetLabels: [MetricsPage.Label] {
        let name = self["service.name"] ?? ""
        let job = self["service.namespace"].map { "\($0)/\(name)" } ?? name
        return [MetricsPage.Label("instance", self["service.instance.id"] ?? ""), MetricsPage.Label("job", job)]
    }

    /// Writes a `Resource` message.
    func write(to writer: inout ProtobufWriter, field: Int) {
        writer.message(field, expecting: 128) { resource in
            for attribute in attributes { resource.attribute(1, attribute.name, attribute.value) }
        }
    }
}

extension ProtobufWriter {
    /// Writes a `KeyValue` whose value is a text.
    mutating func attribute(_ field: Int, _ name: String, _ value: String) {
        message(field) { pair in
            pair.presentText(1, name)
            pair.message(2) { $0.presentText(1, value) }
        }
    }

    /// Writes the `InstrumentationScope` of this product.
    mutating func scope(_ field: Int, version: String) {
        message(field) { scope in
            scope.text(1, "dnp-telemetry")
            scope.text(2, version)
        }
    }
}
