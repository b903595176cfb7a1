package outputs

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// sampleRecord is a record whose fields all differ and depend on i.
func sampleRecord(i int) *Record {
	rng := rand.New(rand.NewPCG(uint64(i), 7))
	r := &Record{
		Model: "m", Dataset: "d", SampleID: fmt.Sprint("s", i), Repeat: int32(i % 3), Turn: 1, SessionID: "conv", Attempt: 2,
		Phase: PhaseMeasured, RequestID: fmt.Sprintf("req-%06d", i),
		Scheduled: int64(i) * 1e6, Sent: int64(i)*1e6 + 500, Connected: int64(i)*1e6 + 900, FirstByte: Never,
		FirstEvent: int64(i)*1e6 + 2e7, FirstToken: int64(i)*1e6 + 2e7, FirstAnswerToken: Never,
		LastToken: int64(i)*1e6 + 9e8, End: int64(i)*1e6 + 9e8 + 10,
		FirstOutput: int64(i)*1e6 + 2e7, LastOutput: Never, LastEvent: int64(i)*1e6 + 9e8 + 5,
		InputTokens: int32(100 + i), OutputTokens: 40, ReasoningTokens: UnknownTokens, CachedTokens: 0, TokenSource: TokensUsage, MaxTokens: 512,
		Status: StatusOK, HTTPStatus: 200, FinishReason: "stop", Stream: true, KernelStamp: i%2 == 0, Reused: true,
		Resent: 1, Reads: 39, Coalesced: 2, BytesIn: 12345,
		Text: "答案是 42\n\"quoted\" \x00 nul", Reasoning: "let me think", ToolCalls: `[{"id":"1"}]`, Prompt: "问题?", PromptSHA256: strings.Repeat("ab", 32),
	}
	at := int64(2e7)
	for range 40 {
		r.ChunkAt = append(r.ChunkAt, at)
		r.ChunkTokens = append(r.ChunkTokens, rng.Int32N(3))
		at += 2e7 + rng.Int64N(1e6)
	}
	return r
}

// extremeRecords are the corners of every field.
func extremeRecords() []*Record {
	all := &Record{}
	for _, p := range all.times() {
		*p = Never
	}
	for _, p := range all.moreTimes() {
		*p = Never
	}
	odd := sampleRecord(3)
	odd.Scheduled, odd.Sent, odd.End = math.MaxInt64, math.MinInt64+1, -5
	odd.ChunkAt, odd.ChunkTokens = []int64{math.MaxInt64, math.MinInt64, 0, -1}, []int32{math.MinInt32, math.MaxInt32}
	odd.InputTokens, odd.BytesIn = math.MaxInt32, math.MinInt64
	same := sampleRecord(4)
	for i := range same.ChunkTokens {
		same.ChunkTokens[i] = 1
	}
	onlyTokens := sampleRecord(5)
	onlyTokens.ChunkAt = nil
	one := sampleRecord(6)
	one.ChunkAt, one.ChunkTokens = one.ChunkAt[:1], nil
	big := sampleRecord(7)
	big.Text = strings.Repeat("长", 400_000)
	return []*Record{{}, all, odd, same, onlyTokens, one, big}
}

func collect(t *testing.T, seq iter.Seq2[*Record, error]) (recs []*Record, damage []*DamageError) {
	t.Helper()
	for r, err := range seq {
		var d *DamageError
		if errors.As(err, &d) {
			damage = append(damage, d)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r)
	}
	return recs, damage
}

func TestRecordCodecRoundTrip(t *testing.T) {
	records := extremeRecords()
	for i := range 50 {
		records = append(records, sampleRecord(i))
	}
	for i, r := range records {
		got, err := decodeRecord(appendRecord(nil, r))
		if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		if !reflect.DeepEqual(got, r) {
			t.Errorf("record %d changed:\n got %+v\nwant %+v", i, got, r)
		}
	}
}

