package outputs

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Journals and Parquet files of before the ends were kept: neither has the fields.
func TestRecordsWithoutEndsAreRead(t *testing.T) {
	old := sampleRecord(1)
	old.FirstOutput, old.LastOutput, old.LastEvent = Never, Never, Never
	encoded := appendRecord(nil, old)
	got, err := decodeRecord(encoded)
	if err != nil || got.FirstOutput != Never || got.LastOutput != Never || got.LastEvent != Never || got.StreamEnd != EndUnknown {
		t.Errorf("journal: %v, %+v", err, got)
	}
	// What is new stands behind what was there, where older readers do not look.
	with := *old
	with.StreamEnd, with.LastEvent = EndBody, with.End
	longer := appendRecord(nil, &with)
	if !bytes.HasPrefix(longer[3:], encoded[2:]) { // the flag makes the flags a byte longer
		t.Error("the fields of before have moved")
	}

	type oldRow struct {
		Model      string `parquet:"model,dict"`
		Dataset    string `parquet:"dataset,dict"`
		SampleID   string `parquet:"sample_id"`
		Sent       *int64 `parquet:"sent_ns,optional"`
		End        *int64 `parquet:"end_ns,optional"`
		Status     string `parquet:"status,dict"`
		HTTPStatus *int32 `parquet:"http_status,optional"`
		Error      string `parquet:"error,optional"`
		Stream     bool   `parquet:"stream"`
	}
	path := filepath.Join(t.TempDir(), "old.parquet")
	code := int32(200)
	if err := parquet.WriteFile(path, []oldRow{{Model: "m", Sent: &old.Sent, End: &old.End, Status: string(StatusTruncated), HTTPStatus: &code, Error: ErrorNoTerminal, Stream: true}}); err != nil {
		t.Fatal(err)
	}
	recs, damage := collect(t, ReadRecords(path))
	if len(recs) != 1 || len(damage) != 0 {
		t.Fatalf("%d records, damage %v", len(recs), damage)
	}
	if r := recs[0]; r.LastEvent != Never || r.FirstOutput != Never || r.StreamEnd != EndUnknown || r.Ended() != EndBody || r.End != old.End {
		t.Errorf("parquet: %+v", r)
	}
}

func TestEnded(t *testing.T) {
	for _, c := range []struct {
		rec  Record
		want StreamEnd
	}{
		{Record{StreamEnd: EndBroken, Status: StatusOK, HTTPStatus: 200}, EndBroken}, // finish_reason, then a reset
		{Record{Status: StatusOK, HTTPStatus: 200}, EndBody},
		{Record{Status: StatusEmpty, HTTPStatus: 200}, EndBody},
		{Record{Status: StatusTruncated, HTTPStatus: 200, Error: ErrorNoTerminal}, EndBody},
		{Record{Status: StatusTruncated, HTTPStatus: 200, Error: ErrorInEvent + ": {"}, EndInEvent},
		{Record{Status: StatusTruncated, HTTPStatus: 200, Error: "read the response: the server closed the connection"}, EndBroken},
		{Record{Status: StatusStreamError, HTTPStatus: 200, Error: ErrorFromServer + "engine died"}, EndErrorObject},
		{Record{Status: StatusStreamError, HTTPStatus: 200, Error: ErrorGivenReason + "\"abort\""}, EndBody},
		{Record{Status: StatusStreamError, HTTPStatus: 200, Error: "read the response: connection reset by the server"}, EndBroken},
		{Record{Status: StatusTimeoutIdle, HTTPStatus: 200}, EndBroken},
		{Record{Status: StatusCancelled, HTTPStatus: 200}, EndBroken},
		{Record{Status: StatusMalformed, HTTPStatus: 200}, EndMalformed},
		{Record{Status: StatusHTTP5xx, HTTPStatus: 503}, EndUnknown},
		{Record{Status: StatusDial}, EndUnknown},
	} {
		if got := c.rec.Ended(); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.rec.Status, c.rec.Error, got, c.want)
		}
	}
}
