// Package history imports the history of a number from before its connection: the conversations of the channel's own app
// become resolved conversations, and its contacts name people.
//
//	callback ─▶ Receive ─▶ past_part ─▶ past_message ─▶ turns of resolved conversations ─▶ files
//
// The channel sends thousands of messages in one callback, the most recent days first. They are stored as received and
// read in the background, in steps that can be repeated after a crash. Nobody is notified, no agent answers, and no
// window opens.
package history

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/base/share"
	"carillon/internal/store/chats"
	"carillon/internal/store/db"
	"carillon/internal/talk/files"
	"carillon/internal/talk/messaging"
)

// Options configure History. All fields are required except Now, Shares, Alone and Node.
type Options struct {
	Store    *chats.Past
	Contacts *chats.Contacts
	Files    *files.Files
	Channels map[string]messaging.Channel // by provider
	// Read reads a part of a sender's history.
	Read func(s *carillon.Sender, part provider.HistoryPart) (provider.History, error)
	// Sender returns a sender of any company. Errors: not_found.
	Sender func(ctx context.Context, uid int64) (*carillon.Sender, error)
	// AgentOf returns the agent that answers for a sender, and its language; both are empty if there is none.
	AgentOf func(ctx context.Context, s *carillon.Sender) (id, language string, err error)
	// Portfolio returns the scope in which the channel's ids of people are valid for a sender.
	Portfolio func(s *carillon.Sender) string
	Log       *slog.Logger
	Now       func() time.Time // default time.Now
	Shares    *share.Set       // nil: a new set
	// Alone means that no other node uses this database: imports in progress at the start were left by a previous process.
	Alone bool
	Node  string // id of this node in the table of nodes; empty if it is the only one
}

// History imports the histories of all senders. New builds it; Run does its work.
type History struct {
	o    Options
	came chan struct{} // signals that a part arrived
	left chan struct{} // signals that a node was declared dead
}

// New builds History.
func New(o Options) *History {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &History{o: o, came: make(chan struct{}, 1), left: make(chan struct{}, 1)}
}

// now returns the current time at the precision of the database.
func (h *History) now() time.Time { return h.o.Now().Truncate(time.Millisecond).UTC() }

const (
	poll  = 5 * time.Second
	page  = 50
	work  = 30 * time.Second      // of one turn of an import; then it is another import's turn
	lease = work + 90*time.Second // after that another node continues
	retry = 30 * time.Second      // after a failure
	quiet = 2 * time.Minute       // time without a new part after which conversations are built from an incomplete history
	whole = 100                   // percent
)

