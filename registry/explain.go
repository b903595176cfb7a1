package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/token"
)

// ExplainYAML says in one line what is wrong with a YAML text, for the person who
// wrote it: line, key, what belongs there and what is there. An error that is not
// the decoder's stays as it is.
func ExplainYAML(err error) error {
	var typ *yaml.TypeError
	var over *yaml.OverflowError
	var node *yaml.UnexpectedNodeTypeError
	var other yaml.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &typ):
		own := "" // what a type with a decoder of its own says of itself
		if before, _, ok := strings.Cut(err.Error(), typ.Error()); ok {
			own = oneLine(before) + " "
		}
		return fmt.Errorf("%s%sgive %s, not %s", at(typ.Token), strings.TrimLeft(own, " "), expected(typ.DstType), found(typ.Token, typ.SrcType))
	case errors.As(err, &over):
		return fmt.Errorf("%s%s is too large, or has a sign that it must not have: give %s", at(over.Token), shortened(over.SrcNum), expected(over.DstType))
	case errors.As(err, &node):
		return fmt.Errorf("%sgive %s, not %s", at(node.Token), nodeWords(node.Expected.YAMLName()), nodeWords(node.Actual.YAMLName()))
	case errors.As(err, &other):
		line := ""
		if t := other.GetToken(); t != nil && t.Position != nil {
			line = fmt.Sprintf("line %d: ", t.Position.Line)
		}
		return errors.New(line + oneLine(other.GetMessage()))
	}
	return errors.New(oneLine(yaml.FormatError(err, false, false)))
}

// nodeWords is a kind of YAML node in a reader's words.
func nodeWords(name string) string {
	switch name {
	case "mapping":
		return "a table of keys and values"
	case "sequence":
		return "a list"
	case "int", "float", "inf", "nan":
		return "a number"
	case "string", "scalar", "value":
		return "a text"
	case "boolean":
		return "true or false"
	case "null":
		return "nothing"
	}
	return "a " + name
}

// at names line and key of a value.
func at(t *token.Token) string {
	if t == nil || t.Position == nil {
		return ""
	}
	where := fmt.Sprintf("line %d: ", t.Position.Line)
	for p := t; p != nil; p = p.Prev {
		switch p.Type {
		case token.MappingValueType:
			if p.Prev == nil || p.Prev.Position == nil {
				return where
			}
			return where + "key " + p.Prev.Value + ": "
		case token.SequenceEntryType, token.SequenceStartType, token.CollectEntryType:
			continue // of a list: the key is before it
		}
		if p != t && p.Position != nil && p.Position.Line != t.Position.Line {
			return where // the key of another value
		}
	}
	return where
}

// expected is a Go type in a reader's words.
func expected(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return "another value"
	}
	if t.Name() == "Duration" {
		return "a time such as 30s"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number, 0 or more"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a table of keys and values"
	}
	return "another value"
}

// found is what stands in the file.
func found(t *token.Token, src reflect.Type) string {
	if src != nil {
		switch src.Kind() {
		case reflect.Slice, reflect.Array:
			return "a list"
		case reflect.Map, reflect.Struct:
			return "a table of keys and values"
		}
	}
	if t == nil {
		return "this"
	}
	switch t.Type {
	case token.SequenceEntryType, token.SequenceStartType:
		return "a list"
	case token.MappingStartType, token.MappingValueType, token.MappingKeyType:
		return "a table of keys and values"
	}
	if src != nil && src.Kind() == reflect.String {
		return "the text " + strconv.Quote(shortened(t.Value))
	}
	return shortened(t.Value)
}

// shortened keeps the beginning of what a file holds.
func shortened(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// ExplainJSON says in one line what is wrong with a JSON text; err is the
// decoder's, and text what it was given from its beginning (nil where the caller
// names the line). An error that is not the decoder's stays as it is.
func ExplainJSON(text []byte, err error) error {
	var typ *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) || text != nil && len(bytes.TrimSpace(text)) == 0:
		return errors.New("it is empty")
	case errors.As(err, &typ):
		key := ""
		if typ.Field != "" {
			key = "key " + typ.Field + ": "
		}
		return fmt.Errorf("%s%sgive %s, not %s", lineAt(text, typ.Offset), key, jsonExpected(typ.Type), jsonFound(typ.Value))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax) && strings.HasPrefix(syntax.Error(), "unexpected end"):
		return fmt.Errorf("%sit ends before it is complete", lineAt(text, int64(len(text))))
	case errors.As(err, &syntax):
		return fmt.Errorf("%s%w", lineAt(text, syntax.Offset), err)
	}
	return err
}

// lineAt names the line of an offset; nothing in a text of one line.
func lineAt(text []byte, offset int64) string {
	text = bytes.TrimRight(text, "\r\n")
	if !bytes.ContainsRune(text, '\n') {
		return ""
	}
	offset = min(max(offset, 0), int64(len(text)))
	return fmt.Sprintf("line %d: ", 1+bytes.Count(text[:offset], []byte("\n")))
}

func jsonExpected(t reflect.Type) string {
	if e := expected(t); e != "a table of keys and values" {
		return e
	}
	return "an object ({…})"
}

func jsonFound(value string) string {
	kind, rest, _ := strings.Cut(value, " ")
	switch kind {
	case "object":
		return "an object ({…})"
	case "array":
		return "a list"
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	case "number":
		if rest != "" {
			return "the number " + shortened(rest)
		}
		return "a number"
	}
	return value
}

// DuplicateKey is an error for the first object of a JSON text that has a key
// twice: a decoder takes the last and drops the other without a word. A text that
// is no JSON has none.
func DuplicateKey(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return duplicateIn(d, text, "")
}

func duplicateIn(d *json.Decoder, text []byte, path string) error {
	t, err := d.Token()
	if err != nil {
		return nil // the caller's decoding says what is wrong
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for i := 0; d.More(); i++ {
		inner := fmt.Sprintf("%s[%d]", path, i)
		if delim == '{' {
			k, err := d.Token()
			key, ok := k.(string)
			if err != nil || !ok {
				return nil
			}
			inner = strings.TrimPrefix(path+"."+key, ".")
			if seen[key] {
				return fmt.Errorf("%skey %s is given twice: keep one", lineAt(text, d.InputOffset()), inner)
			}
			seen[key] = true
		}
		if err := duplicateIn(d, text, inner); err != nil {
			return err
		}
	}
	_, _ = d.Token() // the end of it; a text that is cut short ends here
	return nil
}
