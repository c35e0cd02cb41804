package share_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"carillon"
	"carillon/internal/base/share"
)

// maxPlaces bounds the places that a test takes before it fails.
const maxPlaces = 100_000

// fill takes places for the holders that next returns until one is refused.
func fill(t *testing.T, s *share.Share, next func(i int) share.Holder) (n int, refused error) {
	t.Helper()
	for n = range maxPlaces {
		if _, refused = s.Take(next(n)); refused != nil {
			return n, refused
		}
	}
	t.Fatalf("%d places were taken, and none refused", maxPlaces)
	return n, nil
}

// TestACompanyIsServedBesideOneThatHoldsAllItMay walks every resource: company A takes all it can get with any number
// of clients and sessions, and company B still gets a place.
func TestACompanyIsServedBesideOneThatHoldsAllItMay(t *testing.T) {
	for _, r := range share.Resources() {
		t.Run(r.Name, func(t *testing.T) {
			switch {
			case r.Waits && r.Company == 0:
				servesTheOtherCompanyNext(t, share.New(r))
				return
			case r.Company == 0 && r.Client > 0:
				s := share.New(r)
				fill(t, s, func(int) share.Holder { return share.Holder{Client: "192.0.2.1"} })
				if _, err := s.Take(share.Holder{Client: "192.0.2.2"}); err != nil {
					t.Errorf("another client: %v", err)
				}
				return
			}
			if r.Bytes {
				r.Node, r.Company = r.Node>>10, r.Company>>10
			}
			s := share.New(r)
			n, refused := fill(t, s, func(i int) share.Holder {
				return share.Holder{Company: "a", Client: "client " + strconv.Itoa(i), Session: "session " + strconv.Itoa(i)}
			})
			if int64(n) != r.Company {
				t.Errorf("company A holds %d, want %d", n, r.Company)
			}
			if !carillon.IsCode(refused, carillon.RateLimitExceeded) {
				t.Errorf("the refusal is %v", refused)
			}
			if _, err := s.Take(share.Holder{Company: "b", Client: "other", Session: "other"}); err != nil {
				t.Errorf("company B: %v", err)
			}
		})
	}
}

// servesTheOtherCompanyNext checks that one late request of B is served before many waiting requests of A.
func servesTheOtherCompanyNext(t *testing.T, s *share.Share) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var held []*share.Place
		for int64(len(held)) < s.Counts().Resource.Node {
			p, err := s.Wait(t.Context(), share.Holder{Company: "a"})
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, p)
		}
		var mu sync.Mutex
		var order []string
		for _, company := range []string{"a", "a", "a", "b"} {
			go func() {
				if _, err := s.Wait(t.Context(), share.Holder{Company: company}); err == nil {
					mu.Lock()
					order = append(order, company)
					mu.Unlock()
				}
			}()
			synctest.Wait()
		}
		held[0].Release()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if len(order) != 1 || order[0] != "b" {
			t.Errorf("served %v, want b alone", order)
		}
	})
}

func TestEachLevelIsBoundAndSaysSo(t *testing.T) {
	r := share.Resource{Name: "x", Holds: "things", Node: 5, Company: 4, Visitors: 3, Client: 2, Session: 1}
	for _, c := range []struct {
		name   string
		next   func(i string) share.Holder
		most   int
		code   carillon.Code
		reason string
	}{
		{"session", func(i string) share.Holder {
			return share.Holder{Company: "c" + i, Client: "n" + i, Session: "s"}
		}, 1, carillon.RateLimitExceeded, "A session holds at most 1 things; retry when one has ended"},
		{"client", func(i string) share.Holder {
			return share.Holder{Company: "c" + i, Client: "n", Session: "s" + i}
		}, 2, carillon.RateLimitExceeded, "A client holds at most 2 things; retry when one has ended"},
		{"visitors", func(i string) share.Holder {
			return share.Holder{Company: "c", Visitor: true, Client: "n" + i, Session: "s" + i}
		}, 3, carillon.RateLimitExceeded, "The visitors of a company hold at most 3 things; retry when one has ended"},
		{"company", func(i string) share.Holder {
			return share.Holder{Company: "c", Client: "n" + i, Session: "s" + i}
		}, 4, carillon.RateLimitExceeded, "A company holds at most 4 things; retry when one has ended"},
		{"node", func(i string) share.Holder {
			return share.Holder{Company: "c" + i, Client: "n" + i, Session: "s" + i}
		}, 5, carillon.ServiceUnavailable, "This node holds at most 5 things; retry later"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := fill(t, share.New(r), func(i int) share.Holder { return c.next(strconv.Itoa(i)) })
			var e *carillon.Error
			if n != c.most || !errors.As(err, &e) || e.Code != c.code || e.Details.Find("reason") != c.reason ||
				e.Details.Find("bound") != c.name {
				t.Errorf("after %d: %+v", n, err)
			}
		})
	}
}

