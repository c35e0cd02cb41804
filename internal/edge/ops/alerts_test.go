package ops

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Counters of alerts begin at 0 and not with their first event, which would be missing in an increase.
func TestCountersOfAlertsBeginAtZero(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("../../../deploy/prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	families, err := NewMetrics("1", "sqlite").Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetType().String() == "COUNTER" && m.GetCounter().GetValue() == 0 {
				has[f.GetName()] = true
				for _, l := range m.GetLabel() {
					has[f.GetName()+"{"+l.GetName()+`="`+l.GetValue()+`"}`] = true
				}
			}
		}
	}
	asked := 0
	for _, m := range regexp.MustCompile(`(carillon_[a-z_]+_total)(\{[^}]*\})?`).FindAllStringSubmatch(string(rules), -1) {
		if name := strings.TrimSpace(m[0]); !has[name] && !read[m[1]] {
			t.Errorf("%s does not exist from the start", name)
		}
		asked++
	}
	if asked < 10 {
		t.Errorf("only %d counters are asked for", asked)
	}
}

// read has the counters that are read from other packages at each scrape.
var read = map[string]bool{
	"carillon_db_wait_seconds_total": true, "carillon_shards_lost_total": true,
}
