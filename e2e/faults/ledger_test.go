package faults

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/rank"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// books reads the database of a running program.
type books struct{ db *sql.DB }

func openBooks(t *testing.T, dir, url string) *books {
	t.Helper()
	driver, dsn := "pgx", url
	if url == "" {
		driver, dsn = "sqlite", sqliteFile(dir)
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return &books{db}
}

func sqliteFile(dir string) string {
	return "file:" + filepath.Join(dir, "carillon.db") + "?_pragma=busy_timeout(5000)&_pragma=query_only(1)"
}

// open returns how many messages have not ended or, unless the providers are mute, were sent and not reported as
// delivered. Receipts of messages sent before back, when an older state of the database was restored, may be lost.
func (b *books) open(ctx context.Context, mute bool, back time.Time) (n int, err error) {
	unreported := rank.Sent
	if mute {
		unreported = -1
	}
	err = b.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM message WHERE q > 0 OR rank = $1 AND COALESCE(sent_at, 0) >= $2",
		int(unreported), back.UnixMilli()).Scan(&n)
	return n, err
}

// entry is a notification as stored.
type entry struct {
	id, campaign string
	total, open  int
	doneAt       int64
	rows         []row
}

// row is a message as stored, with the provider's view of it.
type row struct {
	n, q, rank, attempts int
	reason, detail       string
	posts                int
	byAttempt            map[int]post
	from                 *channelAccount
}

// post is the provider's view of one attempt.
type post struct {
	count int
	took  bool
	at    time.Time
}

func (b *books) read(ctx context.Context) (byCampaign map[string][]*entry, used int, err error) {
	bySeq := map[carillon.Seq]*entry{}
	byCampaign = map[string][]*entry{}
	rows, err := b.db.QueryContext(ctx, "SELECT id, campaign, total, open, done_at FROM notification")
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		e := &entry{}
		if err := rows.Scan(&e.id, &e.campaign, &e.total, &e.open, &e.doneAt); err != nil {
			return nil, 0, err
		}
		bySeq[carillon.SeqOf(e.id)] = e
		byCampaign[e.campaign] = append(byCampaign[e.campaign], e)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, err
	}
	if err := b.readRows(ctx, bySeq); err != nil {
		return nil, 0, err
	}
	err = b.db.QueryRowContext(ctx, "SELECT COALESCE(SUM(used), 0) FROM quota").Scan(&used)
	return byCampaign, used, err
}

