import Testing
@testable import Collector
@Test func placeholder() { #expect(BuildVersion.current != "") }
