package inspect

import "testing"

func TestSameValue(t *testing.T) {
	for _, tc := range []struct {
		own, told any
		same      bool
	}{
		{"torch.bfloat16", "bfloat16", true}, {"True", true, true}, {16.0, "16", true}, {"torch.float16", "auto", true},
		{"torch.float16", "bfloat16", false}, {32.0, "16", false}, {"auto", "fp8", false},
	} {
		if got := sameValue(tc.own, tc.told); got != tc.same {
			t.Errorf("%v and %v: %v", tc.own, tc.told, got)
		}
	}
}
