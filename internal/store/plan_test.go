package store_test

import (
	"database/sql"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"carillon/internal/store"
)

// bounded are the tables whose size is bounded: queries may scan them. json_each is the table of elements of an
// argument, recent the contacts seen last, waiting the companies with fallbacks that the index yields one by one.
var bounded = []string{
	"meta", "hook", "hook_cursor", "event_topic", "node", "shard", "signing_key", "breaker", "stat_node", "json_each",
	"recent", "waiting", "company_move",
}

// plans holds every query that the conformance suite ran to the index meant for it.
func plans(t *testing.T, s *store.Store, q *store.Queries) {
	if s.DB.Engine() == "postgres" {
		young(t, s, q)
		fill(t, s.DB.Pool(), filling...)
	}
	for _, part := range written(t, s.DB.Engine()) {
		if !slices.ContainsFunc(q.Texts(), func(query string) bool { return strings.Contains(oneLine(query), part) }) {
			t.Errorf("the conformance suite does not run %s", part)
		}
	}
	found, postgres := make([]bool, len(meant)), s.DB.Engine() == "postgres"
	for _, query := range q.Texts() {
		for how, plan := range explain(t, s, query, q.Args(query)) {
			for i, m := range meant {
				if !strings.Contains(oneLine(query), m.query) {
					continue
				}
				found[i] = true
				index := m.index[postgres]
				if strings.Contains(oneLine(query)+" ", " call ") { // calls wait as messages do
					index = strings.Replace(index, "message_", "call_", 1)
				}
				if !strings.Contains(plan, index) {
					t.Errorf("%s: not by %s\n%s\n%s", how, index, query, plan)
				}
			}
			for _, fault := range faults(plan) {
				if !allowed(query, fault) {
					t.Errorf("%s: %s\n%s\n%s", how, fault, query, plan)
				}
			}
		}
	}
	for i, m := range meant {
		if _, asked := m.index[postgres]; asked && !found[i] {
			t.Errorf("nothing asks %s", m.query)
		}
	}
}

// written are the parts of queries that stand in the packages' source and that the engine may be asked.
func written(t *testing.T, engine string) []string {
	t.Helper()
	// statements for SQLite only, for PostgreSQL only, for opening a database, and for a database that is measured
	other := `\?|UPDATE OR FAIL|'erased'`
	if engine == "sqlite" {
		other = `unnest\(|conversation AS c SET|AS x WHERE|LATERAL|ANY\(|'generation'$|/ CASE WHEN|CAST\(\$3 AS ` +
			`BIGINT\)|quota\.bytes \+ excluded\.bytes(,|$)|FROM node$|FROM invalidation|FOR SHARE|FOR UPDATE$|part > 0`
	}
	skipped := regexp.MustCompile(other + `|VALUES $|pg_|goose_db_version|SELECT count\(\*\) FROM|name = ` +
		`'master-key'$|clock_timestamp|INTO meta \(name, text\) VALUES \(\$1|VALUES \('schema'|SELECT text FROM meta WHERE name = ` +
		`\$1|INTO meta \(name, value, text\) VALUES \(\$1|SELECT text, value FROM meta|` +
		`INTO meta \(name, value\) VALUES \(\$1|SELECT value FROM meta WHERE name = \$1|sqlite_schema|bench_commit|` +
		`current_setting\(\$1\)|'cell'`)
	begins := regexp.MustCompile(`^(SELECT|INSERT INTO|UPDATE|DELETE FROM) \w|\bWHERE\b`)
	var files []string
	for _, pattern := range []string{
		"*.go", "accounts/*.go", "audit/*.go", "chats/*.go", "configure/*.go", "events/*.go", "messages/jobs.go", "resources/*.go",
		"settings/*.go", "sites/*.go", "stats/*.go",
	} {
		more, err := filepath.Glob(pattern)
		if err != nil || len(more) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(more), err)
		}
		files = append(files, more...)
	}
	var all []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, err := strconv.Unquote(lit.Value)
				if err == nil && begins.MatchString(strings.TrimSpace(text)) && !skipped.MatchString(text) {
					all = append(all, oneLine(text))
				}
			}
			return true
		})
	}
	if len(all) < 400 {
		t.Errorf("only %d queries were found in the source", len(all))
	}
	return all
}

func oneLine(query string) string { return strings.Join(strings.Fields(query), " ") }

var (
	scans = regexp.MustCompile(`(?:Seq Scan on|SCAN) ([a-z_]+)`)
	sorts = regexp.MustCompile(`(?m)^[ >-]*(?:Incremental )?Sort  \(|USE TEMP B-TREE FOR [A-Z ]+`)
)

// faults are the scans of whole tables that grow, and the sorts.
func faults(plan string) []string {
	var all []string
	for _, m := range scans.FindAllStringSubmatch(plan, -1) {
		if !slices.Contains(bounded, m[1]) {
			all = append(all, "reads all of "+m[1])
		}
	}
	if m := sorts.FindString(plan); m != "" {
		all = append(all, "sorts")
	}
	return all
}

