// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import MetricsRegistry
import Testing

@Suite("Destroying swift-metrics instruments")
struct SwiftMetricsDestroyTests {
    private func count(_ dimensions: [(String, String)], by amount: Int = 1, _ factory: RegistryMetricsFactory) {
        CoreMetrics.Counter(label: "hits", dimensions: dimensions, factory: factory).increment(by: amount)
    }

    @Test("a destroyed instrument leaves the page, and starts at zero when created again")
    func swiftMetricsDestroyDestroy() {
        let fixture = RegistryFixture()
        let factory = RegistryMetricsFactory(fixture.registry)
        let kept = CoreMetrics.Counter(label: "hits", dimensions: [("a", "1")], factory: factory)
        let gone = CoreMetrics.Counter(label: "hits", dimensions: [("a", "2"), ("b", "3")], factory: factory)
        kept.increment(by: 5)
        gone.increment(by: 6)
        gone.destroy()
        #expect(fixture.samples()[#"hits_total{a="1"}"#] == "5")
        #expect(fixture.samples()[#"hits_total{a="2",b="3"}"#] == nil)
        count([("b", "3"), ("a", "2")], by: 7, factory)
        count([("a", "2"), ("b", "3")], by: 1, factory)
        count([("a", "1")], by: 1, factory)
        #expect(fixture.samples()[#"hits_total{a="1"}"#] == "6")
        #expect(fixture.samples()[#"hits_total{a="2",b="3"}"#] == "8")
    }

    @Test("destroying an instrument of the overflow series does not affect the others")
    func destroyOverflowed() {
        var limits = RegistryLimits()
        limits.seriesPerFamily = 1
        let fixture = RegistryFixture(limits: limits)
        let factory = RegistryMetricsFactory(fixture.registry)
        let instruments = (0..<3).map { id in
            CoreMetrics.Counter(label: "hits", dimensions: [("id", "\(id)")], factory: factory)
        }
        for instrument in instruments { instrument.increment(by: 5) }
        instruments[1].destroy()
        instruments[2].increment(by: 1)
        #expect(fixture.samples()[#"hits_total{overflow="true"}"#] == "11")
        #expect(fixture.samples()[#"hits_total{id="0"}"#] == "5")
    }

    @Test("destroying an instrument twice does not remove its successor")
    func destroyTwice() {
        let fixture = RegistryFixture()
        let factory = RegistryMetricsFactory(fixture.registry)
        let first = factory.makeCounter(label: "hits", dimensions: [("a", "1")])
        factory.destroyCounter(first)
        count([("a", "1")], by: 7, factory)
        factory.destroyCounter(first)
        #expect(fixture.samples()[#"hits_total{a="1"}"#] == "7")
    }

    @Test("after a destruction others are still found, and any order of dimensions finds the new series")
    func othersAfterDestroy() {
        let fixture = RegistryFixture()
        let factory = RegistryMetricsFactory(fixture.registry)
        let second = RegistryMetricsFactory(fixture.registry)
        func handler(_ dimensions: [(String, String)], _ factory: RegistryMetricsFactory) -> any CounterHandler {
            factory.makeCounter(label: "hits", dimensions: dimensions)
        }
        let kept = handler([("a", "1")], factory)
        let orders = [[("a", "2"), ("b", "3")], [("b", "3"), ("a", "2")]]
        let gone = orders.map { handler($0, factory) } + orders.map { handler($0, second) }
        factory.destroyCounter(factory.makeCounter(label: "hits", dimensions: orders[0]))
        for _ in 0..<2 { #expect(handler([("a", "1")], factory) === kept) }
        let anew = orders.map { handler($0, factory) } + orders.map { handler($0, second) }
        #expect(anew.allSatisfy { made in !gone.contains { $0 === made } })
        for order in orders { count(order, by: 1, factory) }
        for order in orders { count(order, by: 1, second) }
        #expect(fixture.samples()[#"hits_total{a="2",b="3"}"#] == "4")
    }

    @Test("every kind of swift-metrics instrument can be destroyed")
    func destroyAll() {
        let fixture = RegistryFixture()
        let factory = RegistryMetricsFactory(fixture.registry)
        let fraction = FloatingPointCounter(label: "a", factory: factory)
        let meter = Meter(label: "b", factory: factory)
        let recorder = Recorder(label: "c", factory: factory)
        let gauge = CoreMetrics.Gauge(label: "d", factory: factory)
        let timer = Timer(label: "e", factory: factory)
        #expect(fixture.page() != "")
        fraction.destroy()
        meter.destroy()
        recorder.destroy()
        gauge.destroy()
        timer.destroy()
        #expect(fixture.page() == "")
    }
}
