package senders

import (
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"carillon/internal/db"
	"carillon/internal/store/configure"
)

// tables are what a look-up reads.
var tables = fstest.MapFS{"migrations/0001_start.sql": {Data: []byte(`CREATE TABLE meta (name TEXT PRIMARY KEY, value BIGINT NOT NULL DEFAULT 0, text TEXT NOT NULL DEFAULT '');
CREATE TABLE sender (` + strings.ReplaceAll(columns, ",", " TEXT,") + ` TEXT);
`)}}

func TestUnknownNumbersAreRememberedWithinBounds(t *testing.T) {
	d, err := db.Open(t.Context(), db.Options{Dir: t.TempDir(), Migrations: tables})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := New(d, nil, configure.New(d))
	const most = 8192
	for i := range most + 10 {
		if there, err := s.SenderElsewhere(t.Context(), "ours", strconv.Itoa(i)); there || err != nil {
			t.Fatal(there, err)
		}
	}
	if there, err := s.SenderElsewhere(t.Context(), "ours", strings.Repeat("x", 1000)); there || err != nil {
		t.Error(there, err)
	}
	if n := s.unknown.Len(); n == 0 || n > most {
		t.Errorf("%d unknown names are remembered, at most %d wanted", n, most)
	}
	if n := s.named.Len(); n != 0 {
		t.Errorf("made-up names take %d places of the configuration's", n)
	}
}
