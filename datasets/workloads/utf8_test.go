package workloads

import (
	"strings"
	"testing"
)

func TestRowsMustBeUTF8(t *testing.T) {
	var row shareGPTRow
	err := unmarshal([]byte("{\"conversations\":[{\"from\":\"human\",\"value\":\"h\xe9llo\"}]}"), &row)
	if err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("a Latin-1 row: %v, %+v", err, row)
	}
}
