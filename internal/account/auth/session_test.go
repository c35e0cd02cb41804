package auth

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

func TestUnknownUserCostsAsMuchAsAWrongPassword(t *testing.T) {
	w := newWorld(t, store.Options{}, Options{})
	texts := map[string]bool{}
	for _, email := range []string{ownerEmail, "nobody@acme.test", "not an address"} {
		before := w.hasher.hashed.Load()
		_, err := w.SignIn(t.Context(), Credentials{Email: email, Password: "wrong-password"}, "192.0.2.1")
		wantReason(t, err, "invalid")
		if n := w.hasher.hashed.Load() - before; n != 1 {
			t.Errorf("%s: %d hashes, want 1", email, n)
		}
		if err != nil {
			texts[err.Error()] = true
		}
	}
	if len(texts) != 1 {
		t.Errorf("the answers differ: %v", texts)
	}
	p, _, _, err := decode(w.hasher.dummy)
	if err != nil || p != w.hasher.params {
		t.Errorf("the dummy's parameters are %+v, %v", p, err)
	}
}

func TestARefusalCostsTheSameWhateverParametersAHashHas(t *testing.T) {
	for name, params := range map[string]Params{
		"raised": {Memory: 128, Passes: 3, Threads: 1}, "more memory": {Memory: 100, Passes: 1, Threads: 1},
		"lowered": {Memory: 32, Passes: 1, Threads: 1}, "the same": cheap,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, store.Options{}, Options{}) // the owner's hash has the parameters cheap
			later := New(w.store, w.limits, Options{Params: params})
			if err := later.hasher.learn(t.Context(), w.store); err != nil {
				t.Fatal(err)
			}
			want := max(params.work(), cheap.work())
			for _, email := range []string{"nobody@acme.test", ownerEmail, "nobody@acme.test"} {
				before := later.hasher.work.Load()
				_, err := later.SignIn(t.Context(), Credentials{Email: email, Password: "wrong-password"}, "192.0.2.1")
				wantReason(t, err, "invalid")
				if work := later.hasher.work.Load() - before; work < want*97/100 || work > want {
					t.Errorf("refusing %s costs %d, want %d", email, work, want)
				}
			}
		})
	}
}

func TestEmailIsFoundInAnyLetterCase(t *testing.T) {
	w := newWorld(t, store.Options{}, Options{})
	if _, err := w.SignIn(t.Context(), Credentials{Email: strings.ToUpper(ownerEmail), Password: ownerPassword}, ""); err != nil {
		t.Error(err)
	}
}

func TestFailedSignInsAreLimitedAndSuccessesAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{}, Options{})
		try := func(email, password, address string) error {
			_, err := w.SignIn(t.Context(), Credentials{Email: email, Password: password}, address)
			return err
		}
		for range 30 {
			if err := try(ownerEmail, ownerPassword, "192.0.2.1"); err != nil {
				t.Fatalf("a success counted: %v", err)
			}
		}
		for i := range 10 {
			wantReason(t, try("user"+strconv.Itoa(i)+"@acme.test", "wrong", "192.0.2.1"), "invalid")
		}
		hashed := w.hasher.hashed.Load()
		if err := try(ownerEmail, ownerPassword, "192.0.2.1"); !carillon.IsCode(err, carillon.RateLimitExceeded) {
			t.Errorf("the eleventh from one address: %v", err)
		}
		if w.hasher.hashed.Load() != hashed {
			t.Error("a refused try was hashed")
		}
		if err := try(ownerEmail, ownerPassword, "192.0.2.2"); err != nil {
			t.Errorf("from another address: %v", err)
		}
		for i := range 10 {
			wantReason(t, try(ownerEmail, "wrong", "198.51.100."+strconv.Itoa(i)), "invalid")
		}
		if err := try(ownerEmail, ownerPassword, "192.0.2.3"); !carillon.IsCode(err, carillon.RateLimitExceeded) {
			t.Errorf("the eleventh for one e-mail: %v", err)
		}
		time.Sleep(time.Minute) // fake time
		if err := try(ownerEmail, ownerPassword, "192.0.2.1"); err != nil {
			t.Errorf("a minute later: %v", err)
		}
	})
}

func TestFailuresOfOneIPv6NetworkCountTogether(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "2001:db8:1:2:3::4": "2001:db8:1:2::/64",
		"fe80::1%eth0": "fe80::/64", "pipe": "pipe", "": "",
	} {
		if got := Network(address); got != want {
			t.Errorf("%s counts as %s, want %s", address, got, want)
		}
	}
}

