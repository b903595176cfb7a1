package tasks

import (
	"testing"

	"ais_bench/models"
)

// The service's metrics must be there when they were asked for, not when a command
// scrapes them by itself.
func TestMetricsThatAreNotThere(t *testing.T) {
	cfg := models.Config{Abbr: "m", Type: "openai_chat", URL: "http://127.0.0.1:1"}
	for _, tc := range []struct {
		asked *ServerMetrics
		must  bool
	}{
		{nil, false},
		{&ServerMetrics{URLs: []string{"auto"}}, true},
		{&ServerMetrics{URLs: []string{"auto"}, IfThere: true}, false},
	} {
		list, err := sources(cfg, tc.asked)
		if err != nil || len(list) != 1 || list[0].MustWork != tc.must {
			t.Errorf("%+v: %+v, %v", tc.asked, list, err)
		}
	}
}
