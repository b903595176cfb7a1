package outputs

import "fmt"

// Counted is a number with its noun in English, whose plural adds an s: "1
// request", "2 requests".
func Counted[N ~int | ~int32 | ~int64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
