package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// Bounds of a company's log (docs/reference/activity.md).
const (
	MaxAPICalls      = 1000
	MaxAPICallBytes  = 8 << 20 // bytes of requests and responses of calls
	MaxAcceptedCalls = 10_000
	maxChunks        = 200
)

// APICall is a refused or failed call, with secrets removed.
type APICall struct {
	ID            string
	CompanyID     string
	At            time.Time
	Status        int
	Code          string // error code
	Method        string
	Path          string
	KeyID         string
	RequestID     string
	Repeats       int // further calls refused in the same way at nearly the same time
	Took          time.Duration
	Message       string
	APICallDetail // omitted from lists
}

// APICallDetail is the part of a call that lists omit.
type APICallDetail struct {
	Query       string `json:"query,omitempty"`
	Address     string `json:"address,omitempty"` // of the client
	Agent       string `json:"agent,omitempty"`   // its User-Agent
	ContentType string `json:"content_type,omitempty"`
	Idempotency string `json:"idempotency_key,omitempty"`
	Body        string `json:"body,omitempty"`
	BodyCut     bool   `json:"body_cut,omitempty"`
	BodyRead    bool   `json:"body_read,omitempty"` // false if the call was refused before its body was read
	Response    string `json:"response,omitempty"`
	ResponseCut bool   `json:"response_cut,omitempty"`
}

// AcceptedCall is a reference to an accepted request to send.
type AcceptedCall struct {
	At             time.Time
	RequestID      string
	KeyID          string
	NotificationID string
	Voice          bool
}

// MarshalJSON implements json.Marshaler: an array of values, to save space.
func (a AcceptedCall) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{a.At.UnixMilli(), a.RequestID, a.KeyID, a.NotificationID, a.Voice})
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *AcceptedCall) UnmarshalJSON(raw []byte) error {
	var at int64
	values := []any{&at, &a.RequestID, &a.KeyID, &a.NotificationID, &a.Voice}
	if err := json.Unmarshal(raw, &values); err != nil {
		return err
	}
	a.At = db.Instant(at)
	return nil
}

// AcceptedChunk holds references to a company's requests in order of arrival. It may be rewritten with more of them.
type AcceptedChunk struct {
	ID        string
	CompanyID string
	All       []AcceptedCall
}

// APICalls is the SQL of the log of API calls: each company's last refused or failed calls, and references to its last
// accepted sends. Both are rings: a write drops the oldest entries beyond their bounds. Its methods are safe for
// concurrent use.
type APICalls struct{ d *db.DB }

// NewAPICalls returns the store of a database.
func NewAPICalls(d *db.DB) *APICalls { return &APICalls{d} }

// Write stores calls and chunks in one transaction, and drops the oldest beyond the bounds of the named companies.
func (s *APICalls) Write(ctx context.Context, calls []APICall, chunks []AcceptedChunk, trim []string) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := writeAPICalls(ctx, tx, calls); err != nil {
			return err
		}
		if err := writeChunks(ctx, tx, chunks); err != nil {
			return err
		}
		for _, company := range trim {
			if err := trimAPICalls(ctx, tx, company); err != nil {
				return err
			}
			if err := trimChunks(ctx, tx, company); err != nil {
				return err
			}
		}
		return nil
	})
	return db.Wrap(err, "keep calls of the interface")
}

func writeAPICalls(ctx context.Context, tx *db.Tx, calls []APICall) error {
	b := db.NewBulk("api_call", "ON CONFLICT DO NOTHING", "company_id:text", "id:text", "at:bigint", "bytes:bigint",
		"status:bigint", "code:text", "method:text",
		"path:text", "key_id:text", "request_id:text", "repeats:bigint", "micros:bigint", "message:text", "doc:text")
	for i := range calls {
		c := &calls[i]
		doc, err := json.Marshal(c.APICallDetail)
		if err != nil {
			return err
		}
		text := func(s string) string { return db.Storable(s) }
		b.Add(c.CompanyID, c.ID, db.Millis(c.At), int64(len(doc)+len(c.Path)+len(c.Message)), int64(c.Status), c.Code,
			text(c.Method), text(c.Path), c.KeyID, c.RequestID,
			int64(c.Repeats), c.Took.Microseconds(), text(c.Message), text(string(doc)))
	}
	return b.Write(ctx, tx)
}

func writeChunks(ctx context.Context, tx *db.Tx, chunks []AcceptedChunk) error {
	b := db.NewBulk("api_accepted", "ON CONFLICT (company_id, id) DO UPDATE SET at = excluded.at, amount = excluded.amount, doc = "+
		"excluded.doc",
		"company_id:text", "id:text", "at:bigint", "amount:bigint", "doc:text")
	for _, c := range chunks {
		doc, err := json.Marshal(c.All)
		if err != nil {
			return err
		}
		b.Add(c.CompanyID, c.ID, db.Millis(c.All[len(c.All)-1].At), int64(len(c.All)), string(doc))
	}
	return b.Write(ctx, tx)
}

// sized is a row of a ring.
type sized struct {
	id   string
	size int64
}

// lastBeyond returns the newest row that does not fit into a ring, given rows newest first; "" if all fit.
func lastBeyond(rows []sized, most int, size int64) string {
	var used int64
	for i, r := range rows {
		if used += r.size; i >= most || used > size && i > 0 {
			return r.id
		}
	}
	return ""
}

func readSized(ctx context.Context, tx *db.Tx, query, company string, most int) ([]sized, error) {
	return db.Collect(ctx, tx, "calls of the interface", func(scan db.Scan) (r sized, err error) {
		err = scan(&r.id, &r.size)
		return r, err
	}, query, company, most)
}

