package people

import (
	"context"
	"slices"
	"strings"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/rank"
)

// Place is a table with rows of one person.
type Place struct {
	Table string
	// Where selects the rows: $1 is the company, and $2 a list of Of.
	Where string
	Of    func(d *db.DB, p *Person) any
	// With is the table whose deleted rows cascade to these; empty if the rows are deleted one by one.
	With string
	// Kept means that an erasure deletes or rewrites the rows in another way.
	Kept bool
	// Hidden columns are not exported: keys, seals and internal counters.
	Hidden string
}

func contacts(d *db.DB, p *Person) any      { return d.List(p.Contacts) }
func conversations(d *db.DB, p *Person) any { return d.List(p.Conversations) }
func keys(d *db.DB, p *Person) any          { return d.List(p.Keys) }

func notifications(d *db.DB, p *Person) any {
	seqs := make([]int64, len(p.Notifications))
	for i, seq := range p.Notifications {
		seqs[i] = int64(seq)
	}
	return d.List(seqs)
}

func messages(d *db.DB, p *Person) any { return d.List(p.Messages) }
func files(d *db.DB, p *Person) any    { return d.List(p.Files) }

func turns(d *db.DB, p *Person) any {
	keys := make([]string, len(p.Said))
	for i, s := range p.Said {
		keys[i] = s.key()
	}
	return d.List(keys)
}

// Conditions for tables whose rows belong to another row, such as a conversation, which must be the company's.
const (
	ofConversation = "conversation_id IN (SELECT id FROM conversation WHERE company_id = $1 AND id IN {list})"
	ofMessage      = "id IN {list} AND EXISTS (SELECT 1 FROM notification AS n WHERE n.company_id = $1 AND n.seq = message.id / 128)"
	ofFile         = "file_id IN (SELECT id FROM file WHERE company_id = $1 AND conversation_id IN {list})"
	ofGroupFile    = "file_id IN (SELECT id FROM file WHERE company_id = $1 AND id IN {list})"
	ofRun          = "run_id IN (SELECT id FROM flow_run WHERE company_id = $1 AND conversation_id IN {list})"
)

// Places are the tables with data about people, in the order of deletion.
func Places() []Place {
	const company = "company_id = $1 AND "
	return []Place{
		{Table: "notification", Where: company + "seq IN {list}", Of: notifications, Kept: true, Hidden: "company_id sender"},
		{Table: "message", Where: ofMessage, Of: messages, Kept: true, Hidden: "shard epoch sender class q hold rank"},
		{
			Table: "call", Where: company + "number IN {list}", Of: keys, Kept: true,
			Hidden: "shard epoch node sender company_id class q hold",
		},
		{Table: "call_attempt", Where: "call IN (SELECT id FROM call WHERE company_id = $1 AND number IN {list})", Of: keys, Kept: true},
		{Table: "fallback", Where: company + "id IN {list}", Of: messages, Kept: true, Hidden: "company_id sender"},
		{Table: "search", Where: company + "field = 'number' AND value IN {list}", Of: keys, Kept: true, Hidden: "company_id"},
		{Table: "past_message", Where: company + "number IN {list}", Of: keys, Hidden: "company_id sender_uid"},
		{Table: "question", Where: company + "conversation_id IN {list}", Of: conversations, Hidden: "company_id words"},
		{Table: "turn", Where: ofConversation, Of: conversations, With: "conversation", Hidden: "account_id client_id"},
		{Table: "turn", Where: ofGroups + " AND conversation_id || '/' || seq IN {list}", Of: turns, Hidden: "account_id client_id"},
		{Table: "file", Where: ofConversation, Of: conversations, With: "conversation", Hidden: "company_id"},
		{Table: "file", Where: company + "id IN {list}", Of: files, Hidden: "company_id"},
		{Table: "file_part", Where: ofFile, Of: conversations, With: "file", Hidden: "bytes"},
		{Table: "file_part", Where: ofGroupFile, Of: files, With: "file", Hidden: "bytes"},
		{Table: "reply", Where: ofConversation, Of: conversations, With: "conversation", Hidden: "company_id sender_uid key_id"},
		{Table: "reply_window", Where: ofConversation, Of: conversations, With: "conversation", Hidden: "company_id sender_uid"},
		{Table: "mail_reply", Where: ofConversation, Of: conversations, With: "conversation", Hidden: "company_id"},
		{Table: "signed_address", Where: ofConversation, Of: conversations, With: "conversation", Hidden: "company_id key_id"},
		{Table: "flow_run", Where: ofConversation, Of: conversations, With: "conversation", Hidden: "company_id"},
		{Table: "flow_entry", Where: ofRun, Of: conversations, With: "flow_run"},
		{Table: "review", Where: ofConversation, Of: conversations, With: "conversation", Hidden: "company_id"},
		{Table: "handoff", Where: ofConversation, Of: conversations, With: "conversation", Hidden: "company_id replied_by"},
		{Table: "call_transfer", Where: ofConversation, Of: conversations, With: "conversation", Hidden: "company_id sender"},
		{Table: "transfer_queue", Where: ofConversation, Of: conversations, With: "conversation", Hidden: "company_id agent_id"},
		{Table: "conversation", Where: company + "id IN {list}", Of: conversations, Hidden: "company_id assignee undo replied_by"},
		{Table: "contact_identity", Where: company + "contact_id IN {list}", Of: contacts, With: "contact", Hidden: "company_id"},
		{Table: "contact_former", Where: company + "contact_id IN {list}", Of: contacts, With: "contact", Hidden: "company_id"},
		{Table: "contact", Where: company + "id IN {list}", Of: contacts, Hidden: "company_id"},
		{Table: "incoming_call", Where: company + "number IN {list}", Of: keys, Hidden: "company_id sender node"},
		{Table: "inbound_message", Where: company + "number IN {list}", Of: keys, Hidden: "company_id sender_uid"},
		{Table: "suppression", Where: company + "(number IN {list} OR user_id IN {list})", Of: keys, Hidden: "company_id author"},
		{Table: "sandbox_phone", Where: company + "number IN {list}", Of: keys, Hidden: "company_id sender_uid"},
	}
}

