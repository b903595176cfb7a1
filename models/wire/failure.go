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
