// SPDX-License-Identifier: Apache-2.0

// Measures what the benchmarks "instruments" and "exposition" measure, with Prometheus' library for Go.
//
// Prints a line for each figure: its name, then its runs, separated by tabs. CPU time throughout, the collection of garbage
// with it: nanoseconds for instruments, milliseconds for pages; "… allocations" counts those of one page.
package main

import (
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	count = 5_000_000
	runs  = 5
	pages = 10
)

var buckets = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// cpuSeconds is the CPU time that this process has used.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// seconds does the work some times after a first time that doesn't count.
func seconds(work func()) []float64 {
	work()
	times := make([]float64, runs)
	for run := range times {
		start := cpuSeconds()
		work()
		times[run] = cpuSeconds() - start
	}
	return times
}

func tell(name string, figures []float64) {
	texts := make([]string, len(figures))
	for index, figure := range figures {
		texts[index] = fmt.Sprintf("%g", figure)
	}
	fmt.Printf("%s\t%s\n", name, strings.Join(texts, "\t"))
}

// nanoseconds tells the time of one of count steps, which some threads take at once.
func nanoseconds(name string, threads int, work func()) {
	times := seconds(func() {
		var group sync.WaitGroup
		for thread := 0; thread < threads; thread++ {
			group.Add(1)
			go func() {
				defer group.Done()
				work()
			}()
		}
		group.Wait()
	})
	for run := range times {
		times[run] *= 1e9 / count / float64(threads)
	}
	tell(name, times)
}

func instruments() {
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "plain_total", Help: "A counter."})
	add := func() {
		for index := 0; index < count; index++ {
			counter.Inc()
		}
	}
	nanoseconds("counter", 1, add)
	nanoseconds("counter, 2 threads", 2, add)

	one := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "one_total", Help: "Counters."}, []string{"path"})
	paths := make([]string, 128)
	for index := range paths {
		paths[index] = fmt.Sprintf("/v1/resource-%d", index)
	}
	lookUp := func() {
		for index := 0; index < count; index++ {
			one.WithLabelValues(paths[index&127]).Inc()
		}
	}
	nanoseconds("1 label", 1, lookUp)
	nanoseconds("1 label, 2 threads", 2, lookUp)

	two := prometheus.NewCounterVec(
		prometheus.CounterOpts{Name: "two_total", Help: "Counters."}, []string{"route", "status"})
	routes := make([]string, 16)
	for index := range routes {
		routes[index] = fmt.Sprintf("/v1/route-%d", index)
	}
	statuses := []string{"200", "400", "413", "503"}
	nanoseconds("2 labels", 1, func() {
		for index := 0; index < count; index++ {
			two.WithLabelValues(routes[index&15], statuses[index>>4&3]).Inc()
		}
	})

	histogram := prometheus.NewHistogram(
		prometheus.HistogramOpts{Name: "observed_seconds", Help: "A histogram.", Buckets: buckets})
	values := make([]float64, 1_024)
	for index := range values {
		values[index] = rand.Float64() * 12
	}
	observe := func() {
		for index := 0; index < count; index++ {
			histogram.Observe(values[index&1_023])
		}
	}
	nanoseconds("histogram", 1, observe)
	nanoseconds("histogram, 2 threads", 2, observe)
}

// answer takes a page and forgets it, in as little time as there is.
type answer struct {
	header http.Header
	status int
	bytes  int
}

func (a *answer) Header() http.Header             { return a.header }
func (a *answer) WriteHeader(status int)          { a.status = status }
func (a *answer) Write(bytes []byte) (int, error) { a.bytes += len(bytes); return len(bytes), nil }

func expositions() {
	registry := prometheus.NewRegistry()
	var counters []prometheus.Counter
	for family := 0; family < 10; family++ {
		vector := prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: fmt.Sprintf("requests_of_service_%d_total", family), Help: "Requests answered.",
		}, []string{"route", "status"})
		registry.MustRegister(vector)
		for route := 1_000; route < 2_000; route++ {
			counters = append(counters, vector.WithLabelValues(fmt.Sprintf("/v1/resources/%d", route), "200"))
		}
	}
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	round := 0
	for _, format := range []struct{ name, accept, encoding string }{
		{"text 0.0.4", "text/plain;version=0.0.4", "identity"},
		{"text 0.0.4, gzip", "text/plain;version=0.0.4", "gzip"},
		{"OpenMetrics 1.0.0", "application/openmetrics-text;version=1.0.0", "identity"},
		{"protobuf", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited", "identity"},
	} {
		request, err := http.NewRequest("GET", "/metrics", nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		request.Header.Set("Accept", format.accept)
		request.Header.Set("Accept-Encoding", format.encoding)
		var medians, allocations []float64
		for run := 0; run <= runs; run++ {
			times := make([]float64, pages)
			var before, after runtime.MemStats
			var mallocs uint64
			for page := range times {
				round++
				for index, counter := range counters {
					counter.Add(float64(round * index % 10_007))
				}
				answer := answer{header: http.Header{}}
				runtime.ReadMemStats(&before)
				start := cpuSeconds()
				handler.ServeHTTP(&answer, request)
				times[page] = (cpuSeconds() - start) * 1e3
				runtime.ReadMemStats(&after)
				mallocs += after.Mallocs - before.Mallocs
				if answer.status > 200 || answer.bytes < 10_000 {
					fmt.Fprintf(os.Stderr, "%s: status %d, %d bytes\n", format.name, answer.status, answer.bytes)
					os.Exit(1)
				}
			}
			if run > 0 {
				sort.Float64s(times)
				medians = append(medians, times[pages/2])
				allocations = append(allocations, float64(mallocs)/pages)
			}
		}
		tell(format.name, medians)
		tell(format.name+" allocations", allocations)
	}
}

func main() {
	instruments()
	expositions()
}
