package pyrandom

import (
	"fmt"
	"reflect"
	"testing"
)

// The expected values are CPython's own.
func TestAgainstCPython(t *testing.T) {
	check := func(name string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	r := New(0)
	check("Random(0).sample(range(4),4) x3", [][]int{r.Sample(4, 4), r.Sample(4, 4), r.Sample(4, 4)},
		[][]int{{3, 1, 0, 2}, {3, 1, 2, 0}, {2, 3, 0, 1}})
	check("Random(42).shuffle", New(42).Perm(4), []int{2, 1, 3, 0})
	r = New(0)
	check("Random(0).shuffle x2", [][]int{r.Perm(4), r.Perm(4)}, [][]int{{2, 0, 1, 3}, {0, 1, 3, 2}})
	check("Random(1234).sample(range(100),5)", New(1234).Sample(100, 5), []int{99, 56, 14, 0, 11})
	r = New(0)
	check("Random(0).random() x2", []float64{r.Random(), r.Random()}, []float64{0.8444218515250481, 0.7579544029403025})
	r = New(0)
	check("Random(0).getrandbits(32) x2", []uint64{r.Bits(32), r.Bits(32)}, []uint64{3626764237, 1654615998})
	check("Random(7).choices(range(10),k=10)", New(7).Choices(10, 10), []int{3, 1, 6, 0, 5, 3, 0, 5, 0, 4})
	r = New(42)
	check("Random(42).randint x2", []int{r.Int(1000000, 9999999), r.Int(1000000, 9999999)}, []int{2867825, 1419610})
	check("Random(-1) seeds like Random(1)", New(-1).Uint32(), New(1).Uint32())
}

func TestSampleOfALargeRangeHasNoRepeats(t *testing.T) {
	for _, c := range [][2]int{{10000, 5}, {10000, 300}, {30, 30}} {
		seen := map[int]bool{}
		for _, v := range New(3).Sample(c[0], c[1]) {
			if v < 0 || v >= c[0] || seen[v] {
				t.Fatalf("Sample(%d, %d): %d is out of range or repeated", c[0], c[1], v)
			}
			seen[v] = true
		}
		if len(seen) != c[1] {
			t.Error(fmt.Sprint(c, len(seen)))
		}
	}
}
