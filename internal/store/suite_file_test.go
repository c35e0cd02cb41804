package store_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/chats"
	"carillon/internal/store/purge"
)

func keepingFiles() []sentence {
	return []sentence{
		{"a file is stored in parts, found once it is whole, and kept by its sender alone", fileLife},
		{"a company and a conversation have a limit of files", fileRoom},
		{"a file that nobody shows expires, the others go with their conversation", fileEnds},
	}
}

// talk opens a conversation of a company.
func (r *rig) talk(t *testing.T, company string) *chats.Conversation {
	t.Helper()
	r.now = r.now.Add(time.Second)
	o := &chats.Open{
		Contact:      chats.Contact{ID: carillon.NewID(r.now), CompanyID: company, WidgetID: "w", VisitorID: carillon.NewID(r.now)},
		Conversation: chats.Conversation{ID: carillon.NewID(r.now), Channel: "web_chat", WidgetID: "w", State: chats.Automated},
		Keep:         time.Hour, Now: r.now,
	}
	if err := r.Chats.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return &o.Conversation
}

func (r *rig) file(c *chats.Conversation, size int64) *chats.StoredFile {
	return &chats.StoredFile{
		ID: carillon.NewID(r.now), CompanyID: c.CompanyID, ConversationID: c.ID, SentBy: "ana", Name: "a.png", Type: "image/png",
		Size: size, SHA256: "00",
		CreatedAt: r.now, ExpiresAt: r.now.Add(time.Hour),
	}
}

var roomy = chats.FileRoom{Company: 1 << 30, Conversation: 10}

func fileLife(t *testing.T, r *rig) {
	c, s := r.talk(t, ours), r.Files
	f := r.file(c, 4)
	f.Name, f.Type = "", ""
	if err := s.Begin(t.Context(), f, []byte("one\x00"), false, roomy); err != nil {
		t.Fatal(err)
	}
	if err := s.Replace(t.Context(), f.ID, 0, []byte("one\x00")); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), f.ID, 1, []byte("\xff")); err != nil {
		t.Fatal(err)
	}
	if x, err := s.Find(t.Context(), f.ID); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("found before it is whole: %+v, %v", x, err)
	}
	f.Name, f.Type, f.Size, f.SHA256 = "b.pdf", "application/pdf", 5, "11"
	if err := s.Finish(t.Context(), f, roomy); err != nil {
		t.Fatal(err)
	}
	x, err := s.Find(t.Context(), f.ID)
	if diff := cmp.Diff(f, x); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for part, want := range []string{"one\x00", "\xff"} {
		if got, err := s.Part(t.Context(), f.ID, part); err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("part %d: %q, %v", part, got, err)
		}
	}
	if _, err := s.Part(t.Context(), f.ID, 2); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
	other := r.talk(t, theirs)
	for _, by := range [][3]string{{theirs, c.ID, "ana"}, {ours, other.ID, "ana"}, {ours, c.ID, "bea"}} {
		if _, err := s.Keep(t.Context(), by[0], by[1], by[2], f.ID); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("%v keeps it: %v", by, err)
		}
	}
	if x, err = s.Keep(t.Context(), ours, c.ID, "ana", f.ID); err != nil || !x.ExpiresAt.IsZero() {
		t.Error(x, err)
	}
	if err := s.Drop(t.Context(), f.ID); err != nil {
		t.Error(err)
	}
	if _, err := s.Find(t.Context(), f.ID); err != nil {
		t.Errorf("a whole file was dropped: %v", err)
	}
	half := r.file(c, 1)
	if err := s.Begin(t.Context(), half, []byte("x"), false, roomy); err != nil {
		t.Fatal(err)
	}
	if err := s.Drop(t.Context(), half.ID); err != nil {
		t.Error(err)
	}
	if _, err := s.Part(t.Context(), half.ID, 0); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("its bytes stay: %v", err)
	}
	if err := s.Finish(t.Context(), half, roomy); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("what was dropped is finished: %v", err)
	}
	foreign := r.file(c, 1)
	foreign.CompanyID = theirs
	if err := s.Begin(t.Context(), foreign, []byte("x"), true, roomy); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("another company's conversation takes it: %v", err)
	}
}

func fileRoom(t *testing.T, r *rig) {
	c, s := r.talk(t, ours), r.Files
	room := chats.FileRoom{Company: 10, Conversation: 2}
	begin := func(c *chats.Conversation, size int64) error {
		r.now = r.now.Add(time.Millisecond)
		return s.Begin(t.Context(), r.file(c, size), []byte("x"), true, room)
	}
	if err := begin(c, 6); err != nil {
		t.Fatal(err)
	}
	if err := begin(c, 5); !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Errorf("more than the company's bytes: %v", err)
	}
	if err := begin(c, 4); err != nil {
		t.Error(err)
	}
	if err := begin(c, 0); !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Errorf("a third file: %v", err)
	}
	if err := begin(r.talk(t, theirs), 10); err != nil {
		t.Errorf("another company: %v", err)
	}
	grown := r.file(r.talk(t, ours), 0)
	if err := s.Begin(t.Context(), grown, []byte{}, false, room); err != nil {
		t.Fatal(err)
	}
	grown.Size = 1
	if err := s.Finish(t.Context(), grown, room); !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Errorf("it grew past the company's bytes: %v", err)
	}
}

func fileEnds(t *testing.T, r *rig) {
	c, s := r.talk(t, ours), r.Files
	unused, used, media := r.file(c, 1), r.file(c, 1), r.file(c, 1)
	used.ID, media.ID, media.ConversationID = carillon.NewID(r.now.Add(1)), carillon.NewID(r.now.Add(2)), ""
	for _, f := range []*chats.StoredFile{unused, used, media} {
		if err := s.Begin(t.Context(), f, []byte("x"), true, roomy); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Keep(t.Context(), ours, c.ID, "ana", used.ID); err != nil {
		t.Fatal(err)
	}
	if p, err := r.Purges.Drop(t.Context(), purge.Files, r.now.Add(time.Minute), 10); err != nil || p.Rows != 0 {
		t.Errorf("dropped too early: %+v, %v", p, err)
	}
	if p, err := r.Purges.Drop(t.Context(), purge.Files, r.now.Add(2*time.Hour), 1); err != nil || p.Rows != 1 || !p.More {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := r.Purges.Drop(t.Context(), purge.Files, r.now.Add(2*time.Hour), 10); err != nil || p.Rows != 1 || p.More {
		t.Errorf("%+v, %v", p, err)
	}
	for _, f := range []*chats.StoredFile{unused, media} {
		if _, err := s.Find(t.Context(), f.ID); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("%s is there: %v", f.ID, err)
		}
	}
	if _, err := s.Find(t.Context(), used.ID); err != nil {
		t.Error(err)
	}
}
