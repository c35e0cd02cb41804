package telephone

import (
	"errors"
	"sync"
	"time"

	"carillon"
	"carillon/internal/call/sip"
)

// demanded checks that a call meets the requirements of its line's trunk.
func (t *Telephone) demanded(in *sip.Incoming, line *carillon.Sender, trunk sip.Trunk) error {
	err := in.Demand(trunk)
	var why *sip.Refused
	if !errors.As(err, &why) {
		return err
	}
	asked := why.Code == 401 && in.Header("Authorization") == "" // each call begins without credentials
	if !asked && t.refused.due("line "+line.CompanyID+"/"+line.ID+" "+why.Error(), time.Now()) {
		t.o.Log.Warn("a call is refused: it does not come as its line demands", "company", line.CompanyID, "line", line.ID, "why",
			why.Error())
	}
	return &refusal{why.Code, why.Reason}
}

const (
	saidAgain = time.Minute
	maxSaid   = 1000
)

// seldom limits repeated log messages to one per minute each.
type seldom struct {
	mu   sync.Mutex
	said map[string]time.Time
}

// due reports whether to log now.
func (s *seldom) due(what string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, known := s.said[what]; known && now.Sub(last) < saidAgain {
		return false
	}
	if s.said == nil || len(s.said) >= maxSaid {
		s.said = map[string]time.Time{}
	}
	s.said[what] = now
	return true
}
