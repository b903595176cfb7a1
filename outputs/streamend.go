package outputs

import "strings"

// StreamEnd says how reading an answer (HTTP 200) came to its end. Status judges
// by the rules of the strict profile; what another client would have made of the
// same bytes depends on this: one that reads the body with an HTTP library fails on a
// body that breaks off, and sees nothing wrong with one that just ends.
//
// FirstOutput, LastOutput and LastEvent came with it: where it is "" they are Never because
// nobody kept them, elsewhere because no such event came.
type StreamEnd string

// The ends.
const (
	EndUnknown     StreamEnd = ""             // no answer to read, or written before ends were kept
	EndDone        StreamEnd = "done"         // [DONE] was read; the body's end is not waited for
	EndBody        StreamEnd = "body"         // the body ended as HTTP says: its last chunk, its length, or the close that ends it
	EndInEvent     StreamEnd = "in_event"     // the same, but within an event
	EndBroken      StreamEnd = "broken"       // the body broke off before its end: closed, reset, timed out, cancelled
	EndErrorObject StreamEnd = "error_object" // the server's error as a common event (data only); nothing was read after it
	EndErrorEvent  StreamEnd = "error_event"  // the server's error as an event of that name
	EndMalformed   StreamEnd = "malformed"    // something that is not the protocol; nothing was read after it
)

// The texts of Record.Error by which Ended knows an end of its own in records
// that do not say it.
const (
	ErrorNoTerminal  = "the stream ended without finish_reason or [DONE]"
	ErrorInEvent     = "the stream ended within an event"
	ErrorFromServer  = "the server reports: "
	ErrorGivenReason = "the server ended the answer with finish_reason "
)

// Ended is StreamEnd, or for records from before it was kept what status and
// error text tell of it: a success is taken to have ended properly.
func (r *Record) Ended() StreamEnd {
	if r.StreamEnd != EndUnknown || r.HTTPStatus != 200 {
		return r.StreamEnd
	}
	says := func(text string) bool { return strings.HasPrefix(r.Error, text) }
	switch r.Status {
	case StatusOK, StatusEmpty:
		return EndBody
	case StatusTruncated:
		switch {
		case says(ErrorNoTerminal):
			return EndBody
		case says(ErrorInEvent):
			return EndInEvent
		}
		return EndBroken
	case StatusStreamError:
		switch {
		case says(ErrorFromServer):
			return EndErrorObject
		case says(ErrorGivenReason):
			return EndBody
		}
		return EndBroken
	case StatusMalformed:
		return EndMalformed
	}
	return EndBroken
}
