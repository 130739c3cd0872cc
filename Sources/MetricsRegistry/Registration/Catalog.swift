// SPDX-License-Identifier: Apache-2.0

/// The families of a registry by name, and the sample names that they occupy.
struct Catalog {
    private(set) var families: [String: any ExposedFamily] = [:]
    /// Sorted by name, as on a page.
    private(set) var ordered: [any ExposedFamily] = []
    private(set) var collectors: [MetricsCollector] = []
    private var owners: [String: String] = [:]

    /// Why `descriptor` cannot be added to the registered families; nil if it can.
    func conflict(adding descriptor: MetricDescriptor, limits: RegistryLimits) -> RegistrationConflict? {
        if families.count >= limits.families {
            return descriptor.conflict(
                .limit,
                expected: "at most \(limits.families) families",
                found: "one more",
                advice: "raise the limit, or use labels instead of names"
            )
        }
        for name in descriptor.occupiedNames {
            if let owner = owners[name] {
                return descriptor.conflict(
                    .occupiedName(name),
                    expected: "a name whose samples differ from those of every other family",
                    found: "\(name), which \(owner) uses in one of the formats",
                    advice: "rename the metric"
                )
            }
        }
        return nil
    }

    mutating func add(_ family: some ExposedFamily) {
        let name = family.descriptor.name
        families[name] = family
        for occupied in family.descriptor.occupiedNames {
            owners[occupied] = name
        }
        let place = ordered.firstIndex { name < $0.descriptor.name } ?? ordered.endIndex
        ordered.insert(family, at: place)
    }

    /// Adds a collector. The first one that can fail also adds the family that counts failures.
    mutating func add(_ collector: MetricsCollector, failures: some ExposedFamily) {
        if collector.canFail, failures.descriptor.occupiedNames.allSatisfy({ owners[$0] == nil }) { add(failures) }
        collectors.append(collector)
    }

    mutating func remove(_ collector: MetricsCollector) {
        collectors.removeAll { $0 === collector }
    }

    /// Removes the family and frees its names.
    mutating func remove(_ family: any ExposedFamily) {
        let name = family.descriptor.name
        guard families[name] === family else { return }
        families[name] = nil
        ordered.removeAll { $0 === family }
        for occupied in family.descriptor.occupiedNames { owners[occupied] = nil }
    }
}
