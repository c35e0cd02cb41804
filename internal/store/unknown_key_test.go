package store

import (
	"strconv"
	"strings"
	"testing"
)

func TestUnknownKeysAreRememberedWithinBoundsAndUntilConfigurationChanges(t *testing.T) {
	s, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for i := range unknownMost + 10 {
		if k, err := s.AccessKey(t.Context(), strconv.Itoa(i)); k != nil || err != nil {
			t.Fatal(k, err)
		}
	}
	if n := len(s.noKeys.names); n != 10 {
		t.Errorf("%d digests are remembered, want 10 after starting over", n)
	}
	if n := len(s.dir.entries); n != 0 {
		t.Errorf("made-up keys take %d places of the directory", n)
	}
	var last keyByDigest
	for d := range s.noKeys.names {
		last = d
	}
	if !s.noKeys.has(last, s.Generation()) {
		t.Error("a digest that is remembered is not found")
	}
	for i := range unknownMost + 10 {
		if there, err := s.SenderElsewhere(t.Context(), "ours", strconv.Itoa(i)); there || err != nil {
			t.Fatal(there, err)
		}
	}
	if there, err := s.SenderElsewhere(t.Context(), "ours", strings.Repeat("x", 1000)); there || err != nil {
		t.Error(there, err)
	}
	if n, entries := len(s.noSenders.names), len(s.dir.entries); n != 10 || entries != 0 {
		t.Errorf("%d names are remembered, want 10 after starting over; made-up names take %d places of the directory", n, entries)
	}
	s.dir.drop()
	if s.noKeys.has(last, s.Generation()) {
		t.Error("a change of configuration is not heard of")
	}
}