func TestACompanyIsServedBesideItsVisitors(t *testing.T) {
	for _, r := range []share.Resource{share.EventStreams, share.FileUploads} {
		s := share.New(r)
		n, _ := fill(t, s, func(i int) share.Holder {
			return share.Holder{Company: "a", Visitor: true, Client: "client " + strconv.Itoa(i), Session: "visitor " + strconv.Itoa(i)}
		})
		if int64(n) != r.Visitors {
			t.Errorf("%s: visitors hold %d, want %d", r.Name, n, r.Visitors)
		}
		if _, err := s.Take(share.Holder{Company: "a", Session: "teammate"}); err != nil {
			t.Errorf("%s: a teammate: %v", r.Name, err)
		}
	}
}

func TestAReleasedPlaceIsFreeOnce(t *testing.T) {
	s := share.New(share.Resource{Node: 2})
	a, _ := s.Take(share.Holder{Company: "a"})
	if _, err := s.Take(share.Holder{Company: "a"}); err != nil {
		t.Fatal(err)
	}
	a.Release()
	a.Release()
	if used := s.Counts().Used; used != 1 {
		t.Errorf("%d are held, want 1", used)
	}
	if n, _ := fill(t, s, func(int) share.Holder { return share.Holder{} }); n != 1 {
		t.Errorf("%d more were taken, want 1", n)
	}
}

// yields reports whether the holder of a place must end.
func yields(p *share.Place) bool {
	select {
	case <-p.Yield():
		return true
	default:
		return false
	}
}

func TestTheOldestStreamOfASessionGivesWay(t *testing.T) {
	s := share.New(share.Resource{Node: 10, Session: 2, Replaces: true})
	var places []*share.Place
	for range 3 {
		p, err := s.Take(share.Holder{Session: "visitor"})
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, p)
	}
	if !yields(places[0]) || yields(places[1]) || yields(places[2]) {
		t.Error("the first of three places gives way, and no other")
	}
	places[0].Release() // the stream ends
	if used := s.Counts().Used; used != 2 {
		t.Errorf("%d are held, want 2", used)
	}
	other, err := s.Take(share.Holder{Session: "another"})
	if err != nil || yields(other) || yields(places[1]) {
		t.Errorf("another visitor disturbs this one: %v", err)
	}
}

func TestNoStreamEndsForOneThatIsRefused(t *testing.T) {
	s := share.New(share.Resource{Node: 10, Client: 1, Session: 1, Replaces: true})
	first, _ := s.Take(share.Holder{Client: "mobile", Session: "phone"})
	if _, err := s.Take(share.Holder{Client: "office", Session: "desk"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Take(share.Holder{Client: "office", Session: "phone"}); !carillon.IsCode(err, carillon.RateLimitExceeded) {
		t.Errorf("a place beyond the client's bound: %v", err)
	}
	if used := s.Counts().Used; used != 2 || yields(first) {
		t.Errorf("%d are held, and the phone's stream ends although it gets no other", used)
	}
}

func TestAStreamGivesWayWhereItsCompanyHoldsAllItMay(t *testing.T) {
	s := share.New(share.Resource{Node: 10, Company: 2, Session: 1, Replaces: true})
	oldest, _ := s.Take(share.Holder{Company: "a", Session: "phone"})
	if _, err := s.Take(share.Holder{Company: "a", Session: "desk"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Take(share.Holder{Company: "a", Session: "phone"}); err != nil || !yields(oldest) {
		t.Errorf("the phone's next stream: %v", err)
	}
	if used := s.Counts().Used; used != 2 {
		t.Errorf("%d are held, want 2", used)
	}
}

func TestAWaitEndsWithItsContextAndLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := share.New(share.Resource{Node: 1})
		held, _ := s.Take(share.Holder{Company: "a"})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { _, err := s.Wait(ctx, share.Holder{Company: "b"}); ended <- err }()
		synctest.Wait()
		if c := s.Counts(); c.Waiting != 1 {
			t.Errorf("%d wait, want 1", c.Waiting)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the wait ended with %v", err)
		}
		held.Release()
		if c := s.Counts(); c.Waiting != 0 || c.Used != 0 {
			t.Errorf("%d wait and %d are held", c.Waiting, c.Used)
		}
	})
}

func TestOneClientIsAnAddressOrAnIPv6Network(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::9": "2001:db8:1:2::/64",
		"fe80::1%eth0":    "fe80::/64", "pipe": "pipe",
	} {
		if got := share.Network(address); got != want {
			t.Errorf("the network of %s is %s, want %s", address, got, want)
		}
	}
}

func TestPartsFollowTheBoundOfANode(t *testing.T) {
	r := share.Resource{Node: 100, Company: 75, Visitors: 50, Client: 10, Session: 3}.Of(10)
	if r.Node != 10 || r.Company != 7 || r.Visitors != 5 || r.Client != 1 || r.Session != 3 {
		t.Errorf("a tenth is %+v", r)
	}
	if n, _ := fill(t, share.New(share.Resource{Node: 5, Session: 1000}.Of(0)), func(int) share.Holder {
		return share.Holder{Session: "s"}
	}); n != 1000 {
		t.Errorf("%d were taken without a bound of the node", n)
	}
}
