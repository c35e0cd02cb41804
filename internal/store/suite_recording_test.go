package store_test

import (
	"testing"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
	"carillon/internal/store/purge"
)

func recordings() []sentence {
	return []sentence{
		{"recordings go before their conversations, and their calls keep the reason", recordingsExpire},
	}
}

// recordedTalk is a conversation with a complete recording of a call.
func (r *rig) recordedTalk(t *testing.T, company string, size int64) *chats.StoredFile {
	t.Helper()
	f := r.file(r.talk(t, company), size)
	f.SentBy, f.Type, f.Name = "call", "audio/wav", "call.wav"
	if err := r.Files.Begin(t.Context(), f, []byte("x"), true, roomy); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Files.Keep(t.Context(), company, f.ConversationID, f.SentBy, f.ID); err != nil {
		t.Fatal(err)
	}
	return f
}

func recordingsExpire(t *testing.T, r *rig) {
	fence := r.fence(t)
	placed, taken, lone := r.recordedTalk(t, ours, 1), r.recordedTalk(t, ours, 10<<20), r.recordedTalk(t, ours, 1)
	foreign := r.recordedTalk(t, theirs, 1)
	a, k := r.called(t)
	r.dial(t, fence, 0, k)
	if err := r.Calls.SetTalk(t.Context(), carillon.MessageKey(k), 1, calls.Talk{
		ConversationID: placed.ConversationID, Recording: placed.ID,
	}); err != nil {
		t.Fatal(err)
	}
	in, _ := r.rings(t, 0)
	if err := r.Incoming.Answered(t.Context(), in.ID, taken.ConversationID, r.now); err != nil {
		t.Fatal(err)
	}
	if err := r.Incoming.Recorded(t.Context(), in.ID, taken.ID); err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(time.Second)
	before := r.now
	young := r.recordedTalk(t, ours, 1)
	half := r.file(&chats.Conversation{ID: young.ConversationID, CompanyID: ours}, 1)
	half.ID, half.SentBy, half.CreatedAt = carillon.NewID(r.now.Add(1)), "call", placed.CreatedAt
	picture := r.file(&chats.Conversation{ID: placed.ConversationID, CompanyID: ours}, 1)
	picture.ID, picture.CreatedAt = carillon.NewID(r.now.Add(2)), placed.CreatedAt
	for _, f := range []*chats.StoredFile{half, picture} {
		if err := r.Files.Begin(t.Context(), f, []byte("x"), f == picture, roomy); err != nil {
			t.Fatal(err)
		}
	}
	for _, next := range []struct{ after, want string }{{"", ours}, {ours, theirs}, {theirs, ""}} {
		if id, err := r.Purges.Next(t.Context(), purge.Recordings, next.after); id != next.want || err != nil {
			t.Errorf("after %q comes %q, %v", next.after, id, err)
		}
	}
	if p, err := r.Purges.DropRecordings(t.Context(), ours, placed.CreatedAt, 10); p.Rows != 0 || err != nil {
		t.Errorf("too early: %+v, %v", p, err)
	}
	for i, want := range []purge.Purged{{Rows: 1, More: true}, {Rows: 1, More: true}, {Rows: 1}, {}} {
		p, err := r.Purges.DropRecordings(t.Context(), ours, before, 100) // the second one has as many bytes as 1,280 rows
		if p.Rows != want.Rows || p.More != want.More || err != nil {
			t.Errorf("step %d: %+v, %v", i, p, err)
		}
	}
	for _, gone := range []*chats.StoredFile{placed, taken, lone} {
		if _, err := r.Files.Find(t.Context(), gone.ID); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("it is there: %v", err)
		}
	}
	for _, there := range []*chats.StoredFile{foreign, young, picture} {
		if _, err := r.Files.Find(t.Context(), there.ID); err != nil {
			t.Errorf("%s of %s is gone: %v", there.Name, there.CompanyID, err)
		}
	}
	if c := r.callNow(t, k); c.Recording != "" || c.NoRecording != calls.Expired || c.ConversationID != placed.ConversationID {
		t.Errorf("%+v", c.Talk)
	}
	if c := r.incomingNow(t, in.ID); c.Recording != "" || c.NoRecording != calls.Expired {
		t.Errorf("%+v", c.Talk)
	}
	log, err := r.Audit.List(t.Context(), ours, audit.Filter{Kind: audit.Call, Limit: 10})
	if err != nil || len(log) != 2 || log[0].ID == log[1].ID {
		t.Fatalf("%+v, %v", log, err)
	}
	for i, id := range []string{in.ID, a.Notification.ID} {
		if x := log[i]; x.ObjectID != id || x.Action != audit.RecordingGone || x.Origin != audit.System {
			t.Errorf("recorded %+v, want %s", x, id)
		}
	}
	if err := r.Incoming.RecordingRefused(t.Context(), in.ID); err != nil {
		t.Error(err)
	}
	if c := r.incomingNow(t, in.ID); c.NoRecording != calls.Refused {
		t.Errorf("%+v", c.Talk)
	}
}
