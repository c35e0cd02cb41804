package sandbox

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// phoneBook records which phones are unreachable, and the receipts of replies.
type phoneBook struct {
	mu     sync.Mutex
	away   []Recipient
	states []carillon.State
}

func (b *phoneBook) set(away ...Recipient) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = away
}

func (b *phoneBook) unreachable(context.Context) ([]Recipient, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.away, nil
}

func (b *phoneBook) take(_ context.Context, senderUID int64, rs []provider.ReplyReceipt) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range rs {
		if senderUID == line.UID && r.Ref.Seq == 4 && r.ProviderID == "sandbox."+r.Ref.String() {
			b.states = append(b.states, r.State)
		}
	}
	return nil
}

func (b *phoneBook) seen() []carillon.State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.states)
}

func TestRepliesAndMessagesWaitForAnUnreachablePhone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := &phoneBook{}
		c, d, stop := run(t, Options{Unreachable: book.unreachable}, book.take)
		defer stop()
		const number = "34600701234"
		book.set(Recipient{line.UID, number})
		if err := c.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		reply := &provider.Reply{
			Ref: provider.ReplyRef{ConversationID: "0197a1b2-0000-7000-8000-000000000002", Seq: 4, Attempt: 1}, To: number, Text: "Hi",
		}
		if o := c.SendReply(t.Context(), line, reply); o.Verdict != provider.Sent || o.ProviderID != "sandbox."+reply.Ref.String() {
			t.Errorf("%+v", o)
		}
		if o := c.Send(t.Context(), line, outgoing(number, 1)); o.Verdict != provider.Sent {
			t.Errorf("%+v", o)
		}
		if o := c.Send(t.Context(), line, outgoing("34600701235", 1)); o.Verdict != provider.Sent {
			t.Errorf("%+v", o)
		}
		after(time.Hour)
		if got := book.seen(); len(got) > 0 || len(d.snapshot().reported) != 2 {
			t.Errorf("reported %v, %v", got, d.snapshot().reported)
		}
		book.set()
		after(5 * time.Second)
		if got := book.seen(); !slices.Equal(got, []carillon.State{carillon.StateDelivered, carillon.StateRead}) ||
			len(d.snapshot().reported) != 4 {
			t.Errorf("reported %v, %v", got, d.snapshot().reported)
		}
	})
}

func TestPhonesShowWhatWasReadOfTheirsAlone(t *testing.T) {
	var marked []string
	c := New(Options{Marked: func(_ context.Context, _ *carillon.Sender, number string, until time.Time) error {
		if !until.IsZero() {
			number += " typing"
		}
		marked = append(marked, number)
		return nil
	}})
	for _, id := range []string{c.MessageID("34600701234", "a.b"), "wamid.1", "phone.", "phone.1.x", "phone.34600701234"} {
		if err := c.MarkRead(t.Context(), line, id, id != "wamid.1"); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(marked, []string{"34600701234 typing"}) {
		t.Errorf("marked %v", marked)
	}
}

func TestPhonesSendFilesOfTheirOwn(t *testing.T) {
	c := New(Options{})
	for id, begin := range map[string]string{"photo": "\x89PNG", "voice": "OggS", "document": "%PDF"} {
		content, mime, err := c.File(t.Context(), line, id, 1<<20)
		if x, ok := c.Sample(id); err != nil || !ok || x.Name == "" || mime != x.Type || !bytes.HasPrefix(content, []byte(begin)) {
			t.Errorf("%s: %s, %v", id, mime, err)
		}
	}
	for _, id := range []string{"photo", "../photo", ""} {
		if _, _, err := c.File(t.Context(), line, id, 10); !errors.Is(err, provider.ErrNoFile) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
