package history_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/events"
	"carillon/internal/store/people"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
	"carillon/internal/talk/files"
	"carillon/internal/talk/history"
	"carillon/internal/talk/messaging"
)

// rig imports the history of one sender of a strict fake of the channel.
type rig struct {
	t       *testing.T
	db      *store.Store
	graph   *graphtest.Server
	sender  *carillon.Sender
	history *history.History
	log     log
	halt    func()
	read    func(s *carillon.Sender, part provider.HistoryPart) (provider.History, error)

	mu    sync.Mutex
	ahead time.Duration
}

const us, ana, ben = "15555550100", "34600111222", "US.1300077"

// onBoth runs a test on both databases.
func onBoth(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) store.Options{
		"sqlite":   func(t *testing.T) store.Options { return store.Options{Dir: storetest.Folder(t)} },
		"postgres": func(t *testing.T) store.Options { return store.Options{DatabaseURL: storetest.PatientPostgres(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, open(t))
			test(t, r)
		})
	}
}

func newRig(t *testing.T, o store.Options) *rig {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	g, err := graphtest.New(graphtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for id, f := range graphtest.SampleFiles() {
		g.PutFile(id, f)
	}
	r := &rig{t: t, db: s, graph: g, halt: func() {}, read: func(s *carillon.Sender, part provider.HistoryPart) (provider.History, error) {
		return whatsapp.ReadHistory(s.Number, part)
	}}
	r.sender = r.add(&carillon.Company{ID: carillon.NewID(time.Now()), Name: "Acme"})
	t.Cleanup(func() {
		r.halt()
		_ = g.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	r.build()
	return r
}

// add adds a company with a sender.
func (r *rig) add(c *carillon.Company) *carillon.Sender {
	r.t.Helper()
	s := &carillon.Sender{
		CompanyID: c.ID, ID: "main", Number: us, Channel: carillon.Messaging, Provider: "whatsapp", MediaCheck: "syntax",
		Unknown: carillon.DefaultUnknownPolicy(), Settings: r.graph.Settings(),
	}
	if err := r.db.Config.Change(r.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return errors.Join(accounts.PutCompany(ctx, tx, c, r.now()), settings.PutSender(ctx, tx, s, r.now()))
	}); err != nil {
		r.t.Fatal(err)
	}
	return s
}

// build builds a node.
func (r *rig) build() {
	cloud := whatsapp.New(whatsapp.Options{})
	r.t.Cleanup(cloud.CloseIdleConnections)
	never := func(context.Context, string) (bool, error) { return false, nil }
	r.history = history.New(history.Options{
		Store: r.db.Past, Contacts: r.db.Contacts,
		Files:     files.New(r.db.Files, files.Options{Keys: r.db.Config.Derived, Suspended: never}),
		Channels:  map[string]messaging.Channel{"whatsapp": cloud},
		Read:      func(s *carillon.Sender, part provider.HistoryPart) (provider.History, error) { return r.read(s, part) },
		Sender:    r.db.Senders.Sender,
		AgentOf:   func(context.Context, *carillon.Sender) (string, string, error) { return "robin", "es", nil },
		Portfolio: func(*carillon.Sender) string { return "2000001" },
		Log:       slog.New(slog.NewTextHandler(&r.log, nil)), Now: r.now, Alone: true,
	})
}

// run starts the node, which runs until halt.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.history.Run(ctx)
	}()
	r.halt = func() {
		cancel()
		<-done
		r.halt = func() {}
	}
}

func (r *rig) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Add(r.ahead)
}

// pass advances the clock.
func (r *rig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ahead += d
}

// take delivers a callback to the sender.
func (r *rig) take(body []byte) {
	r.t.Helper()
	cb, err := whatsapp.ParseCallback(body, r.sender.UID)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.history.Receive(r.t.Context(), r.sender, cb.HistoryFor(r.sender.Settings)); err != nil {
		r.t.Fatal(err)
	}
}

// until waits until a condition holds.
func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	hung := time.NewTimer(2 * time.Minute)
	defer hung.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-hung.C:
			r.t.Fatalf("it hangs: %s; the log:\n%s", what, r.log.String())
		}
	}
}

