package stats

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// Filter narrows counts; zero values do not filter. From and To are instants of acceptance: the hours that begin in [From, To).
type Filter struct {
	From, To           time.Time
	Campaign           *string
	Class              *carillon.Class
	Template, Language string
	SenderUID          int64
	Channel            carillon.Channel
}

// Group holds common properties of recipients, and their counts.
type Group struct {
	Class              carillon.Class
	SenderUID          int64
	Template, Language string
	Channel            carillon.Channel
	Counts
}

// Hour holds the counts of a channel's recipients accepted in an hour.
type Hour struct {
	At      time.Time
	Channel carillon.Channel
	Counts
}

// where returns the condition of a filter, and its arguments.
func (f *Filter) where(companyID, campaign string) (clause string, args []any) {
	// Row values leave PostgreSQL no choice but the primary key.
	conditions := []string{"(company_id, campaign, hour) >= ($1, $2, $3)", "(company_id, campaign, hour) < ($1, $2, $4)"}
	until := int64(math.MaxInt64)
	if !f.To.IsZero() {
		until = db.Millis(f.To)
	}
	args = []any{companyID, campaign, db.Millis(f.From), until}
	add := func(column string, value any) {
		args = append(args, value)
		conditions = append(conditions, column+" = $"+strconv.Itoa(len(args)))
	}
	if f.Class != nil {
		add("class", int(*f.Class))
	}
	if f.SenderUID != 0 {
		add("sender", f.SenderUID)
	}
	if f.Template != "" {
		add("template", f.Template)
	}
	if f.Language != "" {
		add("language", f.Language)
	}
	if f.Channel != "" {
		add("channel", string(f.Channel))
	}
	return strings.Join(conditions, " AND "), args
}

// campaign returns the digest in the filter's rows; "" for all campaigns.
func (f *Filter) campaign() string {
	if f.Campaign == nil {
		return ""
	}
	return digest(*f.Campaign)
}

// targets returns the scan targets of the columns, after the given ones.
func (c *Counts) targets(n int, before ...any) []any {
	for _, field := range c.fields()[:n] {
		before = append(before, field)
	}
	return before
}

// figureColumns are the columns read by Figures.
//
//nolint:gochecknoglobals // a constant text
var figureColumns = "hour, class, sender, template, language, channel, " +
	each(names, func(name string) string { return name }) + ", replied, clicked"

// Figures returns the counts of a company by hour and channel, in order and without empty hours, and by common properties
// of recipients. The rows are added up here: a database would sort them first.
func (s *Store) Figures(ctx context.Context, companyID string, f Filter) (hours []Hour, groups []Group, err error) {
	type common struct {
		class              carillon.Class
		sender             int64
		template, language string
	}
	type hour struct {
		at      int64
		channel carillon.Channel
	}
	byHour, byGroup := map[hour]*Hour{}, map[common]*Group{}
	var at int64
	var row Group
	targets := append(row.targets(len(names), &at, &row.Class, &row.SenderUID, &row.Template, &row.Language, &row.Channel),
		&row.Replied, &row.Clicked)
	where, args := f.where(companyID, f.campaign())
	if err := db.Each(ctx, s.d, func(scan db.Scan) error {
		if err := scan(targets...); err != nil {
			return err
		}
		h := byHour[hour{at, row.Channel}]
		if h == nil {
			h = &Hour{At: time.UnixMilli(at).UTC(), Channel: row.Channel}
			byHour[hour{at, row.Channel}] = h
		}
		row.Counts = row.answeredOn(row.Channel)
		h.Add(row.Counts, 1)
		k := common{row.Class, row.SenderUID, row.Template, row.Language}
		if g := byGroup[k]; g != nil {
			g.Add(row.Counts, 1)
		} else {
			g := row
			byGroup[k] = &g
		}
		return nil
	}, "SELECT "+figureColumns+" FROM stat WHERE "+where, args...); err != nil {
		return nil, nil, fmt.Errorf("read counts: %w", err)
	}
	for _, h := range byHour {
		hours = append(hours, *h)
	}
	slices.SortFunc(hours, func(a, b Hour) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(string(a.Channel), string(b.Channel)))
	})
	for _, g := range byGroup {
		groups = append(groups, *g)
	}
	return hours, groups, nil
}

// Total returns the total counts of a filter, without lateness.
func (s *Store) Total(ctx context.Context, companyID string, f Filter) (c Counts, err error) {
	where, args := f.where(companyID, f.campaign())
	sum := func(what string) string { return "CAST(COALESCE(SUM(" + what + "), 0) AS BIGINT)" }
	sums := each(names[:campaignFields], sum) + ", " + sum("CASE WHEN channel = 'voice' THEN delivered END") +
		", " + sum("replied") + ", " + sum("clicked")
	err = s.d.Row(ctx, append(c.targets(campaignFields), &c.Answered, &c.Replied, &c.Clicked),
		"SELECT "+sums+" FROM stat WHERE "+where, args...)
	return c, db.Wrap(err, "read counts")
}