func TestTriesAtOnceDoNotPassTheLimitOfFailures(t *testing.T) {
	engines(t, func(t *testing.T, so store.Options) {
		w := newWorld(t, so, Options{})
		var wrong, limited atomic.Int64
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				_, err := w.SignIn(t.Context(), Credentials{Email: ownerEmail, Password: "wrong"}, "192.0.2.1")
				switch {
				case carillon.IsCode(err, carillon.Unauthorized):
					wrong.Add(1)
				case carillon.IsCode(err, carillon.RateLimitExceeded):
					limited.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		// The tries may span two minutes.
		if n := wrong.Load(); n > 20 || n+limited.Load() != 64 {
			t.Errorf("%d tries were told that they were wrong, %d that they were too many", n, limited.Load())
		}
	})
}

func TestNegativeLimitOfFailuresIsNone(t *testing.T) {
	w := newWorld(t, store.Options{}, Options{FailedSignIns: -1})
	for range 20 {
		_, err := w.SignIn(t.Context(), Credentials{Email: ownerEmail, Password: "wrong"}, "192.0.2.1")
		wantReason(t, err, "invalid")
	}
}

func TestRefreshTokenIsSpentOnceButForTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{}, Options{})
		first := w.signIn(t)
		second, err := w.Refresh(t.Context(), first.RefreshToken)
		if err != nil {
			t.Fatal(err)
		}
		if second.RefreshToken == first.RefreshToken || second.ExpiresIn != 3600 || second.User.ID != w.owner.ID {
			t.Errorf("the second session: %+v", second)
		}
		time.Sleep(refreshGrace - time.Millisecond) // fake time
		if _, err := w.Refresh(t.Context(), first.RefreshToken); err != nil {
			t.Fatalf("in the grace: %v", err)
		}
		if _, err := w.Refresh(t.Context(), second.RefreshToken); err != nil {
			t.Fatalf("the family after a repeat in the grace: %v", err)
		}
	})
}

func TestAReusedRefreshTokenRevokesItsFamily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{}, Options{})
		other := w.signIn(t)
		first := w.signIn(t)
		second, err := w.Refresh(t.Context(), first.RefreshToken)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(refreshGrace) // fake time
		_, err = w.Refresh(t.Context(), first.RefreshToken)
		wantReason(t, err, "revoked")
		_, err = w.Refresh(t.Context(), second.RefreshToken)
		wantReason(t, err, "revoked")
		_, err = w.Caller(t.Context(), "Bearer "+second.AccessToken)
		wantReason(t, err, "revoked")
		if _, err := w.Refresh(t.Context(), other.RefreshToken); err != nil {
			t.Errorf("another sign-in of the same user: %v", err)
		}
	})
}

func TestARefreshTokenIsGoodForTwoUsesHoweverManyComeAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, so store.Options) {
		w := newWorld(t, so, Options{})
		refresh := func(token string, times int) (next []string, revoked int) {
			var mu sync.Mutex
			var all sync.WaitGroup
			for range times {
				all.Go(func() {
					x, err := w.Refresh(t.Context(), token)
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						next = append(next, x.RefreshToken)
						return
					}
					wantReason(t, err, "revoked")
					revoked++
				})
			}
			all.Wait()
			return next, revoked
		}
		next, _ := refresh(w.signIn(t).RefreshToken, 2)
		if len(next) != 2 || next[0] == next[1] {
			t.Fatalf("two uses at once gave %d tokens", len(next))
		}
		for _, token := range next {
			if _, err := w.Refresh(t.Context(), token); err != nil {
				t.Error(err)
			}
		}
		next, revoked := refresh(w.signIn(t).RefreshToken, 16)
		if len(next) != 2 || revoked != 14 {
			t.Fatalf("of sixteen uses at once %d gave a token and %d were refused, want 2 and 14", len(next), revoked)
		}
		for _, token := range next {
			_, err := w.Refresh(t.Context(), token)
			wantReason(t, err, "revoked")
		}
	})
}