// idle waits until everything that came is imported.
func (r *rig) idle() chats.PastImport {
	r.t.Helper()
	var x chats.PastImport
	r.until("the import is done", func() bool {
		var err error
		if x, err = r.db.Past.Import(r.t.Context(), r.sender.CompanyID, r.sender.UID); err != nil {
			r.t.Fatal(err)
		}
		return x.DueAt.IsZero()
	})
	return x
}

// person returns an identity of a number or an id.
func person(address string) identity.Identity {
	if identity.ValidUser(address) {
		return identity.Identity{Kind: identity.Person, Scope: "2000001", Key: identity.User(address)}
	}
	return identity.Identity{Kind: identity.Line, Key: identity.Number(address)}
}

// conversation returns the newest conversation of a person; nil if there is none.
func (r *rig) conversation(address string) *chats.Conversation {
	r.t.Helper()
	c, err := r.db.Chats.OfPerson(r.t.Context(), r.sender.CompanyID, person(address))
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// lines returns the turns of a person's conversation in short form.
func (r *rig) lines(address string) (lines []string) {
	r.t.Helper()
	c := r.conversation(address)
	if c == nil {
		return nil
	}
	turns, err := r.db.Chats.Turns(r.t.Context(), c.CompanyID, c.ID, 0, 10_000)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, t := range turns {
		line := map[chats.Author]string{chats.Visitor: ">", chats.Teammate: "<", chats.System: "*"}[t.Author]
		for _, part := range []string{t.Extra.Event, t.Text, t.Extra.Why, string(t.Extra.Delivery)} {
			if part != "" {
				line += " " + part
			}
		}
		if t.Extra.File != nil {
			line += " (" + t.Extra.File.Name + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// shows checks the turns of a person's conversation.
func (r *rig) shows(address string, want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.lines(address)); diff != "" {
		r.t.Errorf("of %s is shown something else (-want +got):\n%s\nthe log:\n%s", address, diff, r.log.String())
	}
}

// log keeps the log output.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var day = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // read only

// said returns a message of the history of n minutes after the first day.
func said(from, id, text string, n int, status string) graphtest.Inbound {
	m := graphtest.Text(from, id, text, day.Add(time.Duration(n)*time.Minute))
	if identity.ValidUser(from) {
		delete(m, "from")
		m["from_user_id"] = from
	}
	return graphtest.Past(m, status)
}

func placeholder(from, id string, n int) graphtest.Inbound {
	m := said(from, id, "", n, "READ")
	m["type"] = "media_placeholder"
	delete(m, "text")
	return m
}

// hello returns the history of a person with one message.
func hello(text string) graphtest.Thread {
	return graphtest.Thread{ID: ana, Messages: []graphtest.Inbound{said(ana, "wamid.1", text, 1, "READ")}}
}

func image(from, id, media string) graphtest.Inbound {
	m := graphtest.Text(from, id, "", day)
	m["type"], m["image"] = "image", map[string]string{"id": media, "mime_type": "image/png", "sha256": "x", "caption": "Look"}
	delete(m, "text")
	return m
}

// The most recent days come first, and every callback comes twice. The conversations have their order, both sides with
// their states, and their times, and cause no events.
func TestAHistoryBecomesResolvedConversations(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		for _, topic := range []string{events.Conversations, chats.InboxTopic} {
			if err := r.db.Topics.Follow(t.Context(), r.sender.CompanyID, topic); err != nil {
				t.Fatal(err)
			}
		}
		r.run()
		late := r.graph.HistoryBody(0, 1, 40, graphtest.Thread{ID: ana, Messages: []graphtest.Inbound{
			said(ana, "wamid.3", "Thanks", 30, "READ"), said(us, "wamid.4", "You're welcome", 31, "DELIVERED"),
		}})
		early := r.graph.HistoryBody(2, 1, 100, graphtest.Thread{ID: ana, Messages: []graphtest.Inbound{
			said(us, "wamid.2", "Yes, at five", 2, "READ"), said(ana, "wamid.1", "Is it ready?", 1, "READ"),
		}}, graphtest.Thread{ID: ben, Messages: []graphtest.Inbound{
			said(ben, "wamid.5", "Hi", 3, "READ"), said(us, "wamid.6", "Hello?", 4, "ERROR"), said(us, "wamid.7", "Hm", 5, "PENDING"),
		}})
		for _, body := range [][]byte{late, late, early, early} {
			r.take(body)
		}
		x := r.idle()
		r.shows(ana, "> Is it ready?", "< Yes, at five read", "> Thanks", "< You're welcome delivered")
		r.shows(ben, "> Hi", "< Hello? failed", "< Hm")
		if x.Messages != 7 || x.Conversations != 2 || x.Progress != 100 || x.Phase != 2 || x.Refused {
			t.Errorf("%+v", x)
		}
		c := r.conversation(ana)
		if c.State != chats.Resolved || c.Unread() || !c.OpenedAt.Equal(day.Add(time.Minute)) || !c.LastAt.Equal(day.Add(31*time.Minute)) ||
			c.AgentID != "robin" || c.Language != "es" || c.LastText != "You're welcome" {
			t.Errorf("%+v", c)
		}
		w, err := r.db.Replies.Window(t.Context(), c.CompanyID, c.ID)
		if err != nil || w == nil || !w.Until.IsZero() || w.Number != ana || w.SenderUID != r.sender.UID {
			t.Error("the window:", w, err)
		}
		for _, topic := range []string{events.Conversations, chats.InboxTopic} {
			if all, err := r.db.Topics.EventsAfter(t.Context(), c.CompanyID, topic, 0, 100); err != nil || len(all) != 0 {
				t.Errorf("events of %s: %v, %v", topic, all, err)
			}
		}
		r.take(early) // repeated after everything was read
		r.idle()
		r.shows(ana, "> Is it ready?", "< Yes, at five read", "> Thanks", "< You're welcome delivered")
	})
}

// A history that never completes is shown after a while.
func TestAnIncompleteHistoryIsShownAfterAWhile(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		r.take(r.graph.HistoryBody(0, 1, 40, hello("Hi")))
		r.until("it is read", func() bool {
			p, err := r.db.Past.NextPart(t.Context(), r.sender.CompanyID, r.sender.UID)
			return err == nil && p == nil
		})
		if got := r.lines(ana); got != nil {
			t.Errorf("shown at once: %q", got)
		}
		r.pass(10 * time.Minute)
		r.idle()
		r.shows(ana, "> Hi")
	})
}