func allowed(query, fault string) bool {
	for _, x := range exceptions {
		if strings.Contains(oneLine(query), x.query) && slices.Contains(x.faults, fault) {
			return true
		}
	}
	return false
}

// exceptions are queries that may break a rule, each with its reason.
var exceptions = []struct {
	query  string
	faults []string
	why    string
}{
	{"FROM company ORDER BY created_at, id LIMIT 1", []string{"reads all of company"}, "stops at the first row"},
	{"HAVING MIN(company_id) <> MAX(company_id)", []string{"reads all of sender", "sorts"}, "at the start, and at the operator's command"},
	{"SELECT 1 FROM account)", []string{"reads all of account"}, "stops at the first row"},
	{
		"FROM account GROUP BY substr(password_hash",
		[]string{"reads all of account", "sorts"},
		"the people who sign in, hourly in the background",
	},
	{"SUM(event_topic.seq - hook_cursor.seq)", []string{"sorts"}, "the endpoints with events that wait, for the operator"},
	{"SELECT DISTINCT shard, sender FROM message WHERE", []string{"sorts"}, "what was in flight, once when a shard changes hands"},
	{"FROM template WHERE provider_id <> '' AND provider_id = $2", []string{"sorts"}, "the senders that share one template of the channel"},
	{"FROM resource WHERE company_id = $1 AND kind = $2 AND (id = $3 OR name = $3)", []string{"sorts"}, "those of one name"},
	{"FROM widget_site WHERE company_id = $1 AND widget_id = $2", []string{"sorts"}, "at most 21 sites of one widget"},
	{"FROM message WHERE id = ANY($1) ORDER BY id FOR UPDATE", []string{"sorts"}, "the messages that a transaction changes"},
	{"kind = 'agent' AND active ORDER BY name", []string{"sorts"}, "the agents of one company"},
	{"FROM flow_version AS v WHERE", []string{"sorts"}, "the versions of one company, once they are too large together"},
	{
		"NOT EXISTS (SELECT 1 FROM knowledge_index",
		[]string{"reads all of knowledge_index"},
		"what another version wrote, in the background",
	},
	{"SELECT p.hash FROM knowledge_index AS x JOIN passage AS p", []string{"sorts"}, "the passages of one base, in the background"},
	{"FROM conversation AS c JOIN contact AS k", []string{"sorts"}, "where few conversations of a company fit"},
	{"ORDER BY CASE WHEN state = 'resolved' THEN 1 ELSE 0 END, opened_at DESC", []string{"sorts"}, "the conversations of one contact"},
	{"FROM conversation WHERE company_id || '' = $1", []string{"sorts"}, "the conversations of the contacts with one id"},
	{"state IN ('queued', 'wrap_up') AND state_at <", []string{"sorts"}, "those in one state that end soon"},
	{
		"SELECT state, COUNT(*) FROM conversation WHERE state <> 'resolved'",
		[]string{"reads all of conversation"},
		"the index of those that are not resolved, for figures",
	},
	{"WITH RECURSIVE authors", []string{"reads all of authors"}, "a row for each author"},
	{"DELETE FROM audit WHERE (company_id, id) IN", []string{"sorts"}, "the rows of one step"},
	{"DELETE FROM api_call WHERE company_id = $1 AND id IN", []string{"sorts"}, "the rows of one step"},
	{"DELETE FROM api_accepted WHERE company_id = $1 AND id IN", []string{"sorts"}, "the rows of one step"},
	{"FROM signing_key ORDER BY", []string{"sorts"}, "a handful"},
	{"FROM node ORDER BY", []string{"sorts"}, "a handful"},
	{"FROM shard ORDER BY", []string{"sorts"}, "64 rows"},
	{"FROM (SELECT channel FROM conversation WHERE company_id = $1", []string{"reads all of x"}, "a thousand conversations at most"},
	{"FROM membership m JOIN company c", []string{"sorts"}, "the companies of one account"},
	{
		"sender = $2 AND q = 1 AND hold <> '' LIMIT 1",
		[]string{"reads all of message", "reads all of call"},
		"what is held, once when a sender is removed",
	},
	{"FROM page CROSS JOIN message", []string{"sorts", "reads all of page"}, "a page of notifications, each of at most 100 messages"},
	{"FROM (SELECT due_at FROM message WHERE shard = $1", []string{"reads all of counted"}, "as many messages as are counted at most"},
	{"FROM (SELECT 1 FROM flow_run WHERE", []string{"reads all of x"}, "as many runs as are counted at most"},
	{
		"FROM company_key WHERE links <> ''",
		[]string{"reads all of company_key", "reads all of one"},
		"the companies that moved here, from their index",
	},
	{"FROM sender WHERE company_id = $1", []string{"sorts"}, "the senders of one company"},
	{"uid IN (SELECT uid FROM sender WHERE id = $1 UNION ALL", []string{"sorts"}, "the senders of one id or number"},
	{"FROM sender WHERE id = $1 AND NOT removed ORDER BY", []string{"sorts"}, "the senders of one id"},
	{"FROM sender WHERE number = $1 AND channel = 'voice' AND NOT removed ORDER BY", []string{"sorts"}, "the lines of one number"},
	{
		"SELECT contact_id FROM contact_identity AS i WHERE company_id = $1 AND value",
		[]string{"sorts"},
		"the contacts of one person, for an export or an erasure",
	},
	{
		"SELECT value FROM contact_identity WHERE company_id = $1 AND kind",
		[]string{"sorts"},
		"the identities of one person, for an export or an erasure",
	},
	{
		"SELECT id FROM conversation WHERE company_id = $1 AND contact_id",
		[]string{"sorts"},
		"the conversations of one person, for an export or an erasure",
	},
	{
		"SELECT id FROM incoming_call WHERE company_id = $1 AND number",
		[]string{"sorts"},
		"the calls of one person, for an export or an erasure",
	},
	{"UNION SELECT id / 128 FROM call WHERE", []string{"sorts"}, "the notifications of one person, for an export or an erasure"},
	{"SELECT m.id FROM notification AS n CROSS JOIN message", []string{"sorts"}, "the messages of one person, for an export or an erasure"},
	{
		"FROM bulk_batch WHERE job_id IN (SELECT id FROM bulk_job WHERE company_id",
		[]string{"sorts"},
		"the lists of one company, for an erasure",
	},
	{
		"FROM bulk_check WHERE job_id IN (SELECT id FROM bulk_job WHERE company_id",
		[]string{"sorts"},
		"the lists of one company, for an erasure",
	},
	{
		"AND payload LIKE $2 ORDER BY conversation_id, seq",
		[]string{"sorts"},
		"the turns of one person in groups, for an export or an erasure",
	},
	{
		"company_id IN (SELECT id FROM company) AND channel = 'voice'",
		[]string{"reads all of company"},
		"the lines of all companies, once for a change of the configuration",
	},
}

