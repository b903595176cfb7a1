package wire

// ErrorMessage is the message of an error value: a string, or an object with
// message (or msg, detail); anything else stands as it is.
func ErrorMessage(raw []byte) string {
	l := NewLexer(raw)
	if t, ok := l.Text(); ok {
		return Unescape(t)
	}
	if !l.Object() {
		return string(raw)
	}
	var found string
	for {
		key, ok := l.Key()
		if !ok {
			break
		}
		switch key {
		case "message", "msg", "detail":
			if t, ok := l.Text(); ok {
				if found == "" || key == "message" {
					found = Unescape(t)
				}
				continue
			}
		}
		l.Skip()
	}
	if found == "" || l.Err() != nil {
		return string(raw)
	}
	return found
}

// ReadFailure consumes the value of an error field; anything but null is a
// failure of the server's, whose message is kept.
func (a *Answer) ReadFailure(l *Lexer) Verdict {
	raw := l.Skip()
	if len(raw) == 0 || string(raw) == "null" {
		return 0
	}
	a.Failure = ErrorMessage(raw)
	return Failure
}
