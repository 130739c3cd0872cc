// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import Synchronization

/// Consoles that people have open: each holds a live stream and asks for the numbers, the list and the health of the
/// service once a second, which is ten times as often as the pages do; one thread of poll(2) for all.
final class OpenConsoles: Sendable {
    private static let paths = ["/api/v1/overview", "/api/v1/cycles?limit=50", "/api/v1/health"]
    private static let pauseMilliseconds: Int32 = 1_000

    private let stopping = Atomic(false)
    private let done = DispatchSemaphore(value: 0)
    private let result = Mutex(Result<Int, BenchmarkFailure>.success(0))

    init(_ count: Int, on service: ServiceProcess) throws {
        nonisolated(unsafe) let askers = try (0..<count).map { _ in try service.connect() }
        nonisolated(unsafe) let streams = try (0..<count).map { _ in try LiveStream(of: service) }
        Thread.detachNewThread {
            let found = Result { () throws(BenchmarkFailure) in try self.watch(unsafe askers, unsafe streams) }
            self.result.withLock { $0 = found }
            self.done.signal()
        }
    }

    /// Closes them.
    ///
    /// - Returns: How many answers they got beside their streams.
    func close() throws -> Int {
        stopping.store(true, ordering: .relaxed)
        done.wait()
        return try result.withLock { $0 }.get()
    }

    private func watch(_ askers: [HTTPConnection], _ streams: [LiveStream]) throws(BenchmarkFailure) -> Int {
        do {
            var answers = 0
            while !stopping.load(ordering: .relaxed) {
                for path in Self.paths {
                    let request = PreparedRequest(get: path)
                    for asker in askers {
                        guard try asker.exchange(request).status == 200 else {
                            throw BenchmarkFailure("\(path) was not answered with 200")
                        }
                        answers += 1
                    }
                    for stream in streams { try stream.read() }
                }
                var nothing = pollfd()
                _ = unsafe poll(&nothing, 0, Self.pauseMilliseconds / Int32(Self.paths.count))
            }
            for stream in streams {
                guard stream.bytes > 0 else { throw BenchmarkFailure("a live stream sent nothing") }
            }
            return answers
        } catch {
            throw error as? BenchmarkFailure ?? BenchmarkFailure("\(error)")
        }
    }
}

/// A live stream of which everything is read and nothing is kept.
private final class LiveStream {
    private let socket: LoopbackSocket
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    private(set) var bytes = 0

    init(of service: ServiceProcess) throws {
        socket = try service.socket()
        let request = PreparedRequest(get: "/api/v1/live").bytes
        let sent = unsafe request.withUnsafeBytes { unsafe write(socket.descriptor, $0.baseAddress, $0.count) }
        guard sent == request.count else { throw BenchmarkFailure("the live stream could not be asked for") }
    }

    /// Reads what there is.
    func read() throws {
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe Glibc.read(socket.descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { throw BenchmarkFailure("a live stream was closed") }
            bytes += count
        }
    }
}

/// A load that is sent by a thread of its own.
final class BackgroundLoad: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let running = Atomic(true)
    private let failure = Mutex<BenchmarkFailure?>(nil)

    init(_ requests: [PreparedRequest], to service: ServiceProcess) {
        nonisolated(unsafe) let service = service
        Thread.detachNewThread {
            do {
                _ = try LoadClient(connections: 4).send(requests, to: unsafe service)
            } catch {
                self.failure.withLock { $0 = error as? BenchmarkFailure ?? BenchmarkFailure("\(error)") }
            }
            self.running.store(false, ordering: .relaxed)
            self.done.signal()
        }
    }

    var isRunning: Bool { running.load(ordering: .relaxed) }

    /// Waits for its end.
    func wait() throws {
        done.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