// young are the tables in which a message is found by key while PostgreSQL believes that nothing waits or is in
// flight: it considers the small indexes empty then, although they may have grown since its last analysis.
func young(t *testing.T, s *store.Store, q *store.Queries) {
	t.Helper()
	byKey := regexp.MustCompile(`(UPDATE|FROM|JOIN) message .*\bid (= (\$\d|u\.id|ANY)|BETWEEN)|SET hold = '' WHERE`)
	for _, known := range []string{
		"nothing", "a table without open messages",
	} {
		if known != "nothing" {
			fill(t, s.DB.Pool(), `INSERT INTO message (id, shard, sender, class, number, q, rank, due_at)
				SELECT i / 2 * 128 + i % 2, 1, 1, 1, 34600000000 + i, 0, 40, i FROM generate_series(0, 40001) i`, "ANALYZE message")
		}
		for _, query := range q.Texts() {
			if !byKey.MatchString(oneLine(query)) {
				continue
			}
			for how, plan := range explain(t, s, query, q.Args(query)) {
				if !strings.Contains(plan, "message_pkey") {
					t.Errorf("%s, when it knows of %s: not by its key\n%s\n%s", how, known, query, plan)
				}
			}
		}
	}
	fill(t, s.DB.Pool(), "TRUNCATE message", "TRUNCATE call")
}

// by names an index on both engines; a primary key has a name on PostgreSQL alone.
func by(names ...string) map[bool]string {
	return map[bool]string{false: names[0], true: names[len(names)-1]}
}

