// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("the reader of pages that these tests use")
struct MetricsPageTests {
    @Test("labels, escapes, types and infinities are read")
    func reads() {
        let page = MetricsPage(
            #"""
            # HELP a_total A help, with "quotes" and a 7.
            # TYPE a_total counter
            a_total 3
            a_total{reason="x, y}=\"z\" \\ \n",kind="k"} 4.5
            b_bucket{le="+Inf"} 7 1700000000000
            c +Inf
            """#
        )
        #expect(page.value("a_total") == 3)
        #expect(page.value("a_total", ["kind": "k", "reason": "x, y}=\"z\" \\ \n"]) == 4.5)
        #expect(page.sum("a_total") == 7.5)
        #expect(page.value("b_bucket", ["le": "+Inf"]) == 7)
        #expect(page.value("c") == .infinity)
        #expect(page.types == ["a_total": "counter"])
        #expect(page.samples.count == 4)
    }

    @Test("a counter that falls or goes away is noticed, a gauge is not")
    func watch() {
        var watch = CounterWatch()
        watch.observe(MetricsPage("# TYPE dnp_prefetch_open gauge\ndnp_prefetch_open 5\ndnp_prefetch_a_total 2\n"))
        watch.observe(MetricsPage("# TYPE dnp_prefetch_open gauge\ndnp_prefetch_open 1\ndnp_prefetch_a_total 2\n"))
        #expect(watch.falls == [])
        watch.observe(MetricsPage("dnp_prefetch_a_total 1\n"))
        #expect(watch.falls.count == 1)
        watch.observe(MetricsPage(""))
        #expect(watch.falls.count == 2)
        #expect(watch.scrapes == 4)
    }
}