// The files of placeholders come later, if at all. Those of the business's messages name nobody.
func TestPlaceholdersGetTheirFiles(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		r.take(r.graph.HistoryBody(2, 1, 100, graphtest.Thread{ID: ana, Messages: []graphtest.Inbound{
			placeholder(ana, "wamid.1", 1), placeholder(us, "wamid.2", 2), placeholder(ana, "wamid.3", 3), placeholder(us, "wamid.4", 4),
		}}))
		r.idle()
		r.shows(ana, "* file_missing past", "* file_missing past read", "* file_missing past", "* file_missing past read")
		r.take(r.graph.HistoryFilesBody(image(ana, "wamid.1", "png"), image(us, "wamid.2", "7001"), image(ana, "wamid.3", "no-such-file"),
			image(us, "wamid.unknown", "png")))
		r.idle()
		r.shows(ana, "> Look (image.png)", "< Look read (image.png)", "* file_missing Look gone", "* file_missing past read")
	})
}

func TestARefusalAndTheContactsOfTheAppAreKept(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		r.take(r.graph.ContactsBody(graphtest.AppContact{Number: ana, FullName: "Ana, the plumber"}))
		r.take(r.graph.HistoryRefusedBody())
		if x := r.idle(); !x.Refused || x.Names != 1 {
			t.Errorf("%+v", x)
		}
		r.take(r.graph.HistoryBody(2, 1, 100, hello("Hi")))
		r.idle()
		c := r.conversation(ana)
		if k, err := r.db.Contacts.ContactOf(t.Context(), c.CompanyID, c.ContactID); err != nil || k.Name != "Ana, the plumber" {
			t.Errorf("%+v, %v", k, err)
		}
		r.take(r.graph.ContactsBody(graphtest.AppContact{Number: ana, Removed: true}))
		r.idle()
		if r.conversation(ana) == nil {
			t.Error("the conversation is gone")
		}
	})
}