// Receive stores parts of a sender's history. After a nil error they are durable.
func (h *History) Receive(ctx context.Context, s *carillon.Sender, parts []provider.HistoryPart) error {
	if len(parts) == 0 {
		return nil
	}
	now := h.now()
	rows := make([]chats.PastPart, len(parts))
	for i, p := range parts {
		content := strings.ToValidUTF8(string(p.Content), "")
		sum := sha256.Sum256([]byte(p.Kind + "\n" + content))
		rows[i] = chats.PastPart{
			SenderUID: s.UID, Digest: hex.EncodeToString(sum[:]), CompanyID: s.CompanyID, Kind: p.Kind, Content: content,
			ReceivedAt: now.Add(time.Duration(i) * time.Millisecond), // preserves the order of parts in one callback
		}
	}
	if _, err := h.o.Store.Receive(ctx, rows); err != nil {
		return err
	}
	poke(h.came)
	return nil
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Deposed makes this node take over the imports of a node that was declared dead.
func (h *History) Deposed() { poke(h.left) }

// Run imports histories until ctx ends.
func (h *History) Run(ctx context.Context) error {
	h.recover(ctx, h.o.Alone)
	crew := &share.Crew[*chats.PastImport]{
		Places: h.o.Shares.Of(share.Histories), Page: page,
		Due: func(ctx context.Context, without []string) ([]*chats.PastImport, error) {
			return h.o.Store.Due(ctx, h.now(), page, without)
		},
		Key:     func(x *chats.PastImport) string { return strconv.FormatInt(x.SenderUID, 10) },
		Company: func(x *chats.PastImport) string { return x.CompanyID },
		Work:    h.advance,
		Wake:    func() { poke(h.came) },
	}
	defer crew.Wait()
	for {
		if err := crew.Begin(ctx); err != nil && ctx.Err() == nil {
			h.o.Log.WarnContext(ctx, "import histories", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-h.came:
		case <-h.left:
			h.recover(ctx, false)
		case <-time.After(poll):
		}
	}
}

func (h *History) recover(ctx context.Context, alone bool) {
	if err := h.o.Store.Recover(ctx, h.now(), alone); err != nil && ctx.Err() == nil {
		h.o.Log.WarnContext(ctx, "take up imports", "error", err)
	}
}

// advance claims an import and continues it for a while. It returns false if another node has it, or if it failed.
func (h *History) advance(ctx context.Context, x *chats.PastImport) bool {
	now := h.now()
	if ok, err := h.o.Store.Claim(ctx, x, h.o.Node, now, now.Add(lease)); !ok || err != nil {
		return false
	}
	next, err := h.steps(ctx, x, now.Add(work))
	if err != nil && ctx.Err() == nil {
		h.o.Log.WarnContext(ctx, "import a history", "company", x.CompanyID, "sender", x.SenderUID, "error", err)
	}
	if err != nil {
		next = h.now().Add(retry)
		if ctx.Err() != nil {
			next = h.now() // the program stops; another node or the next start continues
		}
	}
	if err := h.o.Store.Release(context.WithoutCancel(ctx), x, x.ReceivedAt, h.now(), next); err != nil {
		h.o.Log.WarnContext(ctx, "release an import", "company", x.CompanyID, "sender", x.SenderUID, "error", err)
		return false
	}
	return err == nil
}

// steps makes steps of an import until an instant. It returns the time of the next turn; zero if nothing is left to
// do.
func (h *History) steps(ctx context.Context, x *chats.PastImport, until time.Time) (next time.Time, err error) {
	s, err := h.o.Sender(ctx, x.SenderUID)
	if carillon.IsCode(err, carillon.NotFound) {
		return time.Time{}, h.o.Store.Drop(ctx, x)
	}
	if err != nil {
		return time.Time{}, err
	}
	for ctx.Err() == nil {
		if !h.now().Before(until) {
			return h.now(), nil
		}
		more, next, err := h.step(ctx, s)
		if err != nil || !more {
			return next, err
		}
	}
	return h.now(), ctx.Err()
}

// step makes one step: it reads a part, builds a piece of a conversation, or loads a file. It returns false if there is
// nothing to do until next.
func (h *History) step(ctx context.Context, s *carillon.Sender) (more bool, next time.Time, err error) {
	part, err := h.o.Store.NextPart(ctx, s.CompanyID, s.UID)
	if err != nil {
		return false, next, err
	}
	if part != nil {
		return true, next, h.read(ctx, s, part)
	}
	x, err := h.o.Store.Import(ctx, s.CompanyID, s.UID)
	if err != nil {
		return false, next, err
	}
	rows, err := h.o.Store.Unbuilt(ctx, s.CompanyID, s.UID, maxBuilt)
	if err != nil {
		return false, next, err
	}
	if len(rows) > 0 {
		// Conversations are built when all their messages are there, since the most recent ones come first.
		if x.Progress >= whole || !h.now().Before(x.ReceivedAt.Add(quiet)) {
			return true, next, h.build(ctx, s, rows)
		}
		next = x.ReceivedAt.Add(quiet)
	}
	file, err := h.o.Store.NextFile(ctx, s.CompanyID, s.UID, h.now())
	if err != nil {
		return false, next, err
	}
	if file != nil {
		return true, next, h.file(ctx, s, file)
	}
	due, err := h.o.Store.FileDue(ctx, s.CompanyID, s.UID)
	if next.IsZero() || !due.IsZero() && due.Before(next) {
		next = due
	}
	return false, next, err
}

const (
	maxStaged = 200 // messages of one transaction
	maxNamed  = 50  // names of one transaction
	maxBuilt  = 200
	partTries = 5
)

// read stores the messages of a part, and the names in it. It is idempotent.
func (h *History) read(ctx context.Context, s *carillon.Sender, p *chats.PastPart) error {
	if err := h.o.Store.TryPart(ctx, p); err != nil {
		return err
	}
	found, err := h.o.Read(s, provider.HistoryPart{Kind: p.Kind, Content: []byte(p.Content)})
	if err == nil {
		err = h.keep(ctx, s, p, &found)
	}
	if err != nil && (p.Tries+1 < partTries || db.Transient(err) || errors.Is(err, chats.ErrOvertaken) || ctx.Err() != nil) {
		if errors.Is(err, chats.ErrOvertaken) { // a person was erased from it: read it again
			return nil
		}
		return err
	}
	if err != nil {
		h.o.Log.ErrorContext(ctx, "give up a part of a history", "company", s.CompanyID, "sender", s.ID, "kind", p.Kind, "error", err)
	}
	if found.Ignored > 0 {
		h.o.Log.InfoContext(ctx, "ignore messages of a history that name no person", "company", s.CompanyID, "sender", s.ID,
			"messages", found.Ignored)
	}
	return h.o.Store.EndPart(ctx, p, chats.PartResult{
		Phase: found.Phase, Progress: found.Progress, Refused: found.Refused, Names: len(found.Names),
	})
}

func (h *History) keep(ctx context.Context, s *carillon.Sender, p *chats.PastPart, found *provider.History) error {
	if err := h.recognize(ctx, s, found); err != nil {
		return err
	}
	var rows []chats.PastRow
	for i := range found.Messages {
		m := &found.Messages[i]
		if m.Person() == "" { // a file of a message that is unknown
			found.Ignored++
			continue
		}
		content, err := marshal(m)
		if err != nil {
			return err
		}
		rows = append(rows, chats.PastRow{
			SenderUID: s.UID, ProviderID: m.ID, CompanyID: s.CompanyID, Person: personOf(&m.Inbound), At: m.At, Content: content,
			Absent: m.Absent,
		})
	}
	for len(rows) > 0 {
		n := min(len(rows), maxStaged)
		if _, err := h.o.Store.Stage(ctx, p, rows[:n], h.now()); err != nil {
			return err
		}
		rows = rows[n:]
	}
	var names []chats.PersonNamed
	for _, n := range found.Names {
		now := h.now()
		names = append(names, chats.PersonNamed{
			Known: h.known(s, n.Number, n.UserID), Removed: n.Removed,
			Contact: chats.Contact{ID: carillon.NewID(now), CompanyID: s.CompanyID, Number: n.Number, UserID: n.UserID, Name: n.Name},
		})
	}
	for len(names) > 0 {
		n := min(len(names), maxNamed)
		if err := h.o.Contacts.SetNames(ctx, names[:n], h.now()); err != nil {
			return fmt.Errorf("names of contacts: %w", err)
		}
		names = names[n:]
	}
	return nil
}

// recognize completes messages whose files were absent before: a file does not name the person of its message.
func (h *History) recognize(ctx context.Context, s *carillon.Sender, found *provider.History) error {
	named := map[string]*provider.PastMessage{}
	for i := range found.Messages {
		if m := &found.Messages[i]; m.File != nil {
			named[m.ID] = m
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(named)), maxStaged) {
		rows, err := h.o.Store.Absent(ctx, s.CompanyID, s.UID, ids)
		if err != nil {
			return err
		}
		for id, r := range rows {
			m, err := unmarshal(&r)
			if err != nil {
				return err
			}
			x := named[id]
			m.Absent, m.Kind, m.Type, m.Text, m.File = false, x.Kind, x.Type, x.Text, x.File
			*x = *m
		}
	}
	return nil
}

// personOf returns the key of a person's messages.
func personOf(x *provider.Inbound) string {
	if x.UserID != "" {
		return x.UserID
	}
	return identity.Number(x.From).String()
}

// known returns the identities of a person at a sender. Either may be empty.
func (h *History) known(s *carillon.Sender, number, userID string) (all []identity.Identity) {
	if number != "" {
		all = append(all, identity.Identity{Kind: identity.Line, Key: identity.Number(number)})
	}
	if userID != "" {
		all = append(all, identity.Identity{Kind: identity.Person, Scope: h.o.Portfolio(s), Key: identity.User(userID)})
	}
	return all
}
