package purge_test

import (
	"context"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/purge"
)

func TestRoundDeletesRecordingsBeforeTheirConversations(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		w := newWorld(t, o)
		if err := w.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return accounts.PutCompany(ctx, tx, &carillon.Company{ID: forever, Name: forever, RecordingDays: 1}, w.base)
		}); err != nil {
			t.Fatal(err)
		}
		now := w.base.Add(12 * time.Hour)
		type recording struct{ conversation, file string }
		all := map[string]recording{}
		for name, of := range map[string]struct {
			company string
			at      time.Time
		}{
			"old": {forever, now.Add(-25 * time.Hour)}, "new": {forever, now.Add(-23 * time.Hour)},
			"without its own days": {brief, now.Add(-23 * time.Hour)},
		} {
			x := &chats.Open{
				Contact:      chats.Contact{ID: carillon.NewID(of.at), CompanyID: of.company, VisitorID: name},
				Conversation: chats.Conversation{ID: carillon.NewID(of.at), Channel: "phone", State: chats.Resolved}, Now: of.at,
			}
			if err := w.Chats.Open(t.Context(), x); err != nil {
				t.Fatal(err)
			}
			f := &chats.StoredFile{
				ID: carillon.NewID(of.at), CompanyID: of.company, ConversationID: x.Conversation.ID, SentBy: "call", Name: "call.wav",
				Type: "audio/wav", Size: 1, SHA256: "00", CreatedAt: of.at,
			}
			if err := w.Files.Begin(t.Context(), f, []byte("x"), true, chats.FileRoom{Company: 1 << 20, Conversation: 10}); err != nil {
				t.Fatal(err)
			}
			all[name] = recording{x.Conversation.ID, f.ID}
		}
		rows := map[string]int{}
		p := purge.New(w.Purges, w.Accounts, purge.Options{Step: func(what string, x purge.Purged) { rows[what] += x.Rows }})
		if err := p.Round(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		for name, x := range all {
			if _, err := w.Files.Find(t.Context(), x.file); carillon.IsCode(err, carillon.NotFound) != (name == "old") {
				t.Errorf("the recording %s: %v", name, err)
			}
		}
		if _, err := w.Chats.Find(t.Context(), forever, all["old"].conversation); err != nil || rows[purge.Recordings] != 1 {
			t.Errorf("its conversation: %v, deleted %v", err, rows)
		}
	})
}