// AnyDelivered reports whether a message of a company was ever delivered.
func (s *Store) AnyDelivered(ctx context.Context, companyID string) (bool, error) {
	var hour int64
	err := s.d.Row(ctx, []any{&hour}, `SELECT hour FROM stat WHERE company_id = $1 AND campaign = '' AND delivered > 0
		ORDER BY company_id, campaign, hour LIMIT 1`, companyID)
	return hour > 0, db.Wrap(db.Ignore(err), "read counts")
}

// Campaign is a campaign of a company, with its counts since the start, without lateness.
type Campaign struct {
	Name            string
	FirstAt, LastAt time.Time // acceptance of the first and last notification
	Counts
}

// Cursor is the start of a page of campaigns; the zero value is the first page.
type Cursor struct {
	At  time.Time
	Key string
}

// campaignColumnsRead are the columns of a campaign in the order of reading.
//
//nolint:gochecknoglobals // a constant text
var campaignColumnsRead = "campaign, name, first_at, at, " + each(campaignNames, func(name string) string { return name }) +
	", replied, clicked"

// Campaigns returns a page of a company's campaigns, last used first, and the cursor of the next page, nil after the
// last.
func (s *Store) Campaigns(ctx context.Context, companyID string, from Cursor, limit int) (all []Campaign, next *Cursor, err error) {
	where, args := "", []any{companyID, limit + 1}
	if from.Key != "" {
		where, args = " AND (at, campaign) < ($3, $4)", append(args, db.Millis(from.At), from.Key)
	}
	var keys []string
	all, err = db.Collect(ctx, s.d, "campaigns", func(scan db.Scan) (Campaign, error) {
		c, key, err := scanCampaign(scan)
		keys = append(keys, key)
		return c, err
	}, "SELECT "+campaignColumnsRead+" FROM stat_campaign WHERE company_id = $1"+where+
		" ORDER BY company_id DESC, at DESC, campaign DESC LIMIT $2", args...)
	if len(all) > limit {
		all, next = all[:limit], &Cursor{all[limit-1].LastAt, keys[limit-1]}
	}
	return all, next, err
}

// Campaign returns a company's campaign by name; nil if nothing was accepted under it.
func (s *Store) Campaign(ctx context.Context, companyID, name string) (*Campaign, error) {
	return db.Find(ctx, s.d, "campaign", func(scan db.Scan) (*Campaign, error) {
		c, _, err := scanCampaign(scan)
		return &c, err
	}, "SELECT "+campaignColumnsRead+" FROM stat_campaign WHERE company_id = $1 AND campaign = $2", companyID, digest(name))
}

func scanCampaign(scan db.Scan) (c Campaign, key string, err error) {
	var first, at int64
	err = scan(append(c.targets(campaignFields, &key, &c.Name, &first, &at), &c.Answered, &c.Replied, &c.Clicked)...)
	c.FirstAt, c.LastAt = db.Instant(first), db.Instant(at)
	return c, key, err
}

// Drop deletes the counts of hours before an instant, and of campaigns and articles not used since, at most `most` rows of
// each, and returns how many.
func Drop(ctx context.Context, tx *db.Tx, before time.Time, most int) (rows int, err error) {
	for _, query := range []string{
		`DELETE FROM stat WHERE (company_id, campaign, hour, class, sender, template, language) IN (
			SELECT company_id, campaign, hour, class, sender, template, language FROM stat WHERE hour < $1 ORDER BY hour LIMIT $2)`,
		`DELETE FROM stat_call WHERE (company_id, campaign, hour, class, sender, agent, state) IN (
			SELECT company_id, campaign, hour, class, sender, agent, state FROM stat_call WHERE hour < $1 ORDER BY hour LIMIT $2)`,
		"DELETE FROM stat_campaign WHERE (company_id, campaign) IN (SELECT company_id, campaign FROM stat_campaign WHERE at < $1 " +
			"ORDER BY at LIMIT $2)",
		`DELETE FROM answer_count WHERE (company_id, hour, agent_id) IN (
			SELECT company_id, hour, agent_id FROM answer_count WHERE hour < $1 ORDER BY hour LIMIT $2)`,
		`DELETE FROM review_count WHERE (company_id, hour, agent_id, kind, name, value) IN (
			SELECT company_id, hour, agent_id, kind, name, value FROM review_count WHERE hour < $1 ORDER BY hour LIMIT $2)`,
		`DELETE FROM article_count WHERE (company_id, knowledge_id, title) IN (
			SELECT company_id, knowledge_id, title FROM article_count WHERE at < $1 ORDER BY at LIMIT $2)`,
	} {
		n, err := tx.Exec(ctx, query, db.Millis(before), most)
		if err != nil {
			return rows, err
		}
		rows += int(n)
	}
	n, err := tx.Exec(ctx, `DELETE FROM charge_count WHERE (company_id, day, campaign, template, code, type, category) IN (
		SELECT company_id, day, campaign, template, code, type, category FROM charge_count WHERE day < $1 ORDER BY day LIMIT $2)`,
		before.UTC().Format(time.DateOnly), most)
	return rows + int(n), err
}
