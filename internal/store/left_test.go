package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/work"
)

// On SQLite a transaction continues after its caller has left, and must not write variables that the caller reads
// then: the race detector reports it.
func TestWhatReturnsATransactionsResultOutlivesItsCaller(t *testing.T) {
	r := newRig(t, openSQLite(t))
	r.join(t, "a", "node")
	a := r.accepted(t, 2)
	for name, read := range map[string]func(ctx context.Context) (empty bool, err error){
		"cancel": func(ctx context.Context) (bool, error) {
			canceled, err := r.Notifications.Cancel(ctx, ours, a.Notification.ID, false, r.now)
			return canceled == messages.Canceled{}, err
		},
		"hang up": func(ctx context.Context) (bool, error) {
			state, node, err := r.Calls.HangUp(ctx, ours, a.Notification.Seq().Message(0))
			return state == "" && node == "", err
		},
		"refresh": func(ctx context.Context) (bool, error) {
			x, result, err := r.Sessions.Refresh(ctx, "token", "next", r.now, time.Second, time.Hour)
			return x == (accounts.Session{}) && result == accounts.RefreshUnknown, err
		},
		"start a session": func(ctx context.Context) (bool, error) {
			started, err := r.Sessions.StartSession(ctx, accounts.Session{ID: "s", AccountID: "nobody"}, "token", "old", "new")
			return !started, err
		},
		"decide": func(ctx context.Context) (bool, error) {
			d, err := r.Decide(ctx, ours, true, r.now, 1)
			return d.Messages == 0 && d.Lanes == nil, err
		},
		"depose": func(ctx context.Context) (bool, error) {
			deposed, err := r.Nodes.Depose(ctx, "a", 1)
			return !deposed, err
		},
		"take": func(ctx context.Context) (bool, error) {
			taken, err := r.Nodes.Take(ctx, []int{1}, "a")
			return taken == nil, err
		},
		"recover": func(ctx context.Context) (bool, error) {
			n, err := r.Messages.Recover(ctx, 1, 1, r.now, []int64{r.sender.UID}, func(int64) time.Duration { return 0 })
			return n == 0, err
		},
		"flights": func(ctx context.Context) (bool, error) {
			all, err := r.Messages.Flights(ctx, work.Fence{Shard: 1, Owner: "a", Epoch: 1})
			return all == nil, err
		},
		"borrow": func(ctx context.Context) (bool, error) {
			granted, used, err := r.Rates.BorrowRate(ctx, "x", r.now, 1, 10)
			return !granted && used == 0, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			begun, release := make(chan struct{}), make(chan struct{})
			var all sync.WaitGroup
			nothing := func(context.Context, *configure.Tx) error { return nil }
			all.Go(func() {
				if err := r.Config.Update(t.Context(), func(context.Context, *configure.Tx) error {
					close(begun)
					<-release
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
			<-begun
			all.Go(func() {
				// On a busy machine the caller may see the commit before it sees that it shall leave.
				if empty, err := read(ctx); err != nil && (!empty || !errors.Is(err, context.Canceled)) {
					t.Errorf("empty %v, %v", empty, err)
				}
			})
			for r.DB.Commits.Waiting() < 1 {
				<-time.After(time.Millisecond)
			}
			leave()
			<-time.After(20 * time.Millisecond) // a signal would order the caller's end before the transaction
			close(release)
			all.Wait()
			if err := r.Config.Update(t.Context(), nothing); err != nil { // the transaction has ended
				t.Error(err)
			}
		})
	}
}
