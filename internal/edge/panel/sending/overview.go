package sending

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/stats"
)

// Overview serves the results of a company's recipients.
type Overview struct {
	Gate  *member.Gate
	Store *store.Store
}

func (x Overview) Routes() []httpio.Route {
	return []httpio.Route{member.Route(x.Gate, "GET", "/overview", auth.MayReadNotifications, x.show)}
}

const (
	overviewDefault   = 24 * time.Hour
	overviewCampaigns = 10
	overviewRows      = 50 // rows of templates and of senders
)

// Counts are the numbers of recipients in a response.
type Counts struct {
	Accepted  int64     `json:"accepted"`
	Waiting   int64     `json:"waiting"`
	Sent      int64     `json:"sent"`
	Delivered int64     `json:"delivered"`
	Answered  int64     `json:"answered"` // calls counted in delivered, which cannot be read
	Read      int64     `json:"read"`
	Replied   int64     `json:"replied"` // recipients who wrote back within a week
	Clicked   int64     `json:"clicked"` // recipients who followed a counted link
	Failed    int64     `json:"failed"`
	Skipped   int64     `json:"skipped"`
	Canceled  int64     `json:"canceled"`
	Lateness  *lateness `json:"lateness,omitempty"` // omitted if nothing was sent
}

// lateness is the delay of sent messages, in milliseconds. The percentiles are estimates.
type lateness struct {
	Messages int64 `json:"messages"`
	Average  int64 `json:"average_ms"`
	P50      int64 `json:"p50_ms"`
	P95      int64 `json:"p95_ms"`
	P99      int64 `json:"p99_ms"`
}

func CountsOf(c *stats.Counts) Counts {
	shown := Counts{
		c.Accepted, c.Waiting, c.Sent, c.Delivered, c.Answered, c.Read, c.Replied, c.Clicked, c.Failed, c.Skipped, c.Canceled, nil,
	}
	if n := c.Timed(); n > 0 {
		shown.Lateness = &lateness{
			n, c.LateMillis / n, c.Lateness(0.5).Milliseconds(), c.Lateness(0.95).Milliseconds(), c.Lateness(0.99).Milliseconds(),
		}
	}
	return shown
}

// counted holds the counts of recipients that share an attribute.
type counted struct {
	Hour     string           `json:"hour,omitempty"` // start of the hour
	Campaign *string          `json:"campaign,omitempty"`
	LastAt   string           `json:"last_at,omitempty"` // set for a campaign
	Type     string           `json:"type,omitempty" enum:"transactional,utility,marketing"`
	Template string           `json:"template,omitempty"`
	Language string           `json:"language,omitempty"`
	Sender   string           `json:"sender,omitempty"` // sender id
	Number   string           `json:"number,omitempty"`
	Channel  carillon.Channel `json:"channel,omitempty"`
	Counts
}

type overviewShown struct {
	From      string    `json:"from"`
	To        string    `json:"to"`
	AsOf      string    `json:"as_of"`
	Total     Counts    `json:"total"`
	Hours     []counted `json:"hours"` // by channel, without those in which nothing was accepted
	Types     []counted `json:"types"`
	Templates []counted `json:"templates"`
	Senders   []counted `json:"senders"`
	Campaigns []counted `json:"campaigns"` // most recently used campaigns
}

func (x Overview) show(r *http.Request, by member.Member) (overviewShown, error) {
	ctx, now := r.Context(), time.Now()
	senders, err := x.Store.Senders.Senders(ctx, by.CompanyID)
	if err != nil {
		return overviewShown{}, err
	}
	f, found, err := readStatsFilter(r.URL.Query(), senders, now)
	if err != nil {
		return overviewShown{}, err
	}
	shown := overviewShown{From: carillon.FormatTime(f.From), To: carillon.FormatTime(f.To)}
	asOf, err := x.Store.Stats.AsOf(ctx, now)
	if err != nil {
		return overviewShown{}, err
	}
	shown.AsOf = carillon.FormatTime(asOf)
	none := []counted{}
	shown.Hours, shown.Types, shown.Templates, shown.Senders, shown.Campaigns = none, none, none, none, none
	if !found {
		return shown, nil
	}
	hours, groups, err := x.Store.Stats.Figures(ctx, by.CompanyID, f)
	if err != nil {
		return overviewShown{}, err
	}
	var total stats.Counts
	for i := range hours {
		total.Add(hours[i].Counts, 1)
		shown.Hours = append(shown.Hours, counted{
			Hour: carillon.FormatTime(hours[i].At), Channel: hours[i].Channel, Counts: CountsOf(&hours[i].Counts),
		})
	}
	shown.Total = CountsOf(&total)
	shown.group(groups, senders)
	shown.Campaigns, err = x.campaigns(r, by.CompanyID, f)
	return shown, err
}