// meant are the queries that must never become slow, and the index that each was given.
var meant = []struct {
	query string
	index map[bool]string // true for PostgreSQL; unnamed engines are skipped
}{
	{"ORDER BY sender, class, due_at LIMIT 1", by("message_due")},
	{"AND sent_by = 'call' AND created_at < $2", by("file_recording")},
	{"UPDATE call SET recording = ''", by("call_conversation")},
	{"UPDATE incoming_call SET recording = ''", by("incoming_call_conversation")},
	{"due_at >= $4 AND due_at <= $5", by("message_due")},
	{"AND class = $3 AND due_at >= $4 ORDER BY due_at LIMIT 1", by("message_due")},
	{"FROM (SELECT due_at FROM message WHERE shard = $1", by("message_due")},
	{"FROM sender_report WHERE sender = $2 AND", by("sqlite_autoindex_sender_report_1", "sender_report_pkey")},
	{"WITH RECURSIVE lane", map[bool]string{true: ") AND (ROW(sender, class) > ROW(l.sender, l.class)))"}},
	{"q >= 2 AND q = 2 AND shard", by("message_flight")},
	{"q >= 2 AND q = 3 AND shard", by("message_flight")},
	{"UPDATE message SET q = 3, due_at = $1 WHERE shard", by("message_flight")},
	{"SELECT DISTINCT shard, sender FROM message", by("message_flight")},
	{"hold <> '' AND hold > $1", by("message_held")},
	{"SET hold = '' WHERE", by("message_held")},
	{"SET hold = '', detail = NULL WHERE", by("message_held")},
	{"SELECT COUNT(*) FROM message WHERE q = 1 AND hold", by("message_held")},
	{"DELETE FROM meta WHERE name = 'restored'", by("message_held")},
	{
		"rank END, reason = 'outcome_unknown', ended_at = $3, detail = $4 WHERE id IN (SELECT id FROM message WHERE q >= 2",
		by("message_flight"),
	},
	{"WHERE q = 1 AND hold = '' AND shard = $1 AND sender = $5", by("message_due")},
	{"open > 0 AND (company_id, seq) >", by("notification_open")},
	{"WHERE company_id = $1 AND seq > $2 AND seq < $3 AND canceled ORDER", by("notification_canceled")},
	{"WHERE company_id = $1 AND seq > $2 AND seq < $3 AND sender = $4 ORDER", by("notification_company")},
	{"WHERE company_id = $1 AND seq > $2 AND seq < $3 AND channel = $4 ORDER", by("notification_company")},
	{"WHERE company_id = $1 AND seq > $2 AND seq < $3 ORDER", by("notification_company")},
	{"FROM page CROSS JOIN message", by("INTEGER PRIMARY KEY", "message_pkey")},
	{"WHERE m.id / 128 = seq + 0 AND m.reason IS NOT NULL", by("failed_message (<expr>=?)", "failed_message")},
	{"WHERE m.id / 128 = s.seq + 0 AND m.reason IS NOT NULL", by("failed_message (<expr>=?)", "failed_message")},
	{"FROM search s CROSS JOIN notification n", by("SEARCH s USING PRIMARY KEY (company_id=? AND field=? AND value=?", "search_pkey")},
	{"WHERE c.company_id = $1 AND c.id < $2 AND c.id >= $3 AND n.seq = c.id / 128 ORDER", by("call_company")},
	{"WHERE c.number = $1 AND c.company_id", by("call_number")},
	{"WHERE c.company_id = $1 AND c.q > 0 AND c.id <", by("call_open")},
	{"SELECT id FROM call WHERE company_id = $1 AND q > 0 AND", by("call_open")},
	{"FROM incoming_call AS x WHERE x.company_id = $1 AND x.id <", by("incoming_call_company")},
	{"FROM incoming_call AS x WHERE x.number = $1 AND", by("incoming_call_number")},
	{"AND kind = 'event' AND payload LIKE", by("PRIMARY KEY", "turn_pkey")},
	{"DELETE FROM signed_address WHERE id IN", by("signed_address_expiry")},
	{"DELETE FROM idempotency WHERE (company_id", by("idempotency_expiry")},
	{"AND assignee = $2 AND assignee <> '' AND state IN", by("conversation_mine")},
	{"FROM conversation WHERE reply_at > 0 AND reply_at <", by("conversation_reply")},
	{"FROM conversation WHERE review_at > 0 AND review_at <=", by("conversation_review")},
	{"FROM conversation WHERE notice_at > 0 AND notice_at <=", by("conversation_notice")},
	{"AND c.waiting_at > 0 AND c.state <> 'resolved' ORDER BY c.waiting_at, c.id", by("conversation_longest")},
	{"AND c.unanswered <> '' AND c.state <> 'resolved' ORDER BY c.last_at DESC", by("conversation_unanswered")},
	{"FROM mail_reply WHERE state IN ('queued', 'sending') AND due_at <=", by("mail_reply_due")},
	{"FROM mail_reply WHERE conversation_id", by("sqlite_autoindex_mail_reply_1", "mail_reply_pkey")},
	{"FROM push_subscription AS p JOIN session AS s", by("push_subscription_account")},
	{"FROM review_count WHERE company_id = $1", by("PRIMARY KEY (company_id=? AND hour>?", "review_count_pkey")},
	{"FROM review WHERE conversation_id", by("PRIMARY KEY", "review_pkey")},
	{"FROM call AS x CROSS JOIN notification AS n WHERE x.conversation_id", by("call_conversation")},
	{"FROM incoming_call WHERE conversation_id", by("incoming_call_conversation")},
	{"FROM conversation AS c WHERE c.company_id = $1 AND c.last_at <", by("conversation_age")},
	{"FROM embedding WHERE due_at <= $1", by("embedding_due")},
	{"FROM passage_vector WHERE company_id = $1 AND", by("sqlite_autoindex_passage_vector_1", "passage_vector_pkey")},
	{"JOIN passage_vector AS v", by("sqlite_autoindex_passage_vector_1", "passage_vector_pkey")},
	{"UPDATE OR FAIL conversation SET", map[bool]string{false: "sqlite_autoindex_conversation_1"}},
	{"UPDATE conversation AS c SET", map[bool]string{true: "conversation_pkey"}},
	{"FROM turn WHERE client_id <> '' AND (conversation_id, client_id) IN", by("turn_client")},
	{"FROM turn WHERE conversation_id = $1 AND seq > $2", by("PRIMARY KEY", "turn_pkey")},
	{"FROM turn WHERE conversation_id = $1 AND seq < $2", by("PRIMARY KEY", "turn_pkey")},
	{"SELECT state, COUNT(*) FROM conversation WHERE state <> 'resolved'", by("conversation_live")},
	{
		"scope, value FROM contact_identity WHERE company_id = $1 AND value",
		by("PRIMARY KEY (company_id=? AND value=?", "contact_identity_pkey"),
	},
	{"FROM contact_identity WHERE contact_id = $1", by("contact_identity_contact")},
	{"FROM contact_identity AS i CROSS JOIN contact_identity AS o", by("contact_identity_contact")},
	{"SELECT contact_id FROM contact_identity WHERE", by("PRIMARY KEY (company_id=? AND value=?", "contact_identity_pkey")},
	{"SELECT user_id FROM suppression WHERE company_id ||", by("suppression_person")},
	{"UNION ALL SELECT number, user_id, type, reason, author, created_at FROM suppression", by("suppression_person")},
	{"FROM fallback AS f CROSS JOIN message", by("fallback_due")},
	{"FROM fallback WHERE due_at > 0 AND company_id > $1", by("fallback_due")},
	{"FROM fallback WHERE id BETWEEN", by("INTEGER PRIMARY KEY", "fallback_pkey")},
	{"DELETE FROM rate", by("rate_start")},
	{"WHERE open = 0 AND company_id = $1 AND done_at", by("notification_done")},
	{"WHERE open = 0 AND company_id > $1", by("notification_done")},
	{"FROM question AS q", by("question_recent")},
	{"WHERE hour < $1 ORDER BY hour LIMIT $2)", by("_hour")},
	{"FROM article_count WHERE at < $1", by("article_count_age")},
	{"FROM answer_count WHERE company_id = $1", by("PRIMARY KEY (company_id=? AND hour>?", "answer_count_pkey")},
	{"FROM stat_call WHERE (company_id, campaign, hour) >=", by("PRIMARY KEY ((company_id,campaign,hour)>", "stat_call_pkey")},
	{"FROM incoming_call WHERE company_id = $1 AND id >= $2", by("incoming_call_company")},
	{"FROM handoff WHERE company_id = $1", by("handoff_company")},
	{"FROM conversation WHERE rated_at > 0", by("conversation_rated")},
	{"FROM article_count WHERE company_id = $1", by("PRIMARY KEY (company_id=? AND knowledge_id=?", "article_count_pkey")},
	{"DELETE FROM session", by("session_expiry")},
	{"WHERE s.account_id = $1 AND s.ended_at = 0", by("session_account")},
	{"DELETE FROM refresh_token WHERE session_id", by("refresh_token_session")},
	{"WHERE poll_at > 0 AND poll_at <= $1", by("template_poll")},
	{"FROM template WHERE poll_at > 0 AND poll_at > $1", by("template_poll")},
	{"FROM template WHERE sender = $1 AND provider_id <> ''", by("template_provider")},
	{"FROM bulk_job WHERE state IN ('checking', 'sending', 'canceling') AND lease_until <= $1", by("bulk_job_due")},
	{"state NOT IN ('uploading', 'discarded')", by("bulk_job_company")},
	{"FROM audit WHERE company_id = $1 AND author = $2 AND kind = $3 AND id >=", by("audit_author_kind")},
	{"FROM audit WHERE company_id = $1 AND kind = $2 AND object_id = $3 ORDER", by("audit_object")},
	{"DELETE FROM audit WHERE (company_id, id) IN", by("audit_age")},
	{"SELECT uid FROM sender WHERE id = $1 UNION ALL SELECT uid FROM sender WHERE number = $1", by("sender_number")},
	{"company_id IN (SELECT id FROM company) AND channel = 'voice'", by("sender_company_number")},
}