func (b *books) readRows(ctx context.Context, bySeq map[carillon.Seq]*entry) error {
	rows, err := b.db.QueryContext(ctx, `SELECT id, q, rank, attempt, COALESCE(reason, ''), COALESCE(detail, '')
		FROM message ORDER BY id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key carillon.MessageKey
		var r row
		if err := rows.Scan(&key, &r.q, &r.rank, &r.attempts, &r.reason, &r.detail); err != nil {
			return err
		}
		r.n = key.N()
		e := bySeq[key.Seq()]
		if e == nil {
			return fmt.Errorf("message of a notification that is not there: %d", key)
		}
		e.rows = append(e.rows, r)
	}
	return rows.Err()
}

// ledger is the result of the requests of one run.
type ledger struct {
	name                                                 string
	kills                                                int
	asked, answered, refused, lost, lostStored           int
	messages, read, delivered, sent                      int
	canceled, skipped, pending, unknown, twice, attempts int
	missing                                              int // answered 200 but not stored
	failed                                               map[string]int
	errors                                               map[string]int
	faults                                               []string
	entries                                              []*entry
}

func (l *ledger) fault(format string, args ...any) {
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

const ledgerHead = "run                   kills asked   200 error  lost(stored) | messages = read + dlvrd + sent + failed + cancd + " +
	"skip + open | retried unknown twice"

func (l *ledger) String() string {
	failed := 0
	for _, n := range l.failed {
		failed += n
	}
	s := fmt.Sprintf("%-22s%5d%6d%6d%6d%6d%8s |%9d%7d%8d%7d%9d%8d%7d%7d |%8d%8d%6d", l.name, l.kills, l.asked, l.answered,
		l.refused, l.lost,
		fmt.Sprintf("(%d)", l.lostStored), l.messages, l.read, l.delivered, l.sent, failed, l.canceled, l.skipped, l.pending,
		l.attempts, l.unknown, l.twice)
	return s + tally("failed", l.failed) + tally("errors", l.errors)
}

func tally(what string, counts map[string]int) string {
	if len(counts) == 0 {
		return ""
	}
	parts := make([]string, 0, len(counts))
	for name, n := range counts {
		parts = append(parts, fmt.Sprintf("%s %d", name, n))
	}
	sort.Strings(parts)
	return "\n    " + what + ": " + strings.Join(parts, ", ")
}

// rules are exceptions to the strict rules.
type rules struct {
	retries      bool // the provider failed: there may be more than one attempt without an unknown outcome
	errorsStored bool // a request with a 503 may have been stored: the database did not confirm in time
	shortWaits   bool // the clock stepped: a wait for an unknown outcome may end at once
	losses       bool // the database lost commits that it had confirmed: an asynchronous replica, an old backup
}

// balance compares the requests with the database and the provider.
func balance(ctx context.Context, t *testing.T, name string, b *books, asks []*ask, ps []*channelAccount, r rules) *ledger {
	t.Helper()
	stored, used, err := b.read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{name: name, failed: map[string]int{}, errors: map[string]int{}}
	countPosts(l, stored, ps, r)
	asked := map[string]bool{}
	for _, a := range asks {
		asked[a.token] = true
		l.compare(a, stored[a.token], r)
	}
	charged := 0
	for token, entries := range stored {
		if !asked[token] {
			l.fault("stored, but never asked for: %s", token)
		}
		for _, e := range entries {
			charged += e.check(l, r)
		}
		l.entries = append(l.entries, entries...)
	}
	if used != charged {
		l.fault("quota says %d used, stored are %d", used, charged)
	}
	return l
}

// countPosts adds the provider's view to the rows.
func countPosts(l *ledger, stored map[string][]*entry, ps []*channelAccount, r rules) {
	byID := map[string]*entry{}
	for _, entries := range stored {
		for _, e := range entries {
			byID[e.id] = e
		}
	}
	for _, p := range ps {
		for text, posts := range p.graph.All() {
			ref, err := provider.ParseRef(text)
			e := byID[ref.NotificationID]
			if err != nil || e == nil || ref.N >= len(e.rows) {
				if !r.losses {
					l.fault("posted, but not stored: %s", text)
				}
				continue
			}
			x := &e.rows[ref.N]
			if x.byAttempt == nil {
				x.byAttempt = map[int]post{}
			}
			last := posts[len(posts)-1]
			x.from = p
			x.posts += len(posts)
			x.byAttempt[ref.Attempt] = post{len(posts), last.Accepted, last.At}
		}
	}
}

// compare compares the responses to a request with the stored data.
func (l *ledger) compare(a *ask, stored []*entry, r rules) {
	l.asked++
	for _, c := range a.complaints {
		if r.losses && !strings.Contains(c, "500") {
			continue // data lost by the database cannot be found again
		}
		l.fault("%s: %s", a.token, c)
	}
	if len(stored) > 1 {
		l.fault("%s is stored %d times", a.token, len(stored))
	}
	switch {
	case a.id != "":
		l.answered++
		if len(stored) == 0 {
			l.missing++
			if r.losses {
				return
			}
		}
		if len(stored) == 0 || stored[0].id != a.id {
			l.fault("%s was answered 200 with %s, which is not there", a.token, a.id)
			return
		}
		if len(stored[0].rows) != a.size {
			l.fault("%s: %d of %d messages are there", a.id, len(stored[0].rows), a.size)
		}
		if n := stored[0].count(rank.Canceled); n != a.canceled && !a.cancel {
			l.fault("%s: %d messages are canceled, nobody did", a.id, n)
		}
	case a.lost:
		l.lost++
		l.lostStored += len(stored)
	case a.status == 0:
		l.fault("%s was never answered", a.token)
	default:
		l.refused++
		l.errors[fmt.Sprintf("%d %s", a.status, a.code)]++
		if len(stored) > 0 && (!r.errorsStored || a.status != 503) {
			l.fault("%s was answered %d and is stored", a.token, a.status)
		}
	}
}

func (e *entry) count(rank rank.Rank) (n int) {
	for _, x := range e.rows {
		if x.rank == int(rank) {
			n++
		}
	}
	return n
}

// check adds a notification's messages to the ledger and returns the number charged for it.
func (e *entry) check(l *ledger, r rules) int {
	open := 0
	for i := range e.rows {
		x := &e.rows[i]
		if x.q > 0 {
			open++
		}
		x.check(l, e.id, r)
	}
	if len(e.rows) != e.total || e.total == 0 {
		l.fault("%s: total is %d, messages %d", e.id, e.total, len(e.rows))
	}
	if open != e.open && (open == 0 || e.open == 0) {
		l.fault("%s: open is %d, not ended are %d", e.id, e.open, open)
	}
	if (e.doneAt == 0) != (e.open > 0) {
		l.fault("%s: open is %d, done at %d", e.id, e.open, e.doneAt)
	}
	return len(e.rows) - e.count(rank.Skipped)
}

// check counts one message and checks that it was sent once.
func (x *row) check(l *ledger, id string, r rules) {
	l.messages++
	unknown := x.attempts > 1 && !r.retries || x.reason == string(carillon.ReasonOutcomeUnknown) ||
		strings.Contains(x.detail, "stayed unknown")
	switch rank.Rank(x.rank) {
	case rank.Read:
		l.read++
	case rank.Delivered:
		l.delivered++
	case rank.Sent:
		l.sent++
	case rank.Failed, rank.FailedUnknown:
		l.failed[x.reason]++
		if x.reason == "" {
			l.fault("%s.%d failed without a reason", id, x.n)
		}
	case rank.Canceled:
		l.canceled++
		if x.posts > 0 && !unknown && !r.retries {
			l.fault("%s.%d is canceled and was posted %d times", id, x.n, x.posts)
		}
	case rank.Skipped:
		l.skipped++
		if x.posts > 0 {
			l.fault("%s.%d is skipped and was posted", id, x.n)
		}
	}
	if x.q > 0 {
		l.pending++
		l.fault("%s.%d has not ended: q %d, rank %d, attempts %d, %s", id, x.n, x.q, x.rank, x.attempts, x.detail)
	} else if x.rank == 0 {
		l.fault("%s.%d has ended with nothing to say", id, x.n)
	}
	if x.attempts > 1 {
		l.attempts++
	}
	if unknown {
		l.unknown++
	}
	if x.posts > 1 && !unknown && !r.retries {
		l.fault("%s.%d was posted %d times in %d attempts", id, x.n, x.posts, x.attempts)
	}
	x.checkPosts(l, id, r)
	if x.posts == 0 && x.rank >= int(rank.Sent) && x.rank != int(rank.Failed) {
		l.fault("%s.%d is %s and was never posted", id, x.n, rank.Rank(x.rank).State())
	}
}

// checkPosts compares the attempts of a message. After one that the provider accepted, another is only allowed by the
// policy for unknown outcomes: not at all, or after the wait.
func (x *row) checkPosts(l *ledger, id string, r rules) {
	var took time.Time
	for _, attempt := range slices.Sorted(maps.Keys(x.byAttempt)) {
		p := x.byAttempt[attempt]
		switch {
		case p.count > 1 && r.losses:
			l.twice += p.count - 1
		case p.count > 1:
			l.fault("%s.%d: attempt %d was posted %d times", id, x.n, attempt, p.count)
		}
		if attempt > x.attempts && !r.losses {
			l.fault("%s.%d: attempt %d was posted, %d are known", id, x.n, attempt, x.attempts)
		}
		if wait := p.at.Sub(took); !took.IsZero() && !r.losses && (x.from.policy == "fail" || wait < unknownAfter && !r.shortWaits) {
			l.fault("%s.%d was sent again %s after it had been taken; the policy is %s after %s", id, x.n, wait, x.from.policy,
				unknownAfter)
		}
		if p.took {
			if !took.IsZero() {
				l.twice++
			}
			took = p.at
		}
	}
}

// waiting describes the obstacles for unfinished messages: the times at which senders have messages due, and senders
// whose breaker is not closed.
func (b *books) waiting(ctx context.Context) string {
	var all strings.Builder
	list := func(query string) {
		rows, err := b.db.QueryContext(ctx, query)
		if err != nil {
			fmt.Fprintf(&all, "\n%v", err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var what string
			var sender, from, to int64
			if err := rows.Scan(&what, &sender, &from, &to); err != nil {
				fmt.Fprintf(&all, "\n%v", err)
				return
			}
			in := func(at int64) time.Duration { return time.Until(time.UnixMilli(at)).Round(time.Millisecond) }
			fmt.Fprintf(&all, "\n%s, sender %d: from %s to %s", what, sender, in(from), in(to))
		}
		if err := rows.Err(); err != nil {
			fmt.Fprintf(&all, "\n%v", err)
		}
	}
	list("SELECT 'q ' || q || ' ' || hold, sender, MIN(due_at), MAX(due_at) FROM message WHERE q > 0 GROUP BY q, hold, sender")
	list("SELECT state || ' ' || fault || ' ' || detail, sender, since, until FROM breaker")
	return all.String()
}

// awaitEnd waits until everything has ended, and reports whether it did.
func awaitEnd(ctx context.Context, b *books, within time.Duration, mute bool, back time.Time) bool {
	return await(ctx, within, func() bool {
		pause(ctx, 200*time.Millisecond)
		n, err := b.open(ctx, mute, back)
		return err == nil && n == 0
	})
}
