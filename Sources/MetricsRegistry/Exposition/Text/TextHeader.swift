// SPDX-License-Identifier: Apache-2.0

/// The lines that announce a family.
enum TextHeader {
    /// HELP and TYPE, as Prometheus' texts have them.
    static func prometheus(_ descriptor: MetricDescriptor, name: String) -> [UInt8] {
        var header: [UInt8] = []
        appendHelp(descriptor, name, escapingQuotes: false, to: &header)
        append("TYPE", name, descriptor.kind.rawValue, to: &header)
        return header
    }

    /// TYPE, UNIT and HELP, as OpenMetrics has them. UNIT stands only for a name that ends in it, as a parser demands.
    static func openMetrics(_ descriptor: MetricDescriptor, _ names: SampleNames) -> [UInt8] {
        let family = names.openMetricsFamily
        var header: [UInt8] = []
        append("TYPE", family, names.openMetricsType, to: &header)
        if let unit = descriptor.unit, MetricName.isClassic("_" + unit), family.utf8.count > unit.utf8.count + 1,
            family.hasSuffix("_" + unit), !unit.isEmpty
        {
            append("UNIT", family, unit, to: &header)
        }
        appendHelp(descriptor, family, escapingQuotes: true, to: &header)
        return header
    }

    private static func append(_ keyword: String, _ name: String, _ text: String, to header: inout [UInt8]) {
        header.append(contentsOf: "# \(keyword) ".utf8)
        TextEscaping.append(name: name, to: &header)
        header.append(contentsOf: " \(text)\n".utf8)
    }

    private static func appendHelp(
        _ descriptor: MetricDescriptor,
        _ name: String,
        escapingQuotes: Bool,
        to header: inout [UInt8]
    ) {
        if descriptor.help.isEmpty { return }
        header.append(contentsOf: "# HELP ".utf8)
        TextEscaping.append(name: name, to: &header)
        header.append(UInt8(ascii: " "))
        TextEscaping.append(descriptor.help, escapingQuotes: escapingQuotes, to: &header)
        header.append(UInt8(ascii: "\n"))
    }
}
