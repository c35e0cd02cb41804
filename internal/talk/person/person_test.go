package person

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/share"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/people"
	"carillon/internal/store/storetest"
)

const (
	company      = "0190a2b4-0000-7000-8000-000000000001"
	contact      = "0190a2b4-0000-7000-8000-000000000002"
	conversation = "0190a2b4-0000-7000-8000-000000000003"
	number       = "34600111222"
)

// filled returns a company with a contact who sent two messages and a file.
func filled(t *testing.T) *People {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: company, Name: "Harbour"}, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		query string
		args  []any
	}{
		{
			"INSERT INTO contact (id, company_id, widget_id, visitor_id, verified, name, number, created_at, seen_at) VALUES ($1, " +
				"$2, '', $3, TRUE, 'Ana', $4, 1, 1)", []any{contact, company, "tel:" + number, number},
		},
		{
			"INSERT INTO contact_identity (company_id, value, kind, scope, other, contact_id) VALUES ($1, $2, 'line', '', '', $3)",
			[]any{company, number, contact},
		},
		{
			"INSERT INTO conversation (id, company_id, channel, contact_id, state, state_at, last_at, opened_at) VALUES ($1, $2, " +
				"'whatsapp', $3, 'bot', 1, 1, 1)", []any{conversation, company, contact},
		},
		{
			"INSERT INTO turn (conversation_id, seq, author, kind, at, text) VALUES ($1, 1, 'visitor', 'text', 1796000000000, 'When " +
				"do you open?')", []any{conversation},
		},
		{
			"INSERT INTO turn (conversation_id, seq, author, kind, at, text, note) VALUES ($1, 2, 'teammate', 'text', " +
				"1796000000000, 'A regular', TRUE)", []any{conversation},
		},
		{
			"INSERT INTO file (id, company_id, conversation_id, sent_by, name, type, size, whole, created_at, expires_at) VALUES " +
				"('f1', $1, $2, 'visitor', '../../ticket.txt', 'text/plain', 6, TRUE, 1, 0)", []any{company, conversation},
		},
		{"INSERT INTO file_part (file_id, part, bytes) VALUES ('f1', 0, $1)", []any{[]byte("tic")}},
		{"INSERT INTO file_part (file_id, part, bytes) VALUES ('f1', 1, $1)", []any{[]byte("ket")}},
	} {
		if _, err := s.DB.Exec(t.Context(), x.query, x.args...); err != nil {
			t.Fatalf("%s: %v", x.query, err)
		}
	}
	return New(s, new(share.Set))
}

func TestAnExportOpensAndIsComplete(t *testing.T) {
	x := filled(t)
	e, err := x.Begin(t.Context(), share.Holder{Company: company}, people.Query{Number: number})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var b bytes.Buffer
	if err := e.WriteTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		texts[f.Name] = string(text)
	}
	if texts["files/f1-ticket.txt"] != "ticket" {
		t.Errorf("the files are %q", texts)
	}
	if said := texts["conversations.txt"]; !strings.Contains(said, "visitor: When do you open?\n") || strings.Contains(said, "A regular") {
		t.Errorf("the conversations are %q", said)
	}
	if n := strings.Count(texts["person.json"], `"turn": [`); n != 1 {
		t.Errorf("turns stand in %d places", n)
	}
	var all map[string][]any
	if err := json.Unmarshal([]byte(texts["person.json"]), &all); err != nil {
		t.Fatalf("%v in %s", err, texts["person.json"])
	}
	for table, n := range map[string]int{
		"identities": 1, "contact": 1, "contact_identity": 1, "conversation": 1, "turn": 2, "file": 1, "suppression": 0,
	} {
		if rows, there := all[table]; !there || len(rows) != n {
			t.Errorf("%s has %d rows, want %d", table, len(rows), n)
		}
	}
}

func TestAPersonIsFoundErasedAndNotFoundAgain(t *testing.T) {
	x := filled(t)
	by := share.Holder{Company: company}
	for range 2 {
		found, err := x.Find(t.Context(), company, people.Query{ContactID: contact})
		if err != nil || len(found.Contacts) != 1 || found.Contacts[0].Name != "Ana" || found.Conversations != 1 {
			t.Fatalf("%+v %v", found, err)
		}
	}
	if found, err := x.Find(t.Context(), "another", people.Query{Number: number}); err != nil || len(found.Contacts) != 0 {
		t.Errorf("another company finds %+v %v", found, err)
	}
	if _, err := x.Erase(t.Context(), share.Holder{Company: "another"}, people.Query{ContactID: contact}); !carillon.IsCode(err,
		carillon.NotFound) {
		t.Errorf("another company erases the contact: %v", err)
	}
	first, err := x.Erase(t.Context(), by, people.Query{Number: number})
	if err != nil || first.Rows["contact"] != 1 || first.Rows["conversation"] != 1 {
		t.Fatalf("%+v %v", first, err)
	}
	if found, err := x.Find(t.Context(), company, people.Query{Number: number}); err != nil || len(found.Contacts) != 0 ||
		found.Conversations != 0 {
		t.Errorf("after it %+v %v", found, err)
	}
	if again, err := x.Erase(t.Context(), by, people.Query{Number: number}); err != nil || again.Hash != first.Hash ||
		again.Rows["contact"] != 0 {
		t.Errorf("a second time %+v %v", again, err)
	}
	if _, err := x.Find(t.Context(), company, people.Query{ContactID: contact}); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("the contact is still found: %v", err)
	}
}

func TestAPersonIsNamedByOneValidField(t *testing.T) {
	for body, field := range map[string]string{
		`{}`: "number", `{"number":"+34 600"}`: "number", `{"number":"34600111222","user_id":"US.1"}`: "number",
		`{"user_id":"34600111222"}`: "user_id", `{"contact_id":"7"}`: "contact_id", `{"number":7}`: "number",
	} {
		o, err := jsonbody.Parse([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(o); !carillon.IsCode(err, carillon.ValidationFailed) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
