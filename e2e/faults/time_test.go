package faults

import (
	"time"

	"carillon/internal/base/provider"
)

// startedWithin checks that each message that was posted once started no earlier than its due time and no later than
// the given delay. Rescheduled requests are left out, since only the database knows their due time.
func (l *ledger) startedWithin(s *site, most time.Duration) {
	s.t.Helper()
	due := map[string]time.Time{}
	for _, a := range s.asks {
		if a.id != "" && !a.move {
			due[a.id] = a.due
		}
	}
	var latest time.Duration
	for _, p := range s.providers {
		for text, posts := range p.graph.All() {
			ref, err := provider.ParseRef(text)
			at, known := due[ref.NotificationID]
			if err != nil || !known || ref.Attempt != 1 {
				continue
			}
			late := posts[0].At.Sub(at)
			latest = max(latest, late)
			if late < 0 {
				l.fault("%s was posted %s before its time", text, -late)
			}
			if late > most {
				l.fault("%s was posted %s after its time", text, late)
			}
		}
	}
	s.note("start after its time", latest)
}