func trimAPICalls(ctx context.Context, tx *db.Tx, company string) error {
	rows, err := readSized(ctx, tx, "SELECT id, bytes FROM api_call WHERE company_id = $1 ORDER BY id DESC LIMIT $2", company,
		MaxAPICalls+1)
	if err != nil {
		return err
	}
	if beyond := lastBeyond(rows, MaxAPICalls, MaxAPICallBytes); beyond != "" {
		_, err = tx.Exec(ctx, "DELETE FROM api_call WHERE company_id = $1 AND id <= $2", company, beyond)
	}
	return err
}

func trimChunks(ctx context.Context, tx *db.Tx, company string) error {
	rows, err := readSized(ctx, tx, "SELECT id, amount FROM api_accepted WHERE company_id = $1 ORDER BY id DESC LIMIT $2", company,
		maxChunks+1)
	if err != nil {
		return err
	}
	if beyond := lastBeyond(rows, maxChunks, MaxAcceptedCalls); beyond != "" {
		_, err = tx.Exec(ctx, "DELETE FROM api_accepted WHERE company_id = $1 AND id <= $2", company, beyond)
	}
	return err
}

// APICallFilter selects calls; empty fields do not filter.
type APICallFilter struct {
	Least, Most int // HTTP statuses
	Code        string
	Path        string // path or a prefix of it
	KeyID       string
	RequestID   string
	From, To    time.Time
	Before      string // an id; older calls only
	Limit       int
}

const apiCallColumns = "id, at, status, code, method, path, key_id, request_id, repeats, micros, message"

// List returns calls of a company, newest first, without their details. A company has few, which are read by primary
// key.
func (s *APICalls) List(ctx context.Context, companyID string, f APICallFilter) ([]APICall, error) {
	var q strings.Builder
	q.WriteString("SELECT " + apiCallColumns + " FROM api_call WHERE company_id = $1")
	args := []any{companyID}
	where := func(condition string, value any) {
		args = append(args, value)
		fmt.Fprintf(&q, " AND "+condition, len(args))
	}
	if f.Before != "" {
		where("id < $%d", f.Before)
	}
	if !f.From.IsZero() {
		where("id >= $%d", db.FirstID(f.From))
	}
	if !f.To.IsZero() {
		where("id < $%d", db.FirstID(f.To))
	}
	if f.Least > 0 {
		where("status >= $%d", f.Least)
	}
	if f.Most > 0 {
		where("status <= $%d", f.Most)
	}
	if f.Code != "" {
		where("code = $%d", f.Code)
	}
	if f.Path != "" {
		where("substr(path, 1, length(CAST($%[1]d AS TEXT))) = $%[1]d", f.Path)
	}
	if f.KeyID != "" {
		where("key_id = $%d", f.KeyID)
	}
	if f.RequestID != "" {
		where("request_id = $%d", f.RequestID)
	}
	args = append(args, f.Limit)
	fmt.Fprintf(&q, " ORDER BY id DESC LIMIT $%d", len(args))
	return db.Collect(ctx, s.d, "calls of the interface", func(scan db.Scan) (APICall, error) {
		return scanAPICall(companyID, scan)
	}, q.String(), args...)
}

func scanAPICall(companyID string, scan db.Scan, more ...any) (APICall, error) {
	c := APICall{CompanyID: companyID}
	var at, micros int64
	err := scan(append([]any{
		&c.ID, &at, &c.Status, &c.Code, &c.Method, &c.Path, &c.KeyID, &c.RequestID, &c.Repeats, &micros,
		&c.Message,
	}, more...)...)
	c.At, c.Took = db.Instant(at), time.Duration(micros)*time.Microsecond
	return c, err
}

// Find returns a call of a company with its details. Errors: not_found.
func (s *APICalls) Find(ctx context.Context, companyID, id string) (*APICall, error) {
	c, err := db.Find(ctx, s.d, "call of the interface", func(scan db.Scan) (*APICall, error) {
		var doc string
		c, err := scanAPICall(companyID, scan, &doc)
		if err == nil {
			err = json.Unmarshal([]byte(doc), &c.APICallDetail)
		}
		return &c, err
	}, "SELECT "+apiCallColumns+", doc FROM api_call WHERE company_id = $1 AND id = $2", companyID, id)
	if err == nil && c == nil {
		err = carillon.Absent("Call")
	}
	return c, err
}

// Accepted returns the references to a company's last accepted requests, newest first.
func (s *APICalls) Accepted(ctx context.Context, companyID string) ([]AcceptedCall, error) {
	chunks, err := db.Collect(ctx, s.d, "accepted requests", func(scan db.Scan) (all []AcceptedCall, err error) {
		var doc string
		if err := scan(&doc); err != nil {
			return nil, err
		}
		err = json.Unmarshal([]byte(doc), &all)
		return all, err
	}, "SELECT doc FROM api_accepted WHERE company_id = $1 ORDER BY id DESC LIMIT $2", companyID, maxChunks)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(chunks...)
	slices.SortFunc(all, func(a, b AcceptedCall) int { return cmpNewest(a, b) })
	return all[:min(len(all), MaxAcceptedCalls)], nil
}

// cmpNewest orders references newest first, then by notification.
func cmpNewest(a, b AcceptedCall) int {
	if c := b.At.Compare(a.At); c != 0 {
		return c
	}
	return strings.Compare(b.NotificationID, a.NotificationID)
}