func TestASignInWithTheOldPasswordDoesNotOutliveItsChange(t *testing.T) {
	engines(t, func(t *testing.T, so store.Options) {
		w := newWorld(t, so, Options{})
		hash, err := w.HashPassword(t.Context(), "another-password")
		if err != nil {
			t.Fatal(err)
		}
		old := w.signIn(t)
		var all sync.WaitGroup
		sessions := make(chan *Session, 8)
		for range cap(sessions) {
			all.Go(func() {
				if x, err := w.SignIn(t.Context(), Credentials{Email: ownerEmail, Password: ownerPassword}, "192.0.2.1"); err == nil {
					sessions <- x
				}
			})
		}
		w.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			return accounts.PutAccount(ctx, tx, &accounts.Account{Email: ownerEmail, Name: "Owner", PasswordHash: hash}, time.Now())
		})
		all.Wait()
		close(sessions)
		for x := range sessions {
			_, err := w.Caller(t.Context(), "Bearer "+x.AccessToken)
			wantReason(t, err, "revoked")
		}
		_, err = w.Refresh(t.Context(), old.RefreshToken)
		wantReason(t, err, "revoked")
		_, err = w.Caller(t.Context(), "Bearer "+old.AccessToken)
		wantReason(t, err, "revoked")
	})
}

func TestSessionSlidesAndExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{}, Options{})
		x := w.signIn(t)
		const day = 24 * time.Hour
		for range 3 { // longer than one session life in total
			time.Sleep(29 * day) // fake time
			next, err := w.Refresh(t.Context(), x.RefreshToken)
			if err != nil {
				t.Fatal(err)
			}
			x = next
		}
		time.Sleep(30 * day)
		_, err := w.Refresh(t.Context(), x.RefreshToken)
		wantReason(t, err, "expired")
		time.Sleep(time.Millisecond)
		if err := w.store.Sessions.DropSessions(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		_, err = w.Refresh(t.Context(), x.RefreshToken)
		wantReason(t, err, "invalid")
	})
}

func TestSignOutEndsThatSessionAlone(t *testing.T) {
	engines(t, func(t *testing.T, so store.Options) {
		w := newWorld(t, so, Options{})
		x, other := w.signIn(t), w.signIn(t)
		c, err := w.Caller(t.Context(), "Bearer "+x.AccessToken)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.SignOut(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		_, err = w.Caller(t.Context(), "Bearer "+x.AccessToken)
		wantReason(t, err, "revoked")
		_, err = w.Refresh(t.Context(), x.RefreshToken)
		wantReason(t, err, "revoked")
		if _, err := w.Caller(t.Context(), "Bearer "+other.AccessToken); err != nil {
			t.Errorf("the other session: %v", err)
		}
	})
}

func TestCallerSaysWhyATokenIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{}, Options{})
		x := w.signIn(t)
		p, err := w.Principal(t.Context(), PresentedKey{liveKey, true}, "")
		if err != nil {
			t.Fatal(err)
		}
		company, err := w.CompanyToken(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for authorization, reason := range map[string]string{
			"": "missing", "Bearer": "missing", "Basic dTpw": "missing", "Bearer x.y.z": "invalid",
			"Bearer " + company.AccessToken:                         "invalid",
			"Bearer " + x.AccessToken + "x":                         "invalid",
			"Bearer " + strings.Repeat("a", maxToken+1):             "invalid",
			"Bearer " + "eyJhbGciOiJub25lIn0." + "eyJzdWIiOiJ4In0.": "invalid",
		} {
			_, err := w.Caller(t.Context(), authorization)
			wantReason(t, err, reason)
		}
		time.Sleep(time.Hour) // fake time
		_, err = w.Caller(t.Context(), "Bearer "+x.AccessToken)
		wantReason(t, err, "expired")
	})
}

func TestPasswordIsRehashedWhenParametersChange(t *testing.T) {
	w := newWorld(t, store.Options{}, Options{})
	before, err := w.store.Accounts.AccountByEmail(t.Context(), ownerEmail)
	if err != nil {
		t.Fatal(err)
	}
	stronger := Params{Memory: 128, Passes: 2, Threads: 1}
	later := New(w.store, w.limits, Options{Params: stronger})
	for range 2 {
		if _, err := later.SignIn(t.Context(), Credentials{Email: ownerEmail, Password: ownerPassword}, ""); err != nil {
			t.Fatal(err)
		}
	}
	after, err := w.store.Accounts.AccountByEmail(t.Context(), ownerEmail)
	if err != nil {
		t.Fatal(err)
	}
	if p, _, _, err := decode(after.PasswordHash); err != nil || p != stronger || after.PasswordHash == before.PasswordHash {
		t.Errorf("after two sign-ins the hash has %+v, %v", p, err)
	}
	if n := later.hasher.hashed.Load(); n != 3 {
		t.Errorf("%d hashes for two sign-ins, the first of which hashes anew: want 3", n)
	}
}

