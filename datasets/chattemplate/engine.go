package chattemplate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/ardanlabs/jinja"
)

// ardan is the engine of github.com/ardanlabs/jinja. Two things it leaves to its
// caller: line ends are not normalised and a final line break is not dropped, as
// Jinja does with every template.
type ardan struct{ tpl *jinja.Template }

func compile(source string) (renderer, error) {
	source = strings.TrimSuffix(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	tpl, err := jinja.Compile(source)
	if err != nil {
		return nil, err
	}
	return ardan{tpl}, nil
}

func (a ardan) render(vars map[string]json.RawMessage) (string, error) {
	values := make(map[string]jinja.Value, len(vars))
	for name, raw := range vars {
		v, err := fromJSON(raw)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		values[name] = v
	}
	return a.tpl.RenderValues(values)
}

// fromJSON keeps the order of keys and the difference between 1 and 1.0.
func fromJSON(raw []byte) (jinja.Value, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := readValue(d)
	if err != nil {
		return v, err
	}
	if _, err := d.Token(); err != io.EOF {
		return v, fmt.Errorf("something follows the JSON value")
	}
	return v, nil
}

func readValue(d *json.Decoder) (jinja.Value, error) {
	tok, err := d.Token()
	if err != nil {
		return jinja.None(), err
	}
	switch x := tok.(type) {
	case nil:
		return jinja.None(), nil
	case bool:
		return jinja.NewBool(x), nil
	case string:
		return jinja.NewString(x), nil
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return jinja.NewInt(n), nil
		}
		f, err := x.Float64()
		return jinja.NewFloat(f), err
	}
	if tok == json.Delim('[') {
		items := []jinja.Value{}
		for d.More() {
			v, err := readValue(d)
			if err != nil {
				return v, err
			}
			items = append(items, v)
		}
		_, err := d.Token()
		return jinja.NewList(items), err
	}
	dict := jinja.NewDict()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return dict, err
		}
		v, err := readValue(d)
		if err != nil {
			return dict, err
		}
		name, _ := key.(string) // a decoder gives nothing else here
		dict.AsDict().Set(name, v)
	}
	_, err = d.Token()
	return dict, err
}