// group sums the counts by type, by template and by sender.
func (o *overviewShown) group(groups []stats.Group, senders []*carillon.Sender) {
	of := make(map[int64]*carillon.Sender, len(senders))
	for _, s := range senders {
		of[s.UID] = s
	}
	o.Types = added(groups, func(g *stats.Group) counted { return counted{Type: g.Class.String()} })
	o.Templates = added(groups, func(g *stats.Group) counted {
		return counted{Template: g.Template, Language: g.Language}
	})
	o.Templates = slices.DeleteFunc(o.Templates, func(c counted) bool { return c.Template == "" })
	o.Senders = added(groups, func(g *stats.Group) counted {
		c := counted{Channel: g.Channel}
		if s := of[g.SenderUID]; s != nil {
			c.Sender, c.Number = s.ID, s.Number
		}
		return c
	})
}

// added sums the groups for which of returns the same key, largest first.
func added(groups []stats.Group, of func(g *stats.Group) counted) []counted {
	sums := map[counted]*stats.Counts{}
	for i := range groups {
		k := of(&groups[i])
		if sums[k] == nil {
			sums[k] = &stats.Counts{}
		}
		sums[k].Add(groups[i].Counts, 1)
	}
	all := make([]counted, 0, len(sums))
	for k, c := range sums {
		k.Counts = CountsOf(c)
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b counted) int {
		return cmp.Or(
			cmp.Compare(b.Accepted, a.Accepted),
			strings.Compare(a.Type+a.Template+a.Language+a.Sender, b.Type+b.Template+b.Language+b.Sender),
		)
	})
	return all[:min(len(all), overviewRows)]
}

// campaigns returns the most recently used campaigns, with the results of their recipients in the range.
func (x Overview) campaigns(r *http.Request, companyID string, f stats.Filter) ([]counted, error) {
	ctx, rows := r.Context(), []counted{}
	var all []stats.Campaign
	if f.Campaign != nil {
		c, err := x.Store.Stats.Campaign(ctx, companyID, *f.Campaign)
		if err != nil || c == nil {
			return rows, err
		}
		all = []stats.Campaign{*c}
	} else {
		var err error
		if all, _, err = x.Store.Stats.Campaigns(ctx, companyID, stats.Cursor{}, overviewCampaigns); err != nil {
			return nil, err
		}
	}
	for _, c := range all {
		f.Campaign = &c.Name
		n, err := x.Store.Stats.Total(ctx, companyID, f)
		if err != nil {
			return nil, err
		}
		if n.Accepted > 0 {
			rows = append(rows, counted{Campaign: &c.Name, LastAt: carillon.FormatTime(c.LastAt), Counts: CountsOf(&n)})
		}
	}
	return rows, nil
}

// readStatsFilter reads the range and the filters. found is false if nothing can match. The range consists of whole
// hours.
func readStatsFilter(q url.Values, senders []*carillon.Sender, now time.Time) (f stats.Filter, found bool, err error) {
	if f.From, f.To, err = form.QueryHours(q, overviewDefault, now); err != nil {
		return f, false, err
	}
	if q.Has("campaign") {
		campaign, err := form.Query(q, "campaign", form.MaxCampaign)
		if err != nil {
			return f, false, err
		}
		f.Campaign = &campaign
	}
	if f.Template, err = form.Query(q, "template", form.MaxTemplateName); err != nil {
		return f, false, err
	}
	if f.Language, err = form.Query(q, "language", maxLanguage); err != nil {
		return f, false, err
	}
	if f.Class, err = form.QueryClass(q); err != nil {
		return f, false, err
	}
	if f.Channel = carillon.Channel(q.Get("channel")); f.Channel != "" && f.Channel != carillon.Messaging && f.Channel != carillon.Voice {
		return f, false, carillon.InvalidValue("channel", "One of messaging, voice", carillon.Shorten(string(f.Channel)))
	}
	if id := q.Get("sender"); id != "" {
		i := slices.IndexFunc(senders, func(s *carillon.Sender) bool { return s.ID == id })
		if i < 0 {
			return f, false, nil
		}
		f.SenderUID = senders[i].UID
	}
	return f, true, nil
}

const maxLanguage = 20
