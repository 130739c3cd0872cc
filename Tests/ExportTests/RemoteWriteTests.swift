// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Export

@Suite("requests of Prometheus remote write")
struct RemoteWriteTests {
    /// The series of a request of either version with their labels resolved.
    private struct Series {
        var labels: [String]
        var tree: JSONTree

        /// `name{label=value,...}` without the target's labels.
        var identity: String {
            let pairs = stride(from: 0, to: labels.count, by: 2).map { (labels[$0], labels[$0 + 1]) }
            let name = pairs.first { $0.0 == "__name__" }?.1 ?? ""
            let own = pairs.filter { !["__name__", "instance", "job"].contains($0.0) }
            return name + (own.isEmpty ? "" : "{\(own.map { "\($0.0)=\($0.1)" }.joined(separator: ","))}")
        }
    }

    private func series(_ version: RemoteWrite.Version, _ request: JSONTree) -> [Series] {
        request["timeseries"].list.map { tree in
            switch version {
            case .v1:
                return Series(
                    labels: tree["labels"].list.flatMap { [$0["name"].text ?? "", $0["value"].text ?? ""] },
                    tree: tree
                )
            case .v2:
                let references = tree["labelsRefs"].list.map { Int($0.number ?? -1) }
                return Series(labels: references.map { request["symbols"][$0].text ?? "" }, tree: tree)
            }
        }
    }

    private func read(_ version: RemoteWrite.Version) throws -> (request: JSONTree, series: [String: Series]) {
        let page = try SamplePage().page()
        let bytes = RemoteWrite.request(
            version,
            page.remoteWriteSeries(of: SamplePage.resource),
            page.families,
            time: Int64(page.time / 1_000_000)
        )
        let request = try (version == .v1 ? ExportReader.remoteWrite1 : .remoteWrite2).read(bytes)
        let all = series(version, request)
        #expect(Set(all.map(\.identity)).count == all.count)
        return (request, Dictionary(all.map { ($0.identity, $0) }) { first, _ in first })
    }

    @Test("each series is sent as a scrape would store it, its labels sorted", arguments: RemoteWrite.Version.allCases)
    func seriesAreThoseOfAScrape(version: RemoteWrite.Version) throws {
        let (_, series) = try read(version)
        let values = series.filter { $0.value.tree["histograms"].isMissing }.mapValues {
            $0.tree["samples"][0]["value"].number ?? 0
        }
        #expect(values["failures_total{reason=AUTH}"] == 1)
        #expect(values["failures_total{reason=NETWORK}"] == 3)
        #expect(values["waiting"] == -2.5)
        #expect(values["unknown_ratio"]?.isNaN == true)
        #expect(values["delay_seconds_bucket{le=0.5}"] == 1)
        #expect(values["delay_seconds_bucket{le=60.0}"] == 3)
        #expect(values["delay_seconds_bucket{le=900.0}"] == 3)
        #expect(values["delay_seconds_bucket{le=+Inf}"] == 4)
        #expect(values["delay_seconds_sum"] == 932)
        #expect(values["delay_seconds_count"] == 4)
        for each in series.values {
            let names = stride(from: 0, to: each.labels.count, by: 2).map { each.labels[$0] }
            #expect(names == names.sorted() && Set(names).count == names.count)
            #expect(!each.labels.contains(""))
            #expect(each.tree["samples"].list.count + each.tree["histograms"].list.count == 1)
            let sample = each.tree["samples"].isMissing ? each.tree["histograms"][0] : each.tree["samples"][0]
            #expect(sample["timestamp"].text == "1763186000500")
        }
    }

