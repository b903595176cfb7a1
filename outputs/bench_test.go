package outputs

import (
	"iter"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkReport1M writes everything a run of 1,000,000 requests leaves:
// Parquet and CSV, then the spreadsheet and the HTML report from the Parquet
// file. It reports the seconds of each and the peak resident memory.
func BenchmarkReport1M(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		r, err := Create(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		j, err := r.Journal("m", "d")
		if err != nil {
			b.Fatal(err)
		}
		for rec := range simulatedRecords(n, 64)() {
			if err := j.Append(rec); err != nil {
				b.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
		resetPeak()
		step := func(name string, f func() error) {
			start := b.Elapsed()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric((b.Elapsed() - start).Seconds(), name+"_s")
		}
		step("parquet", func() error { _, err := r.Seal("m", "d"); return err })
		d := demoHTML(0)
		d.Records = func() iter.Seq2[*Record, error] { return r.Records("m", "d") }
		step("excel", func() error { return r.WriteExcel(d) })
		step("html", func() error { return r.WriteHTML(d) })
		for _, f := range []string{r.PerformancePath("m", "d", "parquet"), r.ExcelPath(), r.HTMLPath()} {
			st, err := os.Stat(f)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(st.Size())/1e6, f[strings.LastIndexByte(f, '.')+1:]+"_MB")
		}
		b.ReportMetric(peakMB(), "peak_MB")
	}
}

// resetPeak makes the kernel forget the peak memory so far (Linux).
func resetPeak() {
	runtime.GC()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

func peakMB() float64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kb, _ := strconv.ParseFloat(f[1], 64)
			return kb / 1024
		}
	}
	return 0
}
