package sweep

import (
	"strconv"
	"strings"

	"ais_bench/outputs"
)

// The axes of a load sweep.
const (
	Concurrency = "concurrency"  // requests in flight at most
	RequestRate = "request_rate" // requests/s offered
)

// Setting is one thing that was varied and the value it had.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Point is one atomic unit of a sweep: settings and the number of the
// repetition.
type Point struct {
	Settings []Setting `json:"settings"` // in the order of the sweep's axes
	Run      int       `json:"run"`      // from 1
}

// At is the point of a sweep with one numeric axis.
func At(axis string, value float64, run int) Point {
	return Point{Settings: []Setting{{axis, Number(value)}}, Run: run}
}

// Number is a value as settings hold it: 8, 0.5.
func Number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// keyEscape keeps names and values from being taken for the marks between them.
var keyEscape = strings.NewReplacer("%", "%25", ",", "%2C", "=", "%3D")

// Key names the point's folder. Different points have different keys.
func (p Point) Key() string {
	parts := make([]string, 0, len(p.Settings)+1)
	for _, s := range p.Settings {
		parts = append(parts, keyEscape.Replace(s.Name)+"="+keyEscape.Replace(s.Value))
	}
	return outputs.FileName(strings.Join(append(parts, "run="+strconv.Itoa(p.Run)), ","))
}

// String is the point as people read it: "concurrency 8, run 2".
func (p Point) String() string {
	parts := make([]string, 0, len(p.Settings)+1)
	for _, s := range p.Settings {
		parts = append(parts, s.Name+" "+s.Value)
	}
	return strings.Join(append(parts, "run "+strconv.Itoa(p.Run)), ", ")
}

// Value is the numeric value of a setting; false when the point has no such
// setting or it is no number.
func (p Point) Value(axis string) (float64, bool) {
	for _, s := range p.Settings {
		if s.Name == axis {
			v, err := strconv.ParseFloat(s.Value, 64)
			return v, err == nil
		}
	}
	return 0, false
}