// Mentioning are the tables whose texts may mention a person: an erasure searches the company's rows.
func Mentioning() []string {
	return []string{"api_call", "audit", "bulk_batch", "bulk_check", "event", "hook_attempt", "hook_retry", "idempotency", "past_part"}
}

// Impersonal are the tables without data about a company's people.
func Impersonal() []string {
	return []string{
		"access_key", "account", "account_identity", "answer_count", "api_accepted", "article_count", "breaker", "browser_session",
		"bulk_job", "canned_reply", "charge_count", "charge_price", "company", "company_key", "company_move",
		"embedding", "event_interest", "event_topic",
		"flow_draft", "flow_version", "hook", "hook_cursor", "invalidation", "invitation", "knowledge_index", "membership", "meta",
		"node", "notice_choice", "number_owner", "number_proof", "past_import", "passage", "passage_term", "passage_vector",
		"password_link",
		"password_reset", "presence", "push_key", "push_subscription", "quota", "rate", "recovery_code", "refresh_token", "resource",
		"resource_head", "review_count", "second_factor", "secret_use", "sender", "sender_report", "session", "shard", "signing_key",
		"site_look", "site_state", "stat", "stat_block", "stat_call", "stat_campaign", "stat_node", "template", "template_change",
		"template_creation", "template_sync", "test_run", "widget_logo", "widget_site",
	}
}

// where returns the place's condition for an engine.
func (x *Place) where(d *db.DB) string {
	return strings.ReplaceAll(x.Where, "IN {list}", d.In(2))
}

// Rows calls f with the person's rows of a table, by column.
func (x *Place) Rows(ctx context.Context, d *db.DB, p *Person, f func(row map[string]any) error) error {
	rows, err := d.Query(ctx, "SELECT * FROM "+x.Table+" WHERE "+x.where(d)+" ORDER BY 1, 2", p.CompanyID, x.Of(d, p))
	if err != nil {
		return db.Wrap(err, "read "+x.Table)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return db.Wrap(err, "read "+x.Table)
	}
	hidden := strings.Fields(x.Hidden)
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return db.Wrap(err, "read "+x.Table)
		}
		row := rowOf(columns, values)
		if n, ranked := row["rank"].(int64); ranked {
			row["state"] = rank.Rank(n).State()
		}
		if err := x.narrow(p, row); err != nil {
			return err
		}
		for _, name := range hidden {
			delete(row, name)
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return db.Wrap(rows.Err(), "read "+x.Table)
}

// narrow reduces a request to several recipients to the person's part.
func (x *Place) narrow(p *Person, row map[string]any) (err error) {
	total, several := row["total"].(int64)
	if body, ok := row["body"].(string); ok && x.Table == "notification" && several && total > 1 {
		seq, _ := row["seq"].(int64)
		row["body"], err = WithoutContacts(body, func(i int) bool { return !p.Has(carillon.Seq(seq), i) })
	}
	return err
}

func rowOf(columns []string, values []any) map[string]any {
	row := make(map[string]any, len(columns))
	for i, name := range columns {
		value := values[i]
		if text, ok := value.([]byte); ok {
			value = string(text)
		}
		if at, ok := value.(int64); ok && (name == "at" || strings.HasSuffix(name, "_at")) {
			value = nil
			if at > 0 {
				value = carillon.FormatTime(db.Instant(at))
			}
		}
		row[name] = value
	}
	return row
}

// maxAtOnce is the number of conversations that a transaction deletes, because they have files.
const maxAtOnce = 20

// Delete deletes the person's rows of the places with row-by-row deletion, and returns their numbers by table.
func Delete(ctx context.Context, d *db.DB, p *Person) (map[string]int, error) {
	deleted := map[string]int{}
	for _, x := range Places() {
		if x.Kept || x.With != "" {
			continue
		}
		parts := []any{x.Of(d, p)}
		if x.Table == "conversation" {
			parts = parts[:0]
			for part := range slices.Chunk(p.Conversations, maxAtOnce) {
				parts = append(parts, d.List(part))
			}
		}
		for _, part := range parts {
			n, err := db.Returning(ctx, d, func(ctx context.Context, tx *db.Tx) (int64, error) {
				return tx.Exec(ctx, "DELETE FROM "+x.Table+" WHERE "+x.where(d), p.CompanyID, part)
			})
			if err != nil {
				return deleted, db.Wrap(err, "delete from "+x.Table)
			}
			deleted[x.Table] += int(n)
		}
	}
	return deleted, nil
}
