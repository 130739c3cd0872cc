// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("Doubts that lines are those of one device")
struct DeviceDoubtsTests {
    private static let day = "2025-11-15"

    /// A phone's log, whose fetch ends as it says.
    private static func phone(_ result: String, minute: Int = 50) -> String {
        """
        \(day)T11:\(minute):00Z [DNP-FETCH] Scheduling prefetch for notification at \(day)T12:00:00Z
        \(day)T11:\(minute):00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=\(day)T11:55:00Z)
        \(day)T11:\(minute):00Z [DNP-STORAGE] Persisted schedule to DB (id=a, type=DAILY, time=\(day)T12:00:00Z)
        \(day)T11:55:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
        \(day)T11:55:01Z [DNP-FETCH] Starting fetch (scheduleId=a)
        \(result)
        \(day)T12:00:00Z [DNP-SCHEDULER] Notification delivered (id=a)

        """
    }

    private static let success = "\(day)T11:55:02Z [DNP-FETCH] Fetch success (status=200, bytes=1234, ttl=86400)"
    private static func failure(_ error: String, willRetry: Bool = false, second: Int = 3) -> String {
        "\(day)T11:55:0\(second)Z [DNP-FETCH] Fetch failed: error=\(error), willRetry=\(willRetry)"
    }

    private func doubts(_ log: String, _ options: LogDecoderOptions = LogDecoderOptions()) -> DeviceDoubts {
        var decoder = logDecoder(options)
        var decoded = decoder.decode(Array(log.utf8).span, readAt: readingTime)
        decoded.append(decoder.flush(readAt: readingTime))
        return decoded.doubts
    }

    private static func inProcess(_ process: Int, _ log: String) -> [String] {
        log.split(separator: "\n").map { line in
            let stamp = line.prefix { $0 != "[" }.dropLast(2)
            return "\(stamp)+0000 phone app[\(process)]: \(line.drop { $0 != "[" })"
        }
    }

    @Test("the logs of two phones behind each other raise a doubt by results and stamps")
    func twoPhones() {
        let both = Self.phone(Self.success) + Self.phone(Self.failure("NetworkError"))
        #expect(doubts(both) == [.results, .stamps])
        let two = Self.phone(Self.failure("NetworkError")) + Self.phone(Self.failure("AuthError"))
        #expect(doubts(two).contains(.results))
        #expect(doubts(Self.phone(Self.success) + Self.phone(Self.success, minute: 52)) == [.stamps])
    }

    @Test("a success and a failure raise a doubt in either order, and where no line has a stamp")
    func resultsInEitherOrder() {
        for results in [
            [Self.success, Self.failure("NetworkError")], [Self.failure("NetworkError", second: 1), Self.success],
        ] {
            let log = Self.phone(results.joined(separator: "\n"))
            #expect(doubts(log) == .results)
            let bare = log.split(separator: "\n").map { $0.drop { $0 != "[" } + "\n" }.joined()
            #expect(doubts(bare) == .results)
        }
    }

    @Test(
        "what one phone may well write raises no doubt",
        arguments: [
            phone(success),
            phone(success) + phone(success),
            phone(success) + phone(success).replacing("2025-11-15", with: "2025-11-16"),
            phone(success).replacing("2025-11-15", with: "2025-11-16") + phone(success),
            phone(failure("NetworkError", willRetry: true, second: 1) + "\n" + success),
            phone(
                failure("AuthError", willRetry: true, second: 1)
                    + "\n\(day)T11:55:01Z [DNP-FETCH] JWT expired, authentication failed\n" + success
            ),
            phone(failure("AuthError") + "\n\(day)T11:55:03Z [DNP-FETCH] JWT expired, authentication failed"),
            phone(
                failure("NetworkError") + "\n\(day)T11:57:00Z [DNP-FETCH] BGTask handler invoked (id=x)\n"
                    + success.replacing("11:55", with: "11:57")
            ),
            inProcess(1, phone(success)).joined(separator: "\n")
                + inProcess(2, phone(success).replacing("2025-11-15", with: "2025-11-16")).joined(separator: "\n"),
        ]
    )
    func onePhone(log: String) {
        #expect(doubts(log).isEmpty)
    }

    @Test("two processes that write at once raise a doubt, also where their lines come in pieces")
    func processesAtOnce() throws {
        let first = Self.inProcess(1, Self.phone(Self.success))
        let second = Self.inProcess(
            2,
            Self.phone(Self.success).replacing("id=a", with: "id=b").replacing("12:00:00Z", with: "12:30:00Z")
        )
        let mixed = zip(first, second).flatMap { [$0, $1] }
        #expect(doubts(mixed.joined(separator: "\n")).contains(.processes))
        var decoder = logDecoder()
        var found: DeviceDoubts = []
        for line in mixed + mixed.map({ $0.replacing("2025-11-15", with: "2025-11-16") }) {
            found.formUnion(decoder.decode(Array("\(line)\n".utf8).span, readAt: readingTime).doubts)
        }
        #expect(found.contains(.processes))
    }

    @Test("named devices raise no doubt, nor does a log whose installation is given")
    func namedDevices() {
        let first = Self.inProcess(1, Self.phone(Self.success))
        let second = Self.inProcess(1, Self.phone(Self.failure("AuthError"))).map {
            $0.replacing("phone", with: "other")
        }
        #expect(doubts((first + second).joined(separator: "\n")).isEmpty)
        var options = LogDecoderOptions()
        options.installation = Pseudonym(high: 1, low: 2)
        #expect(doubts(Self.phone(Self.success) + Self.phone(Self.failure("NetworkError")), options).isEmpty)
        options.installation = nil
        options.source = Pseudonym(high: 0, low: 2)
        #expect(
            doubts(Self.phone(Self.success) + Self.phone(Self.failure("NetworkError")), options) == [.results, .stamps]
        )
    }

    @Test("doubts are told in words")
    func words() {
        #expect("\(DeviceDoubts.results)" == "two different results of one attempt")
        #expect(
            "\([.results, .processes, .stamps] as DeviceDoubts)"
                == "two different results of one attempt, two process ids at once and stamps that overlap"
        )
        #expect("\(DeviceDoubts())" == "")
    }
}
