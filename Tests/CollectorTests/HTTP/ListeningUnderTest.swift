// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import Glibc
import HTTPTypes
import Hummingbird
import Logging
import MetricsRegistry
import NIOCore
import ServiceLifecycle
import Synchronization
import TestSupport

@testable import Collector

/// Real listeners on ports of the loopback, with the service's connections and a router of a few lines behind.
///
/// `POST /v1/events` tells the size of the body, unless that is empty or the `Authorization` is "wrong", `GET /metrics`
/// gives a page, and both wait while the gate is held. Every answer has the header `X-Frame-Options`.
struct ListeningUnderTest: Sendable {
    /// The ports, in the order of the listeners.
    let ports: [Int]
    let registry: MetricsRegistry
    let gate: RequestGate
    private let group: ServiceGroup

    var port: Int { ports.first ?? 0 }

    func client(receiveBuffer: Int32? = nil) throws -> RawClient {
        try RawClient(port: port, receiveBuffer: receiveBuffer)
    }

    func value(_ sample: String) -> Double? {
        RegistryPage(registry).number(sample)
    }

    /// Tells the service to stop, as SIGTERM does.
    func stop() async {
        await group.triggerGracefulShutdown()
    }

    /// - Parameter page: the size of a page, in bytes.
    static func run(
        _ services: [Listener.Services] = [[.ingest, .metrics]],
        page: Int = 100,
        _ change: (inout ServeConfiguration) -> Void = { _ in },
        _ body: (ListeningUnderTest) async throws -> Void
    ) async throws {
        var configuration = ServeConfiguration(stateDirectory: "/nowhere")
        change(&configuration)
        let sockets = try ListeningSockets.open(
            services.map { Listener(.address(host: "127.0.0.1", port: 0), services: $0) }
        )
        let served = ServedPaths(metricsPath: "/metrics", hasReload: false)
        let registry = MetricsRegistry(now: { startOfTest })
        let gate = RequestGate()
        let answers = HTTPMetrics(registry, routes: [])
        let live = LiveConfiguration(configuration)
        var rules = SecurityRules()
        rules.web.headers = [WebConfiguration.Header(name: "X-Frame-Options", value: "deny")]
        let headers = ServerHeaders(rules: LiveSecurityRules(rules))
        var log = Logger(label: "test")
        log.logLevel = .critical
        let listening = HTTPListening(
            responder: ServiceResponder(
                router(gate, page: page, answers, live).buildResponder(),
                headers: headers,
                log: log
            ),
            table: ConnectionTable(live, ConnectionMetrics(registry), descriptors: 20_000),
            live: live,
            security: .none,
            headers: headers,
            answers: answers,
            served: served,
            log: log
        )
        let servers = try await listening.start(sockets)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [Serving(listening: listening, servers: servers)],
                logger: log
            )
        )
        let ports = sockets.compactMap { socket in
            if case .internet(_, let port) = socket.place { port } else { nil }
        }
        async let end: Void = group.run()
        do {
            try await body(ListeningUnderTest(ports: ports, registry: registry, gate: gate, group: group))
        } catch {
            gate.open()
            await group.triggerGracefulShutdown()
            throw error
        }
        gate.open()
        await group.triggerGracefulShutdown()
        try await end
    }

    private struct Serving: Service {
        let listening: HTTPListening
        let servers: [HTTPListening.Server]

        func run() async throws { try await listening.serve(servers) }
    }

    private static func router(
        _ gate: RequestGate,
        page: Int,
        _ answers: HTTPMetrics,
        _ live: LiveConfiguration
    ) -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self, options: .autoGenerateHeadEndpoints)
        let served = ServedPaths(metricsPath: "/metrics", hasReload: false)
        router.add(middleware: ProblemMiddleware(metrics: answers, served: served))
        router.add(middleware: ServedPathsMiddleware(served: served))
        router.post("/v1/events") { request, _ in
            let declared = request.headers[.contentLength].flatMap { Int($0) } ?? 0
            guard declared <= live.current.maximumBody else { throw Problem.bodyTooLarge }
            guard request.headers[.authorization] != "wrong" else { throw Problem.tokenNeeded(isWrong: true) }
            var size = 0
            do {
                for try await part in request.body { size += part.readableBytes }
            } catch {
                gate.broke()
                throw error
            }
            await gate.pass()
            guard size > 0 else { throw Problem.emptyBody }
            return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: "size \(size)\n")))
        }
        let text = ByteBuffer(repeating: UInt8(ascii: "x"), count: page)
        router.get("/metrics") { _, _ in
            await gate.pass()
            return Response(status: .ok, body: .init(byteBuffer: text))
        }
        router.get("/-/healthy") { _, _ in Response(status: .ok) }
        return router
    }
}

