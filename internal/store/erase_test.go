package store_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/messages"
	"carillon/internal/store/people"
	"carillon/internal/store/storetest"
)

// someone is a person with a trace in every table that has people.
type someone struct {
	number, other, user, word string
	contact, conversation     string
}

var (
	annie = someone{"5215512345601", "525512345601", "MX.ana1", "Anaword", "contact-ana", "conversation-ana"}
	bobby = someone{"34600111333", "34600111333", "ES.bob1", "Bobword", "contact-bob", "conversation-bob"}
)

// leaves writes the traces of a person in a company.
func (x someone) leaves(t *testing.T, r *rig, company string) {
	t.Helper()
	contact, conversation := company+x.contact, company+x.conversation
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := r.DB.Exec(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	exec(`INSERT INTO contact (id, company_id, widget_id, visitor_id, verified, name, email, number, user_id, username, created_at, seen_at)
		VALUES ($1, $2, '', $3, TRUE, $4, $4, $5, $6, $4, 1, 1)`, contact, company, "tel:"+x.number, x.word, x.number, x.user)
	exec("INSERT INTO contact_identity (company_id, value, kind, scope, other, contact_id) VALUES ($1, $2, 'line', '', $3, $4)",
		company, x.other, x.number, contact)
	exec("INSERT INTO contact_identity (company_id, value, kind, scope, other, contact_id) VALUES ($1, $2, 'person', '', '', $3)",
		company, x.user, contact)
	exec(`INSERT INTO conversation (id, company_id, channel, contact_id, state, state_at, last_at, last_text, comment, opened_at)
		VALUES ($1, $2, 'whatsapp', $3, 'bot', 1, 1, $4, $4, 1)`, conversation, company, contact, x.word)
	for i := range 60 { // more than a page holds
		exec("INSERT INTO turn (conversation_id, seq, author, kind, at, text, payload) VALUES ($1, $2, 'visitor', 'text', 1, $3, $3)",
			conversation, i+1, strings.Repeat(x.word+" ", 20))
	}
	exec("INSERT INTO file (id, company_id, conversation_id, sent_by, name, type, size, created_at, expires_at) VALUES ($1, $2, $3, "+
		"'visitor', $4, 'text/plain', 7, 1, 0)",
		"file"+conversation, company, conversation, x.word+".txt")
	exec("INSERT INTO file_part (file_id, part, bytes) VALUES ($1, 0, $2)", "file"+conversation, []byte(x.word))
	exec("INSERT INTO reply (conversation_id, seq, company_id, sender_uid, number, state, due_at, detail, changed_at) VALUES ($1, "+
		"1, $2, 1, $3, 'sent', 0, $4, 1)",
		conversation, company, x.number, x.word)
	exec("INSERT INTO reply_window (conversation_id, company_id, sender_uid, number, "+
		"last_id, until_at) VALUES ($1, $2, 1, $3, $4, 1)", conversation, company, x.number, x.word)
	exec("INSERT INTO signed_address (id, company_id, conversation_id, widget_id, agent_id, key_id, origin, expires_at) VALUES ($1, "+
		"$2, $3, '', '', '', $4, 1)",
		"address"+conversation, company, conversation, x.word)
	exec(`INSERT INTO flow_run (id, company_id, flow_id, version, conversation_id, cause, rev, state, place, path, variables,
		question, started_at, changed_at)
		VALUES ($1, $2, 'f', 1, $3, 'keyword', 1, 'completed', 0, '', $4, $4, 1, 1)`, "run"+conversation, company, conversation, x.word)
	exec("INSERT INTO review (conversation_id, company_id, agent_id, seq, ended_at, at, maker, goal, topics, doc) VALUES ($1, $2, 'a', 1, "+
		"1, 1, 'rules', '', '[]', $3)", conversation, company, fmt.Sprintf(`{"summary":%q}`, x.word))
	exec("INSERT INTO flow_entry (run_id, seq, at, path, kind, text) VALUES ($1, 1, 1, '', 'said', $2)", "run"+conversation, x.word)
	exec("INSERT INTO call_transfer (id, company_id, conversation_id, sender, number, under_way, state, dialed_at) VALUES ($1, $2, "+
		"$3, 1, '15550000', FALSE, 'ended', 1)",
		"transfer"+conversation, company, conversation)
	exec("INSERT INTO transfer_queue (conversation_id, company_id, agent_id, place, entered_at) VALUES ($1, $2, $1, 1, 1)",
		conversation, company)
	exec(`INSERT INTO incoming_call (id, company_id, sender, agent_id, number, node, under_way, state, detail, ringing_at) VALUES `+
		`($1, $2, 1, '', $3, '', FALSE, 'completed', $4, 1)`,
		"call"+conversation, company, x.other, x.word)
	exec("INSERT INTO inbound_message (sender_uid, provider_id, company_id, number, content, due_at, received_at) VALUES (1, $1, "+
		"$2, $3, $4, 0, 1)",
		"wamid"+conversation, company, x.number, x.word)
	exec(`INSERT INTO past_message (sender_uid, provider_id, company_id, number, at, content, received_at)
		VALUES (1, $1, $2, $3, 1, $4, 1)`, "past"+conversation, company, x.other, x.word)
	part := "INSERT INTO past_part (sender_uid, digest, company_id, kind, content, due_at, received_at) VALUES (1, $1, $2, $3, $4, 1, 1)"
	exec(part, company+"thread"+x.other[:4], company, "history",
		fmt.Sprintf(`{"threads":[{"id":%q,"messages":[{"text":%q}]},{"id":"34600999888"}]}`, x.number, x.word))
	exec(part, company+"names"+x.other[:4], company, "contacts",
		fmt.Sprintf(`[{"contact":{"full_name":%q,"phone_number":%q}}]`, x.word, "+"+x.number))
	exec("INSERT INTO suppression (company_id, number, type, reason, created_at) VALUES ($1, $2, 'all', $3, 1)", company, x.other, x.word)
	exec("INSERT INTO sandbox_phone (sender_uid, number, company_id, changed_at) VALUES ($1, $2, $3, 1)", len(company), x.number, company)
	exec("INSERT INTO question (id, company_id, agent_id, words, text, language, asked, first_at, last_at, conversation_id) VALUES "+
		"($1, $2, 'a', $3, $3, 'en', 1, 1, 1, $4)",
		"question"+conversation, company, x.word, conversation)
	said := fmt.Sprintf(`{"number":%q,"name":%q}`, x.number, x.word)
	exec(`INSERT INTO api_call (company_id, id, at, bytes, status, code, method, path, key_id, request_id, repeats, micros, message, doc)
		VALUES ($1, $2, 1, 1, 400, '', 'POST', '/', '', '', 0, 0, '', $3)`, company, "api"+x.other[:4], said)
	exec(`INSERT INTO hook_attempt (id, company_id, webhook_id, event_id, kind, subject, attempt, at, took, ok, status, error,
		request, response)
		VALUES ($1, $2, 'w', 'e', 'k', 's', 1, 1, 1, TRUE, 200, '', $3, '')`, "attempt"+conversation, company, said)
	exec(`INSERT INTO audit (company_id, id, at, author, author_name, origin, address, kind, object_id, object_name, action, changes)
		VALUES ($1, $2, 1, '', '', 'panel', '', 'suppression', $3, $3, 'added', $4)`, company, "audit"+x.other[:4], x.other,
		fmt.Sprintf(`{"number":["",%q]}`, x.other))
	exec("INSERT INTO idempotency (company_id, route, key, hash, notification_id, answer, expires_at) VALUES ($1, 'r', $2, '', '', "+
		"$3, 9999999999999)",
		company, x.other[:4], fmt.Sprintf(`{"skipped":[%q]}`, x.number))
}

// shared are rows that mention both people.
func shared(t *testing.T, r *rig, company string) {
	t.Helper()
	event := func(x someone, text string) string {
		return fmt.Sprintf(`{"k":"turn","s":%q,"at":1,"p":{"text":%q,"number":%q}}`, company+x.conversation, text, x.number)
	}
	for _, e := range []struct {
		seq, events int
		payload     string
	}{
		{3, 3, "[" + event(bobby, "before") + "," + event(annie, annie.word) + "," + event(bobby, "after") + "]"},
		{4, 1, fmt.Sprintf(`{"to":%q,"text":%q}`, annie.other, annie.word)},
		{5, 1, fmt.Sprintf(`{"to":%q,"text":%q}`, bobby.number, bobby.word)},
	} {
		if _, err := r.DB.Exec(t.Context(), "INSERT INTO event (company_id, topic, seq, events, kind, subject, payload, created_at) "+
			"VALUES ($1, 'conversations', $2, $3, 'turn', 's', $4, 1)",
			company, e.seq, e.events, e.payload); err != nil {
			t.Fatal(err)
		}
		if _, err := r.DB.Exec(t.Context(), "INSERT INTO hook_retry (company_id, webhook_id, topic, seq, subject, state, attempt, "+
			"begun_at, next_at) VALUES ($1, 'w', 'conversations', $2, 's', 'failed', 1, 1, 1)",
			company, e.seq); err != nil {
			t.Fatal(err)
		}
	}
	group(t, r, company)
	noted(t, r, company)
	cells := fmt.Sprintf(`[["2",%q,%q],["3",%q,%q]]`, "+52 1 55 1234-5601", annie.word, bobby.number, bobby.word)
	for _, query := range []string{
		"INSERT INTO bulk_job (id, company_id, author, rev, state, file, bytes, settings, created_at, changed_at) VALUES ($1, '" +
			company + "', '', 1, 'done', 'f', 1, '{}', 1, 1)",
		"INSERT INTO bulk_check (job_id, n, good, faulty, faults) VALUES ($1, 0, 1, 1, '[\"" + annie.number + "\"]')",
	} {
		if _, err := r.DB.Exec(t.Context(), query, "job"+company); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.DB.Exec(t.Context(), "INSERT INTO bulk_batch (job_id, n, cells) VALUES ($1, 0, $2)", "job"+company, cells); err != nil {
		t.Fatal(err)
	}
}

// noted adds a third person, for whom a teammate noted Ana's number by mistake.
func noted(t *testing.T, r *rig, company string) {
	t.Helper()
	for _, query := range []string{
		`INSERT INTO contact (id, company_id, widget_id, visitor_id, verified, name, email, number, created_at, seen_at)
			VALUES ($1 || 'cat', $1, '', 'tel:34600111444', TRUE, 'Catword', '', '` + annie.number + `', 1, 1)`,
		"INSERT INTO contact_identity (company_id, value, kind, scope, other, contact_id) VALUES ($1, '34600111444', 'line', '', " +
			"'', $1 || 'cat')",
		"INSERT INTO contact_identity (company_id, value, kind, scope, other, contact_id) VALUES ($1, '" + annie.other +
			"', 'claimed', $1 || 'cat', '" + annie.number + "', $1 || 'cat')",
	} {
		if _, err := r.DB.Exec(t.Context(), query, company); err != nil {
			t.Fatal(err)
		}
	}
}

// group leaves a group in which both write, and quote each other.
func group(t *testing.T, r *rig, company string) {
	t.Helper()
	turn := func(x someone, more string) string {
		return fmt.Sprintf(`{"name":%q,%s"group":"g","writer":%q}`, x.word, more, cmp.Or(x.user, x.number))
	}
	inAna := annie
	inAna.user = ""
	for _, query := range []string{
		"INSERT INTO contact (id, company_id, widget_id, visitor_id, verified, name, email, number, created_at, seen_at) VALUES ($1 " +
			"|| 'group', $1, '', 'group:g', TRUE, '', '', '', 1, 1)",
		`INSERT INTO conversation (id, company_id, channel, contact_id, state, state_at, last_at, last_seq, last_text, comment, opened_at)
			VALUES ($1 || 'grouped', $1, 'whatsapp', $1 || 'group', 'bot', 1, 1, 4, '` + annie.word + `', '', 1)`,
		"INSERT INTO file (id, company_id, conversation_id, sent_by, name, type, size, created_at, expires_at) VALUES ($1 || " +
			"'photo', $1, $1 || 'grouped', 'visitor', '" + annie.word + ".png', 'image/png', 7, 1, 0)",
		"INSERT INTO file_part (file_id, part, bytes) VALUES ($1 || 'photo', 0, '" + annie.word + "')",
	} {
		if _, err := r.DB.Exec(t.Context(), query, company); err != nil {
			t.Fatal(err)
		}
	}
	for i, x := range []struct{ text, payload string }{
		{annie.word, turn(inAna, "")},
		{bobby.word, turn(bobby, `"of":1,"about":"`+annie.word+`",`)},
		{"", turn(inAna, `"file":{"id":"`+company+`photo","name":"`+annie.word+`"},`)},
		{annie.word, turn(annie, `"of":2,"about":"Hi",`)},
	} {
		if _, err := r.DB.Exec(t.Context(), "INSERT INTO turn (conversation_id, seq, author, kind, at, text, payload) VALUES ($1, "+
			"$2, 'visitor', 'text', 1, $3, $4)",
			company+"grouped", i+1, x.text, x.payload); err != nil {
			t.Fatal(err)
		}
	}
}

// sends are notifications to Ana alone, to both people, and to Bob alone.
func sends(t *testing.T, r *rig) (solo, both, other *messages.Accept) {
	t.Helper()
	contact := func(x someone) string { return fmt.Sprintf(`{"number":%q,"name":%q}`, x.number, x.word) }
	accept := func(body string, numbers ...string) *messages.Accept {
		a := r.request(numbers...)
		a.Notification.Body = body
		if err := r.Notifications.Accept(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	solo = accept(`{"contact":`+contact(annie)+`}`, annie.number)
	both = accept(`{"contacts":[`+contact(annie)+`,`+contact(bobby)+`]}`, annie.number, bobby.number)
	other = accept(`{"contact":`+contact(bobby)+`}`, bobby.number)
	return solo, both, other
}

// tables are all tables of the database, with their rows as text.
func tables(t *testing.T, r *rig) map[string]string {
	t.Helper()
	list := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	if !r.DB.SQLite() {
		list = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
	}
	all := map[string]string{}
	for _, name := range column(t, r, list) {
		all[name] = dump(t, r, name)
	}
	return all
}

func column(t *testing.T, r *rig, query string) (all []string) {
	t.Helper()
	rows, err := r.DB.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func dump(t *testing.T, r *rig, table string) string {
	t.Helper()
	rows, err := r.DB.Query(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			if text, ok := v.([]byte); ok {
				v = string(text)
			}
			fmt.Fprintf(&b, "%v\t", v)
		}
		b.WriteByte('\n')
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (x someone) marks() []string {
	return []string{x.number, x.other, x.user, x.word, x.contact, x.conversation}
}

// wantErased checks that no table has anything of Ana, and that Bob's traces are all there.
func wantErased(t *testing.T, r *rig, before map[string]string) {
	t.Helper()
	for name, text := range tables(t, r) {
		for line := range strings.Lines(text) {
			for _, mark := range annie.marks() {
				if strings.Contains(line, mark) && !strings.Contains(line, theirs) {
					t.Errorf("%s still has %s: %.200s", name, mark, line)
				}
			}
		}
		for _, mark := range append(bobby.marks(), "Catword", "34600111444") {
			if had, has := strings.Count(before[name], mark), strings.Count(text, mark); has < had {
				t.Errorf("%s lost %d of %d of %s", name, had-has, had, mark)
			}
		}
		if had, has := strings.Count(before[name], theirs), strings.Count(text, theirs); has < had {
			t.Errorf("%s lost %d of %d of the other company", name, had-has, had)
		}
	}
}

func erasing() []sentence {
	return []sentence{{"an erased person is not found again", func(t *testing.T, r *rig) {
		annie.leaves(t, r, ours)
		shared(t, r, ours)
		sends(t, r)
		r.searchable(t)
		p, err := r.Person(t.Context(), ours, people.Query{Number: annie.number})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Erase(t.Context(), p, r.now); err != nil {
			t.Fatal(err)
		}
		wantNobody(t, r, people.Query{ContactID: ours + annie.contact})
		wantNobody(t, r, people.Query{Number: annie.number})
	}}}
}

func wantNobody(t *testing.T, r *rig, by people.Query) {
	t.Helper()
	if p, err := r.Person(t.Context(), ours, by); err != nil || !p.Empty() {
		t.Errorf("%+v is found: %v", p, err)
	}
}

func TestAnErasedPersonIsInNoTable(t *testing.T) {
	for name, by := range map[string]people.Query{
		"number": {Number: annie.other}, "other form": {Number: annie.number}, "channel's id": {UserID: annie.user},
		"contact": {ContactID: ours + annie.contact},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for engine, s := range map[string]*store.Store{"sqlite": openSQLite(t), "postgres": openPostgres(t)} {
				t.Run(engine, func(t *testing.T) { erases(t, newRig(t, s), by) })
			}
		})
	}
}

func erases(t *testing.T, r *rig, by people.Query) {
	t.Helper()
	for _, company := range []string{ours, theirs} {
		annie.leaves(t, r, company)
		bobby.leaves(t, r, company)
		shared(t, r, company)
	}
	solo, both, other := sends(t, r)
	r.searchable(t)
	before := tables(t, r)
	p, err := r.Person(t.Context(), ours, by)
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Erase(t.Context(), p, r.now)
	if err != nil {
		t.Fatal(err)
	}
	wantErased(t, r, before)
	if r.there(t, solo) || !r.there(t, both) || !r.there(t, other) {
		t.Error("the wrong notifications are gone")
	}
	if m := r.message(t, both, 0); m.Number != carillon.ErasedNumber || m.Q != 0 {
		t.Errorf("Ana's message of both is %+v", m)
	}
	if m := r.message(t, both, 1); m.Number != bobby.number || m.Q != 1 {
		t.Errorf("Bob's message of both is %+v", m)
	}
	if n, err := r.Notifications.Load(t.Context(), both.Notification.Seq()); err != nil || !strings.Contains(n.Body, bobby.word) ||
		n.Open != 1 {
		t.Errorf("%+v %v", n, err)
	}
	if changes := dump(t, r, "audit"); e.Hash == "" || strings.Count(changes, e.Hash) < 3 {
		t.Errorf("the record of changes has not %s:\n%s", e.Hash, changes)
	}
	wantNobody(t, r, by)
}

// Work in progress ends first: otherwise its outcome would be written to deleted rows.
func TestAnErasureWaitsForWhatIsUnderWay(t *testing.T) {
	r := newRig(t, openSQLite(t))
	annie.leaves(t, r, ours)
	solo, _, _ := sends(t, r)
	key := solo.Notification.Seq().Message(0)
	if _, err := r.DB.Exec(t.Context(), "UPDATE message SET q = 2 WHERE id = $1", int64(key)); err != nil {
		t.Fatal(err)
	}
	p, err := r.Person(t.Context(), ours, people.Query{Number: annie.number})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Erase(t.Context(), p, r.now); !carillon.IsCode(err, carillon.Conflict) {
		t.Fatalf("an erasure during a send: %v", err)
	}
	if !r.there(t, solo) {
		t.Error("the notification is gone")
	}
}

func TestAnErasedPersonIsInNoFile(t *testing.T) {
	dir := storetest.Folder(t)
	r := newRig(t, open(t, store.Options{Dir: dir}))
	annie.leaves(t, r, ours)
	bobby.leaves(t, r, ours)
	shared(t, r, ours)
	sends(t, r)
	r.searchable(t)
	if !inFiles(t, dir, annie.word) {
		t.Fatal("the files have nothing to begin with")
	}
	p, err := r.Person(t.Context(), ours, people.Query{Number: annie.number})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Erase(t.Context(), p, r.now); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := r.Backup(t.Context(), backup, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	for _, mark := range annie.marks() {
		if inFiles(t, dir, mark) {
			t.Errorf("a file of the data folder has %s", mark)
		}
		if inFiles(t, filepath.Dir(backup), mark) {
			t.Errorf("the backup has %s", mark)
		}
	}
	if !inFiles(t, dir, bobby.word) {
		t.Error("Bob is gone too")
	}
}

func inFiles(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		bytesOf, err := os.ReadFile(path)
		found = found || bytes.Contains(bytesOf, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// An erasure whose program ended before its file was clean is finished at the next start.
func TestAnInterruptedErasureIsFinished(t *testing.T) {
	dir := storetest.Folder(t)
	r := newRig(t, open(t, store.Options{Dir: dir}))
	annie.leaves(t, r, ours)
	for _, query := range []string{
		"DELETE FROM conversation", "DELETE FROM contact", "INSERT INTO meta (name, value) VALUES ('erased', 7)",
	} {
		if _, err := r.DB.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Purges.CleanFile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if inFiles(t, dir, strings.Repeat(annie.word+" ", 20)) {
		t.Error("the file has a turn that was deleted")
	}
	if left := column(t, r, "SELECT name FROM meta WHERE name = 'erased'"); len(left) > 0 {
		t.Error("the mark is still there")
	}
}

// Each table is known to hold something about people or not: a new one has to be judged.
func TestEveryTableIsJudged(t *testing.T) {
	r := newRig(t, openSQLite(t))
	var judged []string
	for _, x := range people.Places() {
		judged = append(judged, x.Table)
	}
	judged = slices.Concat(judged, people.Mentioning(), people.Impersonal())
	slices.Sort(judged)
	judged = slices.Compact(judged)
	var there []string
	for name := range tables(t, r) {
		if name != "goose_db_version" {
			there = append(there, name)
		}
	}
	slices.Sort(there)
	if !slices.Equal(judged, there) {
		for _, name := range slices.Concat(judged, there) {
			if slices.Contains(judged, name) != slices.Contains(there, name) {
				t.Errorf("%s is judged: %v, and there: %v", name, slices.Contains(judged, name), slices.Contains(there, name))
			}
		}
	}
}

func TestAnExportHasEveryTraceOfAPerson(t *testing.T) {
	r := newRig(t, openSQLite(t))
	annie.leaves(t, r, ours)
	bobby.leaves(t, r, ours)
	annie.leaves(t, r, theirs)
	group(t, r, ours)
	sends(t, r)
	p, err := r.Person(t.Context(), ours, people.Query{UserID: annie.user})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, x := range people.Places() {
		if err := x.Rows(t.Context(), r.DB, p, func(row map[string]any) error {
			found[x.Table]++
			if text := fmt.Sprint(row); strings.Contains(text, bobby.word) || strings.Contains(text, theirs) {
				t.Errorf("%s has somebody else's row: %s", x.Table, text)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]int{
		"notification": 2, "message": 2, "turn": 63, "file": 2, "file_part": 2, "reply": 1, "reply_window": 1, "signed_address": 1,
		"flow_run": 1, "transfer_queue": 1,
		"flow_entry": 1, "call_transfer": 1, "conversation": 1, "contact_identity": 2, "contact": 1, "incoming_call": 1,
		"inbound_message": 1, "past_message": 1,
		"suppression": 1, "sandbox_phone": 1, "question": 1, "review": 1,
	}
	for table, n := range want {
		if found[table] != n {
			t.Errorf("%s has %d rows, want %d", table, found[table], n)
		}
	}
}