// explain asks the engine how it would run a query: PostgreSQL with the arguments and without knowing them, for it may
// settle on either.
func explain(t *testing.T, s *store.Store, query string, args []any) map[string]string {
	t.Helper()
	conn, err := s.DB.Pool().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ask := func(text string, args ...any) string {
		rows, err := conn.QueryContext(t.Context(), text, args...)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return lines(t, rows)
	}
	if s.DB.Engine() == "sqlite" {
		return map[string]string{"sqlite": ask("EXPLAIN QUERY PLAN "+query, args...)}
	}
	known := ask("EXPLAIN "+query, args...)
	command := func(text string) {
		if _, err := conn.ExecContext(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	command("SET plan_cache_mode = force_generic_plan")
	command("PREPARE asked AS " + query)
	execute := "EXPLAIN EXECUTE asked"
	if len(args) > 0 {
		execute += "(NULL" + strings.Repeat(", NULL", len(args)-1) + ")"
	}
	generic := ask(execute, pgx.QueryExecModeSimpleProtocol)
	command("DEALLOCATE asked")
	command("RESET plan_cache_mode")
	return map[string]string{"with its arguments": known, "whatever its arguments": generic}
}

func lines(t *testing.T, rows *sql.Rows) string {
	t.Helper()
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		values, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(values[len(values)-1]))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// fill gives PostgreSQL tables large enough that it chooses as it would in earnest.
func fill(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// company is one that has a twentieth of all rows, or one of a hundred others.
const company = "CASE WHEN i % 20 = 0 THEN 'ours' ELSE 'c' || i % 100 END"

var filling = []string{
	`INSERT INTO company (id, name, limits, created_at, updated_at) SELECT 'c' || i, 'C' || i, '{}', i, i FROM generate_series(0, 2000) i`,
	`INSERT INTO company (id, name, limits, created_at, updated_at) VALUES ('ours', 'Ours', '{}', 0, 0)`,
	`INSERT INTO company_key (company_id, sealed, links, created_at)
		SELECT 'c' || i, '', CASE WHEN i % 50 = 0 THEN 'l' || i % 4 ELSE '' END, i FROM generate_series(0, 2000) i`,
	`INSERT INTO account (id, email, name, password_hash, confirmed_at, created_at, updated_at)
		SELECT 'a' || i, 'e' || i, 'n', 'h', i, i, i FROM generate_series(0, 5000) i`,
	`INSERT INTO membership (account_id, company_id, role) SELECT 'a' || i, ` + company + `, 'viewer' FROM generate_series(0, 5000) i`,
	`INSERT INTO session (id, account_id, created_at, expires_at) SELECT 's' || i, 'a' || i % 5000, i, 1000000 + i FROM ` +
		`generate_series(0, 10000) i`,
	`INSERT INTO browser_session (session_id, digest, used_at, address, agent) SELECT 's' || i, 'b' || i, i, '', '' FROM ` +
		`generate_series(0, 5000) i`,
	`INSERT INTO refresh_token (digest, session_id, created_at) SELECT 'd' || i, 's' || i % 10000, i FROM generate_series(0, 30000) i`,
	`INSERT INTO access_key (id, company_id, label, digest, sealed, scopes, created_at)
		SELECT 'k' || i, ` + company + `, 'l', 'd' || i, '', '*', i FROM generate_series(0, 5000) i`,
	`INSERT INTO sender (uid, company_id, id, number, channel, provider, media_check, unknown_outcome, sealed, created_at, updated_at)
		SELECT i, ` + company + `, 'x' || i, 'n' || i, 'messaging', 'sandbox', 'full', '{}', '', i, i FROM generate_series(1, 5000) i`,
	`INSERT INTO template (company_id, id, provider_id, sender, name, language, category, status, parameter_format, components,
		poll_at, created_at, updated_at)
		SELECT ` + company +
		`, 't' || i, CASE WHEN i % 2 = 0 THEN 'p' || i ELSE '' END, 1 + i % 5000, 'n' || i, 'es', 'UTILITY', 'approved', 'NAMED', '[]',
		CASE WHEN i % 50 = 0 THEN i ELSE 0 END, i, i FROM generate_series(0, 10000) i`,
	`INSERT INTO template_change (company_id, template_id, seq, at, action, by_kind, by_id, status, reason, former, present)
		SELECT company_id, id, n, n, 'edited', 'account', 'a', 'draft', '', '', '' FROM template, generate_series(1, 5) n`,
	`INSERT INTO template_sync (sender, at, found, changed, missing, error, due_at) SELECT i, i, 1, 0, 0, '',
		CASE WHEN i % 50 = 0 THEN i ELSE 0 END FROM generate_series(1, 5000) i`,
	`INSERT INTO sender_report (sender, callback_at) SELECT i, i FROM generate_series(1, 5000) i`,
	`INSERT INTO template_creation (company_id, day, used) SELECT 'c' || i, '2027-01-01', 1 FROM generate_series(0, 5000) i`,
	`INSERT INTO resource (company_id, kind, id, name, doc, updated_at)
		SELECT ` + company + `, (ARRAY['agent', 'knowledge', 'flow', 'widget', 'webhook'])[1 + i / 2 % 5], 'i' || i, 'n' || i, '{}',` +
		` i FROM generate_series(0, 5000) i`,
	`INSERT INTO knowledge_index (company_id, knowledge_id, version, updated_at, passages)
		SELECT DISTINCT company_id, id, 1, updated_at, 1 FROM resource
		WHERE kind = 'knowledge'`,
	`INSERT INTO passage (company_id, knowledge_id, n, article, title, text, url, language)
		SELECT company_id, knowledge_id, n, n, 't', 'x', '', '' FROM knowledge_index, generate_series(0, 20) n`,
	`INSERT INTO passage_term (company_id, knowledge_id, term, passages)
		SELECT company_id, knowledge_id, 't' || n, '0' FROM knowledge_index, generate_series(0, 50) n`,
	`INSERT INTO resource (company_id, kind, id, name, doc, updated_at)
		SELECT ` + company + `, 'site', 's' || i, 's' || i, '{}', i FROM generate_series(0, 5000) i`,
	`INSERT INTO site_state (company_id, kind, site_id, due_at, whole, node, lease_until, begun_at, done, found, looked_at, read_at,
		fault, detail, pages) SELECT company_id, kind, id, updated_at, FALSE, '', 0, 0, 0, 0, 0, 0, '', '', '' FROM resource
		WHERE kind = 'site'`,
	`INSERT INTO site_look (company_id, site_id, id, at, pages, added, changed, removed, kept, fault, detail, changes)
		SELECT company_id, site_id, n, n, 1, 1, 0, 0, 0, '', '', '' FROM site_state, generate_series(0, 5) n`,
	`INSERT INTO widget_site (company_id, kind, widget_id, origin, seen_at)
		SELECT company_id, kind, id, 'https://' || n || '.example', n FROM resource, generate_series(0, 9) n WHERE kind = 'widget'`,
	`INSERT INTO widget_logo (company_id, digest, created_at, bytes)
		SELECT ` + company + `, 'd' || i, i, '' FROM generate_series(0, 5000) i`,
	`INSERT INTO question (id, company_id, agent_id, words, text, language, asked, first_at, last_at, conversation_id)
		SELECT 'q' || i, ` + company + `, 'a', 'w' || i, 't', 'en', 1, i, i, 'c' FROM generate_series(0, 5000) i`,
	`INSERT INTO answer_count (company_id, hour, agent_id, answered, offered, handed_over, unanswered, up, down)
		SELECT DISTINCT ` + company + `, i / 20, 'a', 1, 0, 0, 0, 0, 0 FROM generate_series(0, 20000) i`,
	`INSERT INTO review_count (company_id, hour, agent_id, kind, name, value, reviews)
		SELECT ` + company + `, i / 20, 'a', 'topic', '', 't' || i % 20, 1 FROM generate_series(0, 20000) i`,
	`INSERT INTO article_count (company_id, knowledge_id, title, answered, up, down, at)
		SELECT ` + company + `, 'k' || i % 3, 't' || i, 1, 0, 0, i FROM generate_series(0, 20000) i`,
	`INSERT INTO suppression (company_id, number, type, reason, created_at, user_id)
		SELECT ` + company + `, 34600000000 + i, 'all', 'r', i, CASE WHEN i % 2 = 0 THEN 'US.' || i ELSE '' END FROM ` +
		`generate_series(0, 20000) i`,
	`INSERT INTO quota (company_id, day, used) SELECT 'c' || i % 2000, 'd' || i / 2000, 1 FROM generate_series(0, 20000) i`,
	`INSERT INTO rate (name, start, used) SELECT 'n' || i % 1000, i / 1000, 1 FROM generate_series(0, 10000) i`,
	`INSERT INTO idempotency (company_id, route, key, hash, notification_id, answer, expires_at)
		SELECT ` + company + `, 'notify', 'k' || i, 'h', 'n', '{}', i FROM generate_series(0, 100000) i`,
	// A notification of two messages each; of the messages one in twenty waits, one in a hundred is held, in flight or unknown.
	`INSERT INTO notification (seq, id, company_id, channel, sender, template_id, class, campaign, flat, body, notes, total, open,
		scheduled, created_at, due_at, done_at)
		SELECT i::bigint * 1000000, 'n' || i, ` + company + `, CASE WHEN i % 10 < 2 THEN 'voice' ELSE 'messaging' END,
		1 + i % 5000, 't', i % 3, 'c' || i % 20, FALSE, repeat('b', 300), '', 2, CASE WHEN i % 20 < 2 THEN 2 ELSE 0 END, i % 20 < 4,
			i, i, i FROM generate_series(0, 20000) i`,
	`INSERT INTO message (id, shard, sender, class, number, q, rank, hold, due_at, attempt, epoch)
		SELECT (i / 2)::bigint * 1000000 * 128 + i % 2, (1 + i / 2 % 5000) % 64, 1 + i / 2 % 5000, i / 2 % 3, 34600000000 + i % 5000,
		CASE WHEN i % 20 = 0 THEN 1 WHEN i % 100 = 1 THEN 1 WHEN i % 100 = 2 THEN 2 WHEN i % 100 = 3 THEN 3 ELSE 0 END, 40,
		CASE WHEN i % 100 = 1 THEN 'c/' || i % 7 ELSE '' END, i, 1, 1 FROM generate_series(0, 40001) i`,
	`INSERT INTO call (id, company_id, shard, sender, class, number, q, state, hold, due_at, attempt, epoch, node)
		SELECT (10000000 + i)::bigint * 1000000 * 128, ` + company + `, (1 + i % 5000) % 64, 1 + i % 5000, i % 3, 34600000000 + i % 5000,
		CASE WHEN i % 20 = 0 THEN 1 WHEN i % 100 = 1 THEN 1 WHEN i % 100 = 2 THEN 2 ELSE 0 END, 'queued',
		CASE WHEN i % 100 = 1 THEN 'c/' || i % 7 ELSE '' END, i, 1, 1, 'n' || i % 3 FROM generate_series(0, 20000) i`,
	`INSERT INTO call_attempt (call, attempt, state, dialed_at) SELECT id, 1, 'completed', 1 FROM call`,
	`INSERT INTO fallback (id, company_id, sender, wait, due_at, state)
		SELECT id, CASE WHEN id / 128000000 % 20 = 0 THEN 'ours' ELSE 'c' || id / 128000000 % 100 END, sender, 60000,
		CASE WHEN q = 1 THEN due_at ELSE 0 END, CASE WHEN q = 1 THEN 'waiting' ELSE 'called' END FROM message`,
	`INSERT INTO search (company_id, field, value, seq)
		SELECT n.company_id, 'number', m.number, n.seq FROM message m JOIN notification n ON n.seq = m.id >> 7 ON CONFLICT DO NOTHING`,
	`INSERT INTO search (company_id, field, value, seq) SELECT company_id, 'campaign', campaign, seq FROM notification`,
	`INSERT INTO contact (id, company_id, widget_id, visitor_id, verified, created_at, seen_at)
		SELECT 'k' || i, ` + company + `, 'w', 'v' || i, FALSE, i, i FROM generate_series(0, 20000) i`,
	`INSERT INTO contact_identity (company_id, value, kind, scope, other, contact_id) SELECT company_id, 34600000000 + ROW_NUMBER() ` +
		`OVER (), 'line', '', '', id FROM contact`,
	// One in ten is open.
	`INSERT INTO conversation (id, company_id, channel, contact_id, state, state_at, assignee, last_seq, last_at, reply_seq,
		reply_at, opened_at)
		SELECT 'v' || i, ` + company +
		`, 'web_chat', 'k' || i, CASE WHEN i % 10 > 0 THEN 'resolved' WHEN i % 20 = 0 THEN 'bot'
		WHEN i % 30 = 10 THEN 'queued' ELSE 'active' END,
		i, CASE WHEN i % 3 = 0 THEN 'a' || i % 50 ELSE '' END, 4, i, CASE WHEN i % 100 = 0 THEN 1 ELSE 0 END,
			CASE WHEN i % 100 = 0 THEN i ELSE 0 END, i FROM generate_series(0, 20000) i`,
	"UPDATE conversation SET review_at = last_at + 1 WHERE reply_at > 0",
	`UPDATE conversation SET waiting_at = last_at, notice_at = last_at + 1 WHERE state = 'queued'`,
	`UPDATE conversation SET unanswered = 'x' WHERE state = 'bot' AND last_at % 40 = 0`,
	`INSERT INTO mail_reply (conversation_id, seq, company_id, state, due_at, changed_at) SELECT id, 1, company_id,
		CASE WHEN last_at % 100 = 0 THEN 'queued' ELSE 'sent' END, last_at, last_at FROM conversation`,
	`INSERT INTO review (conversation_id, company_id, agent_id, seq, ended_at, at, maker, goal, topics, doc)
		SELECT id, company_id, 'a', 4, last_at, last_at, 'rules', 'yes', '[]', '{}' FROM conversation`,
	`INSERT INTO turn (conversation_id, seq, author, kind, client_id, at, text)
		SELECT 'v' || i / 4, 1 + i % 4, 'visitor', 'text', 'c' || i, i, 'x' FROM generate_series(0, 80003) i`,
	`INSERT INTO presence (company_id, account_id, until) SELECT company_id, account_id, 1000000 FROM membership`,
	`INSERT INTO canned_reply (id, company_id, shortcut, text, updated_at) SELECT 'r' || i, ` + company +
		`, 's' || i, 'x', i FROM generate_series(0, 5000) i`,
	`INSERT INTO bulk_job (id, company_id, author, rev, state, file, bytes, settings, lease_until, created_at, changed_at)
		SELECT 'j' || i, ` + company + `, 'a', 1, CASE WHEN i % 100 = 0 THEN 'sending' WHEN i % 100 = 1 THEN 'discarded' ELSE ` +
		`'done' END, 'f', 1, '{}', i, i, i FROM generate_series(0, 20000) i`,
	`INSERT INTO bulk_batch (job_id, n, cells) SELECT 'j' || i % 20000, i / 20000, '[]' FROM generate_series(0, 80000) i`,
	`INSERT INTO audit (company_id, id, at, author, author_name, origin, address, kind, object_id, object_name, action, changes)
		SELECT ` + company +
		`, 'u' || i, i, 'account:' || i % 300, 'n', 'panel', '', (ARRAY['sender', 'key', 'template', 'agent', 'user'])[1 + i % 5],
			'o' || i % 900, 'n', 'changed',
		'[]' FROM generate_series(0, 60000) i`,
	`INSERT INTO api_call (company_id, id, at, bytes, status, code, method, path, key_id, request_id, repeats, micros, message, doc)
		SELECT ` + company + `, 'p' || i, i, 100, 400 + i % 100, 'c', 'POST', '/p', 'k', 'r' || i, 0, 1, 'm', '{}' FROM ` +
		`generate_series(0, 60000) i`,
	`INSERT INTO api_accepted (company_id, id, at, amount, doc) SELECT ` + company +
		`, 'p' || i, i, 1, '[]' FROM generate_series(0, 20000) i`,
	`INSERT INTO bulk_check (job_id, n, good, faulty) SELECT 'j' || i % 20000, i / 20000, 100, 0 FROM generate_series(0, 80000) i`,
	`ANALYZE`,
}