/// Holds requests up while it is shut, and tells how many are inside and how many bodies broke off.
final class RequestGate: Sendable {
    private struct State {
        var isShut = false
        var inside = 0
        var broken = 0
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    private let state = Mutex(State())

    var inside: Int { state.withLock { $0.inside } }
    var broken: Int { state.withLock { $0.broken } }

    func shut() { state.withLock { $0.isShut = true } }
    func broke() { state.withLock { $0.broken += 1 } }

    /// Lets all pass that wait.
    func open() {
        let waiting = state.withLock { state in
            state.isShut = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for each in waiting { each.finish() }
    }

    /// Waits until the gate is open, or the task is cancelled.
    func pass() async {
        let (turns, turn) = AsyncStream<Never>.makeStream()
        let isShut = state.withLock { state in
            state.inside += 1
            if state.isShut { state.waiting.append(turn) }
            return state.isShut
        }
        if isShut { for await _ in turns {} }
        state.withLock { $0.inside -= 1 }
    }
}

enum HTTPText {
    static let get = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"

    static func post(_ body: String, headers: String = "") -> String {
        "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }

    /// The status codes of the answers in a text, in their order.
    static func statuses(_ text: String) -> [Int] {
        text.components(separatedBy: "HTTP/1.1 ").dropFirst().compactMap { Int($0.prefix(3)) }
    }
}

/// A client that sends what it likes, byte by byte if need be, and reads when it likes. It never blocks a thread.
final class RawClient: Sendable {
    struct Failed: Error {
        let what: String
    }

    private let descriptor: Int32
    private let received = Mutex((bytes: [UInt8](), isAtEnd: false))

    /// - Parameter receiveBuffer: how much the system keeps for it unread, in bytes; nil: as usual.
    init(port: Int, receiveBuffer: Int32? = nil) throws {
        guard let descriptor = SocketProbe.connected(port: port, receiveBuffer: receiveBuffer) else {
            throw Failed(what: "nobody listens on port \(port)")
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// False once the other side takes no more.
    @discardableResult
    func send(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Says that nothing more is sent.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// What has come and was not taken, as soon as it suffices or the other side has closed.
    func receive(until suffices: (String) -> Bool) async throws -> String {
        let limit = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < limit {
            read()
            let (text, isAtEnd) = received.withLock { (String(decoding: $0.bytes, as: UTF8.self), $0.isAtEnd) }
            if isAtEnd || suffices(text) {
                received.withLock { $0.bytes = [] }
                return text
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw Failed(what: "waited in vain; so far came \(received.withLock { $0.bytes.count }) bytes")
    }

    /// All that comes until the other side closes.
    func receiveAll() async throws -> String {
        try await receive { _ in false }
    }

    /// Whether the other side has closed.
    var isClosed: Bool {
        read()
        return received.withLock { $0.isAtEnd }
    }

    /// Whether anything has come.
    var hasReceived: Bool {
        read()
        return received.withLock { !$0.bytes.isEmpty }
    }

    private func read() {
        received.withLock { received in
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while !received.isAtEnd {
                let count = unsafe buffer.withUnsafeMutableBytes {
                    unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
                }
                if count < 0, errno == EAGAIN { return }
                if count <= 0 { received.isAtEnd = true } else { received.bytes += buffer[..<count] }
            }
        }
    }
}
