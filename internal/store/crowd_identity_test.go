package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/storetest"
)

// Nodes take in messages of one person at once, which name the number, the id or both: they are one contact's, with one open conversation.
func TestNodesThatMeetAPersonAtOnceMakeOneContact(t *testing.T) {
	t.Parallel()
	o := store.Options{DatabaseURL: storetest.PatientPostgres(t)}
	r := newRig(t, open(t, o))
	nodes := []*store.Store{r.Store}
	for range 3 {
		nodes = append(nodes, open(t, o))
	}
	for round := range 10 {
		id, number := personOf("w", fmt.Sprint("US.", round)), line(fmt.Sprint("521551234560", round))
		ways := [][]identity.Identity{{number}, {id}, {number, id}, {id, number}}
		errs := make([]error, len(nodes)*len(ways))
		begin := make(chan struct{})
		var all sync.WaitGroup
		for i := range errs {
			r.now = r.now.Add(time.Millisecond)
			now := r.now
			x := &chats.Open{
				Contact: chats.Contact{ID: carillon.NewID(now), CompanyID: ours, Language: "en"}, Known: ways[(i+i/len(nodes))%len(ways)],
				Conversation: chats.Conversation{ID: carillon.NewID(now), Channel: "whatsapp", State: chats.Automated, Language: "en"},
				Keep:         24 * time.Hour, Now: now,
			}
			all.Go(func() {
				<-begin
				open := func() error { return nodes[i%len(nodes)].Chats.Open(t.Context(), x) }
				for errs[i] = open(); carillon.IsCode(errs[i], carillon.ServiceUnavailable); { // a channel repeats what was refused
					errs[i] = open()
				}
			})
		}
		close(begin)
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		r.checkKnown(t, r.meets(t, ours, ways[2]).Contact.ID, "line "+number.Key.String(), "person w "+id.Key.String())
		var contacts, talks int
		err := errors.Join(r.DB.Row(t.Context(), []any{&contacts}, "SELECT COUNT(*) FROM contact WHERE company_id = $1", ours),
			r.DB.Row(t.Context(), []any{&talks}, "SELECT COUNT(*) FROM conversation WHERE company_id = $1 AND state <> 'resolved'", ours))
		if err != nil || contacts != round+1 || talks != round+1 {
			t.Fatalf("of %d people there are %d contacts with %d open conversations, %v", round+1, contacts, talks, err)
		}
	}
}