    @Test("the target's labels are its job with the namespace, and the ledger", arguments: RemoteWrite.Version.allCases)
    func targetLabels(version: RemoteWrite.Version) throws {
        let (_, series) = try read(version)
        let labels = try #require(series["waiting"]?.labels)
        #expect(
            labels == [
                "__name__", "waiting", "instance", "0123456789abcdef0123456789abcdef", "job", "lab/dnp-telemetry",
            ]
        )
    }

    @Test("a label of the page wins over one of the target, and an empty one is left out")
    func ownLabelsWin() {
        var family = MetricsPage.Family()
        family.name = "own"
        var own = MetricsPage.Series()
        own.labels = [MetricsPage.Label("job", "mine"), MetricsPage.Label("empty", "")]
        family.series = [own]
        let series = MetricsPage(families: [family], time: 0).remoteWriteSeries(of: SamplePage.resource)
        #expect(series.first?.labels.map(\.name) == ["__name__", "instance", "job"])
        #expect(series.first?.labels.last?.value == "mine")
    }

    @Test("2.0 has a native histogram beside its fixed buckets, 1.0 the fixed buckets alone")
    func nativeHistograms() throws {
        let (_, older) = try read(.v1)
        #expect(older["drift_seconds"] == nil && older["drift_seconds_bucket{le=+Inf}"] != nil)
        #expect(older.values.allSatisfy { $0.tree["histograms"].isMissing })
        let (_, series) = try read(.v2)
        let histogram = try #require(series["drift_seconds"]).tree["histograms"][0]
        #expect(histogram["countInt"].text == "6")
        #expect(histogram["zeroCountInt"].text == "1")
        #expect(histogram["schema"].number == nil || histogram["schema"].number == 0)
        #expect(histogram["zeroThreshold"].number == 0x1p-128)
        // 0.75 in (0.5, 1]; 3 and 3.5 in (2, 4]; 1000 in (512, 1024], each bucket's bound at its index.
        #expect(histogram["positiveSpans"].list.map { $0["offset"].number ?? 0 } == [0, 7])
        #expect(histogram["positiveSpans"].list.map { $0["length"].number ?? 0 } == [3, 1])
        #expect(histogram["positiveDeltas"].list.map(\.number) == [1, -1, 2, -1])
        #expect(histogram["negativeDeltas"].list.map(\.number) == [1])
        #expect(series["drift_seconds_bucket{le=+Inf}"] != nil)
    }

    @Test("2.0 tells start times, and 1.0 has no field for them")
    func startTimes() throws {
        let (_, series) = try read(.v2)
        #expect(series["failures_total{reason=AUTH}"]?.tree["samples"][0]["startTimestamp"].text == "1763185000123")
        #expect(series["drift_seconds"]?.tree["histograms"][0]["startTimestamp"].text == "1763185000123")
        #expect(series["delay_seconds_count"]?.tree["samples"][0]["startTimestamp"].text == "1763185000123")
        #expect(series["waiting"]?.tree["samples"][0]["startTimestamp"].isMissing == true)
        #expect(
            try read(.v1).series["failures_total{reason=AUTH}"]?.tree["samples"][0]["startTimestamp"].isMissing == true
        )
    }

    @Test("an exemplar goes with its series", arguments: RemoteWrite.Version.allCases)
    func exemplars(version: RemoteWrite.Version) throws {
        let (request, series) = try read(version)
        let exemplars = try #require(series["failures_total{reason=AUTH}"]).tree["exemplars"]
        #expect(exemplars.list.count == 1)
        #expect(exemplars[0]["value"].number == 1)
        #expect(exemplars[0]["timestamp"].text == "1763185001123")
        let labels =
            version == .v1
            ? exemplars[0]["labels"].list.flatMap { [$0["name"].text, $0["value"].text] }
            : exemplars[0]["labelsRefs"].list.map { request["symbols"][Int($0.number ?? -1)].text }
        #expect(labels == ["schedule", "s-1"])
    }

    @Test("metadata has type, help and unit: a family's in 1.0, a series' in 2.0")
    func metadata() throws {
        let (first, _) = try read(.v1)
        let delay = first["metadata"].list.first { $0["metricFamilyName"].text == "delay_seconds" }
        #expect(delay?["type"].number == 3 && delay?["help"].text == "Delays." && delay?["unit"].text == "seconds")
        let (second, series) = try read(.v2)
        let metadata = try #require(series["failures_total{reason=AUTH}"]).tree["metadata"]
        #expect(metadata["type"].number == 1)
        #expect(second["symbols"][Int(metadata["helpRef"].number ?? -1)].text == "Failures by reason.")
        #expect(metadata["unitRef"].isMissing)
    }

    @Test("the symbols of 2.0 begin with the empty one, and each is there once")
    func symbols() throws {
        let symbols = try read(.v2).request["symbols"].list.map(\.text)
        #expect(symbols.first == "")
        #expect(Set(symbols).count == symbols.count)
    }

    @Test("the marker of an ended series is the NaN that Prometheus means", arguments: RemoteWrite.Version.allCases)
    func staleMarkers(version: RemoteWrite.Version) throws {
        let page = try SamplePage().page()
        let ended = page.remoteWriteSeries(of: SamplePage.resource).map(\.ended).filter { $0.isKnown(to: version) }
        let bytes = RemoteWrite.request(version, ended, [], time: 1)
        let marker: [UInt8] = [0x02, 0, 0, 0, 0, 0, 0xF0, 0x7F]
        var found = 0
        for start in bytes.indices.dropLast(8) where Array(bytes[start..<start + 8]) == marker { found += 1 }
        #expect(found == ended.count)
        let read = try (version == .v1 ? ExportReader.remoteWrite1 : .remoteWrite2).read(bytes)
        #expect(read["timeseries"].list.count == ended.count)
    }

    @Test("the headers name the version, the message and the compression")
    func headers() {
        let first = Dictionary(RemoteWrite.Version.v1.headers.map { ($0.name, $0.value) }) { a, _ in a }
        #expect(first["Content-Type"] == "application/x-protobuf")
        #expect(first["X-Prometheus-Remote-Write-Version"] == "0.1.0")
        let second = Dictionary(RemoteWrite.Version.v2.headers.map { ($0.name, $0.value) }) { a, _ in a }
        #expect(second["Content-Type"] == "application/x-protobuf;proto=io.prometheus.write.v2.Request")
        #expect(second["X-Prometheus-Remote-Write-Version"] == "2.0.0")
        #expect(first["Content-Encoding"] == "snappy" && second["Content-Encoding"] == "snappy")
    }
}

