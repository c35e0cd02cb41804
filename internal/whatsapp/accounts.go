package whatsapp

import (
	"sync"

	"carillon"
)

// maxAccounts bounds the parsed settings kept; beyond it an arbitrary one is dropped.
const maxAccounts = 8192

// accounts caches each sender's parsed settings. Changed settings are noticed by comparing their bytes.
type accounts struct {
	mu   sync.RWMutex
	byID map[int64]*account
}

func (as *accounts) of(s *carillon.Sender) (*account, error) {
	as.mu.RLock()
	a := as.byID[s.UID]
	as.mu.RUnlock()
	if a != nil && a.raw == string(s.Settings) {
		return a, nil
	}
	a, err := newAccount(s.Settings)
	if err != nil {
		return nil, err
	}
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.byID == nil {
		as.byID = make(map[int64]*account)
	}
	if len(as.byID) >= maxAccounts {
		for uid := range as.byID {
			delete(as.byID, uid)
			break
		}
	}
	as.byID[s.UID] = a
	return a, nil
}