// A node dies after it has stored a part of the messages. The next one goes on, and nothing is there twice.
func TestAnImportGoesOnAfterACrash(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		var messages []graphtest.Inbound
		var want []string
		for i := range 450 { // more than two transactions
			messages = append(messages, said(ana, fmt.Sprintf("wamid.%d", i), fmt.Sprint("text ", i), i, "READ"))
			want = append(want, fmt.Sprint("> text ", i))
		}
		r.take(r.graph.HistoryBody(2, 1, 100, graphtest.Thread{ID: ana, Messages: messages}))
		due, err := r.db.Past.Due(t.Context(), r.now(), 10, nil)
		if err != nil || len(due) != 1 {
			t.Fatal(due, err)
		}
		if ok, err := r.db.Past.Claim(t.Context(), due[0], "dead", r.now(), r.now().Add(time.Hour)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		part, err := r.db.Past.NextPart(t.Context(), r.sender.CompanyID, r.sender.UID)
		if err != nil {
			t.Fatal(err)
		}
		found, err := r.read(r.sender, provider.HistoryPart{Kind: part.Kind, Content: json.RawMessage(part.Content)})
		if err != nil {
			t.Fatal(err)
		}
		var rows []chats.PastRow
		for _, m := range found.Messages[:200] {
			content, err := json.Marshal(&m)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, chats.PastRow{
				SenderUID: r.sender.UID, ProviderID: m.ID, CompanyID: r.sender.CompanyID, Person: ana, At: m.At, Content: string(content),
			})
		}
		if n, err := r.db.Past.Stage(t.Context(), part, rows, r.now()); n != 200 || err != nil {
			t.Fatal(n, err)
		}
		r.run()
		r.idle()
		r.shows(ana, want...)
	})
}

// An unreadable part is given up after some attempts, and holds nothing up.
func TestAnUnreadablePartIsGivenUp(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		if err := r.history.Receive(t.Context(), r.sender, []provider.HistoryPart{
			{Kind: "history", Content: json.RawMessage(`{"threads":`)},
			{Kind: "smb_app_state_sync", Content: json.RawMessage(`[{"type":"contact"},7]`)},
		}); err != nil {
			t.Fatal(err)
		}
		r.take(r.graph.HistoryBody(2, 1, 100, hello("Hi")))
		r.until("it is given up", func() bool {
			r.pass(time.Minute)
			r.history.Deposed() // wakes it
			return strings.Contains(r.log.String(), "give up a part")
		})
		r.idle()
		r.shows(ana, "> Hi")
	})
}

// An erasure covers the parts that are not imported yet.
func TestAnErasedPersonIsNotImported(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.take(r.graph.HistoryBody(2, 1, 100, hello("Secret"),
			graphtest.Thread{ID: ben, Messages: []graphtest.Inbound{said(ben, "wamid.2", "Hi", 2, "READ")}}))
		r.take(r.graph.ContactsBody(graphtest.AppContact{Number: ana, FullName: "Ana"}))
		p, err := r.db.Person(t.Context(), r.sender.CompanyID, people.Query{Number: ana})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.db.Erase(t.Context(), p, r.now()); err != nil {
			t.Fatal(err)
		}
		r.run()
		r.idle()
		r.shows(ben, "> Hi")
		if got := r.lines(ana); got != nil {
			t.Errorf("imported: %q", got)
		}
		if all, err := people.Find(t.Context(), r.db.DB, r.sender.CompanyID, people.Query{Number: ana}); err != nil || !all.Empty() {
			t.Errorf("%+v, %v", all, err)
		}
		// And the imported conversations.
		p, err = r.db.Person(t.Context(), r.sender.CompanyID, people.Query{UserID: ben})
		if err != nil || p.Empty() {
			t.Fatal(p, err)
		}
		if _, err := r.db.Erase(t.Context(), p, r.now()); err != nil {
			t.Fatal(err)
		}
		if r.conversation(ben) != nil {
			t.Error("the conversation is still there")
		}
	})
}
