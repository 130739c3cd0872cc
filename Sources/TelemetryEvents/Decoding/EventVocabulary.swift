// SPDX-License-Identifier: Apache-2.0

/// The names that the decoders look up.
final class EventVocabulary: Sendable {
    static let shared = EventVocabulary()

    let fields = NameTable(EventField.allCases.flatMap { field in field.names.map { ($0, field) } })
    let kinds = NameTable(EventKind.allCases.map { ($0.name, $0) })
    let clientCounters = NameTable(ClientCounter.allCases.map { ($0.name, $0) })
}
