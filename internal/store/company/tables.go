package company

import "strings"

// Found is the way in which the rows of a company are found in a table.
type Found string

// The ways.
const (
	ByCompany    Found = "company"      // by the column company_id
	ByParent     Found = "parent"       // by rows of another table
	ByID         Found = "id"           // the row of the company itself
	InDocuments  Found = "documents"    // in documents that rows share with other companies
	OfMembers    Found = "members"      // rows of accounts, which may be members of several companies
	Installation Found = "installation" // none: the table belongs to the installation
)

// Table is a table of the schema.
type Table struct {
	Name  string
	Found Found
	// Parent and On find the rows of ByParent: p is the row of the parent, t the row of the table.
	Parent, On string
	// Accounts are the columns that may contain ids of accounts, alone or within a text.
	Accounts []string
	// Stays is the reason for which rows of the company are deleted with it and not exported, or for which a table of the
	// installation has none.
	Stays string
}

// of returns a table whose rows have the company's id.
func of(name string, accounts ...string) Table {
	return Table{Name: name, Found: ByCompany, Accounts: accounts}
}

// under returns a table whose rows belong to those of a parent.
func under(name, parent, on string, accounts ...string) Table {
	return Table{Name: name, Found: ByParent, Parent: parent, On: on, Accounts: accounts}
}

func installation(name, why string) Table { return Table{Name: name, Found: Installation, Stays: why} }

func member(name string) Table {
	return Table{
		Name: name, Found: OfMembers,
		Stays: "accounts are exported with the memberships; those without another company are removed with it",
	}
}

// Tables returns every table of the schema, each after those that it refers to. Exports and imports work in this order, and
// deletions in the reverse one.
func Tables() []Table {
	const digits = "t.id BETWEEN p.seq * 128 AND p.seq * 128 + 127" // docs/adr/0015
	return []Table{
		{Name: "company", Found: ByID, Accounts: []string{"inbox"}},

		{
			Name: "company_key", Found: ByCompany,
			Stays: "it is in the file of the key, and sealed by the master key of the new installation",
		},

		// Configuration.
		of("access_key"),
		of("sender"),
		under("number_proof", "sender", "t.sender = p.uid"),
		under("sender_report", "sender", "t.sender = p.uid"),
		of("number_owner"),
		of("breaker"),
		of("template"),
		of("template_change", "by_id"),
		under("template_sync", "sender", "t.sender = p.uid"),
		of("template_creation"),
		of("suppression"),
		of("resource"),
		of("resource_head"),
		of("secret_use"),
		of("widget_site"),
		of("widget_logo"),
		of("canned_reply"),
		of("charge_price"),
		of("test_run"),
		of("flow_draft"),
		of("flow_version"),

		// Knowledge.
		of("knowledge_index"),
		of("passage"),
		of("passage_term"),
		of("embedding"),
		of("passage_vector"),
		of("site_state"),
		of("site_look"),
		of("question"),

		// Sending.
		of("notification"),
		under("message", "notification", digits),
		of("fallback"),
		of("call"),
		under("call_attempt", "call", "t.call = p.id"),
		of("incoming_call"),
		of("idempotency"),
		of("quota"),
		of("search"),
		of("bulk_job", "author"),
		under("bulk_batch", "bulk_job", "t.job_id = p.id"),
		under("bulk_check", "bulk_job", "t.job_id = p.id"),

		// Conversations.
		of("contact"),
		of("contact_identity"),
		of("contact_former"),
		of("conversation", "assignee", "replied_by", "undo"),
		under("turn", "conversation", "t.conversation_id = p.id", "account_id", "client_id", "payload"),
		of("file"),
		under("file_part", "file", "t.file_id = p.id"),
		of("signed_address"),
		of("flow_run"),
		under("flow_entry", "flow_run", "t.run_id = p.id"),
		of("inbound_message"),
		of("reply"),
		of("reply_window"),
		of("mail_reply"),
		of("call_transfer"),
		of("transfer_queue"),
		of("handoff", "replied_by"),
		of("review"),
		of("past_import"),
		of("past_part"),
		of("past_message"),
		of("sandbox_phone"),

		// Events, in the company's own numbers.
		of("event_topic"),
		of("event", "payload"),
		of("event_interest"),
		of("hook"),
		of("hook_cursor"),
		of("hook_retry"),
		of("hook_attempt"),

		// Counts and logs.
		of("stat"),
		of("stat_campaign"),
		of("stat_call"),
		{Name: "stat_block", Found: InDocuments},
		of("answer_count"),
		of("article_count"),
		of("review_count"),
		of("charge_count"),
		of("audit", "author", "object_id", "changes"),
		of("api_call", "doc"),
		of("api_accepted"),

		// Members.
		member("account"),
		member("account_identity"),
		member("second_factor"),
		member("recovery_code"),
		of("membership", "account_id"),
		of("invitation", "inviter_id"),
		of("presence", "account_id"),
		of("notice_choice", "account_id"),
		{
			Name: "push_subscription", Found: ByCompany,
			Stays: "it belongs to a browser's session at this installation; the browser subscribes again after signing in",
		},

		installation("company_move", "the state of the move itself; each installation has its own"),
		installation("goose_db_version", "the migrations of the database"),
		installation("meta", "properties of the database"),
		installation("invalidation", "the generations of the nodes' caches"),
		installation("node", "the running nodes"),
		installation("shard", "the owners of shards; the shard of a row follows from the sender's number"),
		installation("rate", "the requests of the last minutes, counted by each installation"),
		installation("stat_node", "the nodes that count"),
		installation("session", "sign-ins at this installation: members sign in at the new one"),
		installation("browser_session", "sign-ins at this installation"),
		installation("refresh_token", "sign-ins at this installation"),
		installation("signing_key", "signs access tokens of this installation"),
		installation("push_key", "the installation's key at push services"),
		installation("password_link", "links to this installation, valid for an hour"),
		installation("password_reset", "links to this installation, valid for an hour"),
	}
}

// from returns the FROM and WHERE clauses that find a company's rows, named t; the company's id is $1. Parents are read
// first, and the rows by the key that begins with the parent's.
func (t *Table) from() string {
	switch t.Found {
	case ByCompany:
		return " FROM " + quoted(t.Name) + " AS t WHERE t.company_id = $1"
	case ByID:
		return " FROM " + quoted(t.Name) + " AS t WHERE t.id = $1"
	case ByParent:
		return " FROM " + quoted(t.Parent) + " AS p CROSS JOIN " + quoted(t.Name) + " AS t WHERE p.company_id = $1 AND " + t.On
	case InDocuments, OfMembers, Installation:
	}
	return ""
}

// exported reports whether the table's rows are in the file as they are.
func (t *Table) exported() bool { return t.from() != "" && t.Stays == "" }

// refersToAccounts reports whether rows of the table need those of accounts.
func (t *Table) refersToAccounts() bool {
	switch t.Name {
	case "membership", "presence", "notice_choice":
		return true
	}
	return false
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