func TestKeepPasswordKeepsTheHashOfTheSamePassword(t *testing.T) {
	w := newWorld(t, store.Options{}, Options{})
	stored := w.owner.PasswordHash
	if kept, err := w.KeepPassword(t.Context(), stored, ownerPassword); err != nil || kept != stored {
		t.Errorf("the same password: another hash, %v", err)
	}
	for name, from := range map[string]string{"another password": stored, "no hash": "", "not a hash": "x"} {
		kept, err := w.KeepPassword(t.Context(), from, "another-password")
		if err != nil || kept == from {
			t.Errorf("%s: kept %t, %v", name, kept == from, err)
		}
	}
}

func TestPutAccountAppliedTwiceChangesNothing(t *testing.T) {
	engines(t, func(t *testing.T, so store.Options) {
		w := newWorld(t, so, Options{})
		read := func() accounts.Account {
			a, err := w.store.Accounts.Account(t.Context(), w.owner.ID)
			if err != nil || a == nil {
				t.Fatal(a, err)
			}
			return *a
		}
		before := read()
		put := func(a accounts.Account) {
			w.configure(t, func(ctx context.Context, tx *configure.Tx) error {
				a := a
				return accounts.PutAccount(ctx, tx, &a, time.Now().Add(time.Hour))
			})
		}
		put(accounts.Account{Email: "OWNER@acme.test", Name: "Owner", PasswordHash: before.PasswordHash})
		put(accounts.Account{Email: ownerEmail, Name: "Owner"})
		if after := read(); after != before {
			t.Errorf("applied again it is %+v, was %+v", after, before)
		}
		put(accounts.Account{Email: ownerEmail, Name: "New name"})
		if after := read(); after.Name != "New name" || after.PasswordHash != before.PasswordHash ||
			!after.UpdatedAt.After(before.UpdatedAt) {
			t.Errorf("after a change it is %+v", after)
		}
	})
}

func TestHashesWaitInABoundedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(cheap, 1, 1, nil)
		release, err := h.acquire(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		acquired := make(chan error, 1)
		go func() {
			release, err := h.acquire(t.Context(), "")
			if err == nil {
				release()
			}
			acquired <- err
		}()
		synctest.Wait() // it waits in the queue
		if _, err := h.acquire(t.Context(), ""); !carillon.IsCode(err, carillon.ServiceUnavailable) {
			t.Errorf("the third: %v", err)
		}
		release()
		if err := <-acquired; err != nil {
			t.Errorf("the second: %v", err)
		}
		if n := h.places.Counts().Used; n != 0 || !h.permits.TryAcquire(1) {
			t.Errorf("%d places are taken, or the permit is", n)
		}
	})
}

func TestAWaitingHashThatIsCanceledFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(cheap, 1, 1, nil)
		release, err := h.acquire(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		canceled, next := make(chan error), make(chan error)
		go func() { _, err := h.acquire(ctx, ""); canceled <- err }()
		synctest.Wait()
		cancel()
		if err := <-canceled; !carillon.IsCode(err, carillon.ServiceUnavailable) {
			t.Errorf("the canceled one: %v", err)
		}
		go func() { _, err := h.acquire(t.Context(), ""); next <- err }()
		synctest.Wait() // it has the place in the queue
		release()
		if err := <-next; err != nil || h.permits.TryAcquire(1) {
			t.Errorf("the next: %v, or another holds a permit too", err)
		}
	})
}

func TestDecodeRefusesWhatCouldExhaustTheMachine(t *testing.T) {
	good := newHasher(cheap, 1, 1, nil).hash("x")
	if _, _, _, err := decode(good); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", "x", "$argon2i$" + good, strings.Replace(good, "m=64", "m=4294967295", 1), strings.Replace(good, "t=1", "t=65", 1),
		strings.Replace(good, "t=1", "t=0", 1), strings.Replace(good, "p=1", "p=0", 1), strings.Replace(good, "v=19", "v=16", 1),
		good[:strings.LastIndex(good, "$")+1], good + "$",
	} {
		if _, _, _, err := decode(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