@Suite("snappy's block format, read with cramjam")
struct SnappyTests {
    private func blocks(_ contents: [[UInt8]]) -> [UInt8] {
        contents.flatMap { content in
            let block = SnappyBlock.compress(content)
            let lengths = [block.count, content.count].flatMap { length in
                (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
            }
            return lengths + block + content
        }
    }

    /// Content between noise and a single byte, with repeats from near and far.
    private func content(_ random: inout SplitMix64) -> [UInt8] {
        let length = Int.random(in: 0..<(1 << Int.random(in: 1..<19, using: &random)), using: &random)
        let symbols = UInt8.random(in: 0...255, using: &random)
        let repeats = Double.random(in: 0...1, using: &random)
        var bytes: [UInt8] = []
        while bytes.count < length {
            if !bytes.isEmpty, Double.random(in: 0...1, using: &random) < repeats {
                let start = Int.random(in: bytes.indices, using: &random)
                bytes += bytes[start..<min(start + Int.random(in: 1..<200, using: &random), bytes.count)]
            } else {
                bytes.append(UInt8.random(in: 0...symbols, using: &random))
            }
        }
        return bytes
    }

    @Test("content of chance of any size and entropy comes back as it was")
    func contentOfChance() throws {
        var random = SplitMix64(seed: 22)
        _ = try ExportReader.snappy.read(blocks((0..<400).map { _ in content(&random) }))
    }

    @Test("every length up to some hundred bytes and around a fragment comes back as it was")
    func everyLength() throws {
        let text = Array("the same text, the same text, and the same text again; ".utf8)
        let long = (0..<140_000).map { text[$0 % text.count] }
        let lengths = Array(0..<300) + [65_535, 65_536, 65_537, 65_551, 65_552, 131_072, 131_073]
        _ = try ExportReader.snappy.read(
            blocks(lengths.map { Array(long.prefix($0)) } + lengths.map { [UInt8](repeating: 7, count: $0) })
        )
    }

    @Test("a request compresses to two thirds at most, and zeros to a sixteenth")
    func pagesCompress() throws {
        let page = try SamplePage().page()
        let series = page.remoteWriteSeries(of: SamplePage.resource)
        let request = RemoteWrite.request(.v1, series, page.families, time: 1)
        #expect(SnappyBlock.compress(request).count * 3 < request.count * 2)
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        #expect(SnappyBlock.compress(zeros).count < 64 << 10)
    }
}
