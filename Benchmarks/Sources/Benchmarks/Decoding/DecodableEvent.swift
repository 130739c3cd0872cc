// SPDX-License-Identifier: Apache-2.0

/// The fields of the benchmarks' events as somebody would declare them for `JSONDecoder`; times stay text.
struct DecodableEvent: Decodable {
    var event: String
    var scheduleId: String?
    var timestamp: String
    var scheduledFor: String?
    var installationId: String?
    var duration_ms: Double?
    var ttl: Int?
    var reason: String?
}
