package meaning

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	maxMatrices = 256 << 20 // bytes in memory
	maxCompany  = 64 << 20  // of a company, and so of a base
	loadTime    = time.Minute
)

// shelf keeps the vectors of bases in memory: those that were used last, within a total bound and a bound per company.
type shelf struct {
	most, company int
	flights       singleflight.Group

	mu    sync.Mutex
	all   map[string]*kept // by company and base
	used  int
	by    map[string]int // bytes by company
	clock int64
}

type kept struct {
	company, vectors string
	m                *matrix
	at               int64 // of its last use
}

func newShelf(most, company int) *shelf {
	return &shelf{most: most, company: company, all: map[string]*kept{}, by: map[string]int{}}
}

// get returns the vectors of a base in the given state, and loads them if they are missing. A caller that gives up does not
// end the load: the next one finds them.
func (s *shelf) get(ctx context.Context, company, base, vectors string, load func(ctx context.Context) (*matrix, error)) (*matrix, error) {
	key := company + "/" + base
	if m := s.find(key, vectors); m != nil {
		return m, nil
	}
	loaded := s.flights.DoChan(key+"\x00"+vectors, func() (any, error) {
		if m := s.find(key, vectors); m != nil { // loaded meanwhile
			return m, nil
		}
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTime)
		defer cancel()
		m, err := load(within)
		if err == nil {
			s.put(key, &kept{company: company, vectors: vectors, m: m})
		}
		return m, err
	})
	select {
	case r := <-loaded:
		m, _ := r.Val.(*matrix)
		return m, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *shelf) find(key, vectors string) *matrix {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.all[key]
	if k == nil || k.vectors != vectors {
		return nil
	}
	s.clock++
	k.at = s.clock
	return k.m
}

func (s *shelf) put(key string, k *kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(key)
	size := k.m.size()
	if size > min(s.most, s.company) {
		return
	}
	for s.by[k.company]+size > s.company {
		s.remove(s.oldest(k.company))
	}
	for s.used+size > s.most {
		s.remove(s.oldest(""))
	}
	s.clock++
	k.at = s.clock
	s.all[key] = k
	s.used += size
	s.by[k.company] += size
}

// oldest returns the key of the vectors of a company, or of any, whose last use is longest ago.
func (s *shelf) oldest(company string) (key string) {
	at := int64(0)
	for name, k := range s.all {
		if (company == "" || k.company == company) && (key == "" || k.at < at) {
			key, at = name, k.at
		}
	}
	return key
}

func (s *shelf) remove(key string) {
	k := s.all[key]
	if k == nil {
		return
	}
	delete(s.all, key)
	s.used -= k.m.size()
	if s.by[k.company] -= k.m.size(); s.by[k.company] == 0 {
		delete(s.by, k.company)
	}
}