// Every field of Record must be stored; a field added to the contract and
// forgotten here fails this test.
func TestCodecAndParquetCoverEveryField(t *testing.T) {
	rec := &Record{}
	v := reflect.ValueOf(rec).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		switch f.Kind() {
		case reflect.String:
			f.SetString(fmt.Sprint("text", i))
		case reflect.Int32, reflect.Int64:
			f.SetInt(int64(1000 + i))
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 2, 2))
			f.Index(0).SetInt(int64(i))
			f.Index(1).SetInt(int64(i + 1))
		default:
			t.Fatalf("field %s has the new kind %s: teach codec and Parquet about it", v.Type().Field(i).Name, f.Kind())
		}
	}
	got, err := decodeRecord(appendRecord(nil, rec))
	if err != nil || !reflect.DeepEqual(got, rec) {
		t.Errorf("codec: %v\n got %+v\nwant %+v", err, got, rec)
	}
	var row parquetRow
	toRow(&row, rec)
	if got := fromRow(&row); !reflect.DeepEqual(got, rec) {
		t.Errorf("parquet\n got %+v\nwant %+v", got, rec)
	}
}

func TestDecodeRecordNeverPanics(t *testing.T) {
	whole := appendRecord(nil, sampleRecord(1))
	for n := range whole {
		if _, err := decodeRecord(whole[:n]); err == nil {
			t.Fatalf("a record cut at byte %d of %d was accepted", n, len(whole))
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		b := append([]byte(nil), whole...)
		for range 1 + rng.IntN(4) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		decodeRecord(b)
	}
	if _, err := decodeRecord([]byte{9, 0}); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("another format version: %v", err)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add(appendRecord(nil, sampleRecord(1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decodeRecord(b); err == nil {
			if again, err := decodeRecord(appendRecord(nil, r)); err != nil || !reflect.DeepEqual(again, r) {
				t.Fatalf("decoded record does not round-trip: %v", err)
			}
		}
	})
}

func TestLongStreamsStaySmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	r := sampleRecord(1)
	r.ChunkAt, r.ChunkTokens = nil, nil
	at := int64(0)
	for range 4096 {
		at += 20_000_000 + rng.Int64N(400_000) - 200_000 // 50 token/s, ±0.2 ms
		r.ChunkAt = append(r.ChunkAt, at)
		r.ChunkTokens = append(r.ChunkTokens, 1)
	}
	if n := len(appendRecord(nil, r)); n > 13_000 {
		t.Errorf("4,096 tokens take %d bytes, want at most 13,000", n)
	}
}

func writeJournal(t *testing.T, path string, recs ...*Record) {
	t.Helper()
	j, err := openJournal(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recs {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// The file is cut at every byte of its last two frames: what was whole
// survives, the journal can be continued, and the repair is noted.
func TestTornJournal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "whole.journal")
	small := func(i int) *Record {
		r := sampleRecord(i)
		r.ChunkAt, r.ChunkTokens = r.ChunkAt[:4], nil
		return r
	}
	var ends []int
	for i := range 4 {
		writeJournal(t, path, small(i))
		st, _ := os.Stat(path)
		ends = append(ends, int(st.Size()))
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(dir, "torn.journal")
	for cut := ends[1]; cut <= len(whole); cut++ {
		want := 2
		for _, e := range ends[2:] {
			if cut >= e {
				want++
			}
		}
		atFrame := cut == ends[1] || cut == ends[2] || cut == ends[3]
		if err := os.WriteFile(torn, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		recs, damage := collect(t, ReadJournal(torn))
		if len(recs) != want || (len(damage) == 0) != atFrame {
			t.Fatalf("cut at %d: %d records and damage %v, want %d records", cut, len(recs), damage, want)
		}
		if len(damage) > 0 && !damage[0].Tail {
			t.Fatalf("cut at %d: the damage is not called a torn tail: %v", cut, damage[0])
		}
		if cut%7 != 0 && !atFrame {
			continue // opening is checked at every seventh byte: each costs a sync
		}
		j, err := openJournal(torn, nil)
		if err != nil {
			t.Fatal(err)
		}
		if (j.Note() == "") != atFrame || j.Len() != int64(want) {
			t.Fatalf("cut at %d: note %q, %d records", cut, j.Note(), j.Len())
		}
		j.Append(small(99))
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		recs, damage = collect(t, ReadJournal(torn))
		if len(recs) != want+1 || len(damage) != 0 || !reflect.DeepEqual(recs[want], small(99)) {
			t.Fatalf("cut at %d: after the repair %d records, damage %v", cut, len(recs), damage)
		}
	}
}

func TestJournalHeaderCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.journal")
	writeJournal(t, path)
	whole, _ := os.ReadFile(path)
	for cut := range whole {
		os.WriteFile(path, whole[:cut], 0o644)
		if recs, _ := collect(t, ReadJournal(path)); len(recs) != 0 {
			t.Fatalf("cut at %d: records out of nothing", cut)
		}
		j, err := openJournal(path, nil)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		j.Close()
	}
	os.WriteFile(path, []byte("this is something else entirely, longer than a header"), 0o644)
	if _, err := openJournal(path, nil); err == nil {
		t.Fatal("a foreign file was taken for a journal")
	}
}

// Damage in the middle costs the records it hits and no others.
func TestJournalDamageInTheMiddle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.journal")
	var recs []*Record
	for i := range 20 {
		recs = append(recs, sampleRecord(i))
	}
	writeJournal(t, path, recs...)
	whole, _ := os.ReadFile(path)
	frame := (len(whole) - journalHeader) / 20
	for _, at := range []int{0, 1, 2, 5, 8, 30, frame / 2} {
		b := append([]byte(nil), whole...)
		b[journalHeader+10*frame+at] ^= 0x55
		os.WriteFile(path, b, 0o644)
		got, damage := collect(t, ReadJournal(path))
		if len(got) < 19 || len(damage) != 1 || damage[0].Tail {
			t.Errorf("flip at +%d: %d records, damage %v", at, len(got), damage)
		}
	}
}

func TestConcurrentAppends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.journal")
	j, err := openJournal(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	const workers, each = 16, 200
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				if err := j.Append(sampleRecord(w*each + i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	recs, damage := collect(t, ReadJournal(path))
	seen := map[string]bool{}
	for _, r := range recs {
		seen[r.SampleID] = true
	}
	if len(recs) != workers*each || len(seen) != workers*each || len(damage) != 0 {
		t.Fatalf("%d records (%d distinct), damage %v", len(recs), len(seen), damage)
	}
	if err := j.Append(sampleRecord(0)); !errors.Is(err, errClosed) {
		t.Errorf("Append after Close: %v", err)
	}
}

func BenchmarkAppendSmall(b *testing.B) {
	j, err := openJournal(filepath.Join(b.TempDir(), "x.journal"), nil)
	if err != nil {
		b.Fatal(err)
	}
	r := sampleRecord(1)
	r.ChunkAt, r.ChunkTokens = r.ChunkAt[:8], nil
	b.ReportAllocs()
	for b.Loop() {
		j.Append(r)
	}
	b.StopTimer()
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkAppend4096(b *testing.B) {
	j, err := openJournal(filepath.Join(b.TempDir(), "x.journal"), nil)
	if err != nil {
		b.Fatal(err)
	}
	r := sampleRecord(1)
	for len(r.ChunkAt) < 4096 {
		r.ChunkAt = append(r.ChunkAt, r.ChunkAt[len(r.ChunkAt)-1]+2e7)
	}
	r.ChunkTokens = nil
	b.ReportAllocs()
	for b.Loop() {
		j.Append(r)
	}
	b.StopTimer()
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
}
