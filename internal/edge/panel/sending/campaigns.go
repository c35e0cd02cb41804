package sending

import (
	"context"
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/content"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/messages"
	"carillon/internal/store/stats"
)

// Campaigns serves the results of a company's campaigns.
type Campaigns struct {
	Gate    *member.Gate
	Store   *store.Store
	Exports *share.Share
}

func (x Campaigns) Routes() []httpio.Route {
	const read = auth.MayReadNotifications
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/campaigns", read, x.list),
		member.Route(x.Gate, "GET", "/campaigns/one", read, x.one),
		member.Route(x.Gate, "GET", "/campaigns/recipients", read, x.recipients),
		member.Route(x.Gate, "GET", "/campaigns/reasons", read, x.reasons),
		x.Gate.Raw("GET", "/campaigns/export", read, x.export),
	}
}

// Cursor kinds and limits.
const (
	campaignPages  = "campaigns"
	recipientPages = "campaign-recipients"
	reasonPages    = "campaign-reasons"
	maxExported    = 5000 // recipients in memory
	maxReason      = 64   // characters
)

// campaignRow holds the results of a campaign's recipients counted so far.
type campaignRow struct {
	Name        string `json:"name"`
	FirstAt     string `json:"first_at"`
	LastAt      string `json:"last_at"`
	Recipients  int64  `json:"recipients"`
	Waiting     int64  `json:"waiting"`
	Sent        int64  `json:"sent"`
	Delivered   int64  `json:"delivered"`
	Answered    int64  `json:"answered"` // calls counted in delivered, which cannot be read
	Read        int64  `json:"read"`
	Replied     int64  `json:"replied"` // recipients who wrote back within a week
	Clicked     int64  `json:"clicked"` // recipients who followed a counted link
	Failed      int64  `json:"failed"`
	Skipped     int64  `json:"skipped"`
	Canceled    int64  `json:"canceled"`
	Unconfirmed int64  `json:"unconfirmed"`            // sent, but neither delivered nor failed so far
	ScheduledAt string `json:"scheduled_at,omitempty"` // due time of the newest notification while it is scheduled
}

func campaignRowOf(c *stats.Campaign) campaignRow {
	unconfirmed := max(0, c.Accepted-c.Waiting-c.Delivered-c.Failed-c.Skipped-c.Canceled)
	return campaignRow{
		c.Name, carillon.FormatTime(c.FirstAt), carillon.FormatTime(c.LastAt), c.Accepted, c.Waiting, c.Sent, c.Delivered, c.Answered,
		c.Read, c.Replied, c.Clicked, c.Failed, c.Skipped, c.Canceled, unconfirmed, "",
	}
}

// shown returns a campaign's row with the time for which it is scheduled.
func (x Campaigns) shown(ctx context.Context, companyID string, c *stats.Campaign) (row campaignRow, err error) {
	row = campaignRowOf(c)
	if c.Waiting == 0 {
		return row, nil
	}
	now := time.Now()
	newest, _, err := x.Store.Notifications.List(ctx, companyID, messages.Filter{Campaign: c.Name, Limit: 1}, now)
	if err == nil && len(newest) > 0 && newest[0].Open > 0 && newest[0].Scheduled && newest[0].DueAt.After(now) {
		row.ScheduledAt = carillon.FormatTime(newest[0].DueAt)
	}
	return row, err
}

type campaignPage struct {
	httpio.List[campaignRow]
	AsOf string `json:"as_of"`
}

// list responds with the campaigns, most recently used first, and the time up to which their recipients are counted.
func (x Campaigns) list(r *http.Request, by member.Member) (campaignPage, error) {
	q := r.URL.Query()
	page, err := httpio.ReadPage(q, campaignPages)
	if err != nil {
		return campaignPage{}, err
	}
	var from stats.Cursor
	if page.After != "" {
		at, key, _ := strings.Cut(page.After, "/")
		ms, err := strconv.ParseInt(at, 10, 64)
		if err != nil || key == "" {
			return campaignPage{}, httpio.BadCursor(q)
		}
		from = stats.Cursor{At: time.UnixMilli(ms).UTC(), Key: key}
	}
	found, next, err := x.Store.Stats.Campaigns(r.Context(), by.CompanyID, from, page.Limit)
	if err != nil {
		return campaignPage{}, err
	}
	rows, after := make([]campaignRow, len(found)), ""
	for i := range found {
		if rows[i], err = x.shown(r.Context(), by.CompanyID, &found[i]); err != nil {
			return campaignPage{}, err
		}
	}
	if next != nil {
		after = strconv.FormatInt(next.At.UnixMilli(), 10) + "/" + next.Key
	}
	asOf, err := x.Store.Stats.AsOf(r.Context(), time.Now())
	return campaignPage{httpio.Part(campaignPages, rows, after), carillon.FormatTime(asOf)}, err
}

// campaignOf returns the campaign named in the query.
func campaignOf(q url.Values) (name string, err error) {
	if name, err = form.Query(q, "name", form.MaxCampaign); err == nil && name == "" {
		err = carillon.Missing("name")
	}
	return name, err
}

// campaignShown is a campaign with the figures of its messages and of its calls.
type campaignShown struct {
	campaignRow
	AsOf      string `json:"as_of"`
	Messages  Counts `json:"messages"`
	Links     bool   `json:"counts_clicks"` // a template of its messages has counted links, or somebody followed one
	Calls     Counts `json:"calls"`
	Completed int64  `json:"completed"` // calls
}

func (x Campaigns) one(r *http.Request, by member.Member) (campaignShown, error) {
	name, err := campaignOf(r.URL.Query())
	if err != nil {
		return campaignShown{}, err
	}
	c, err := x.Store.Stats.Campaign(r.Context(), by.CompanyID, name)
	if err == nil && c == nil {
		err = carillon.Absent("Campaign")
	}
	if err != nil {
		return campaignShown{}, err
	}
	row, err := x.shown(r.Context(), by.CompanyID, c)
	if err != nil {
		return campaignShown{}, err
	}
	shown := campaignShown{campaignRow: row}
	for channel, to := range map[carillon.Channel]*Counts{carillon.Messaging: &shown.Messages, carillon.Voice: &shown.Calls} {
		total, err := x.Store.Stats.Total(r.Context(), by.CompanyID, stats.Filter{Campaign: &name, Channel: channel})
		if err != nil {
			return campaignShown{}, err
		}
		*to = CountsOf(&total)
	}
	if shown.Links, err = x.countsClicks(r.Context(), by.CompanyID, name); err != nil {
		return campaignShown{}, err
	}
	hours, err := x.Store.Stats.Calls(r.Context(), by.CompanyID, stats.CallFilter{Campaign: &name})
	if err != nil {
		return campaignShown{}, err
	}
	for _, h := range hours {
		shown.Completed += h.States[carillon.StateCompleted]
	}
	asOf, err := x.Store.Stats.AsOf(r.Context(), time.Now())
	shown.AsOf = carillon.FormatTime(asOf)
	return shown, err
}

// countsClicks reports whether a current template of a campaign's messages has counted links, or a recipient followed one.
func (x Campaigns) countsClicks(ctx context.Context, companyID, campaign string) (bool, error) {
	_, groups, err := x.Store.Stats.Figures(ctx, companyID, stats.Filter{Campaign: &campaign, Channel: carillon.Messaging})
	if err != nil {
		return false, err
	}
	for _, g := range groups {
		if g.Clicked > 0 {
			return true, nil
		}
		all, err := x.Store.Templates.Templates(ctx, g.SenderUID)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(all, func(t *carillon.Template) bool {
			return t.Name == g.Template && t.Language == g.Language && content.Counted(t.Shape)
		}) {
			return true, nil
		}
	}
	return false, nil
}

// walk starts an iteration over the recipients of the query's campaign.
func (x Campaigns) walk(r *http.Request, by member.Member, kind string) (*notify.Recipients, httpio.Page, error) {
	q := r.URL.Query()
	name, err := campaignOf(q)
	if err != nil {
		return nil, httpio.Page{}, err
	}
	page, err := httpio.ReadPage(q, kind)
	if err != nil {
		return nil, page, err
	}
	w := notify.Sent{Store: x.Store}.Campaign(by.CompanyID, name)
	if page.After != "" {
		ok, err := w.After(r.Context(), page.After)
		if err == nil && !ok {
			err = httpio.BadCursor(q)
		}
		return w, page, err
	}
	return w, page, nil
}

// readReached reads the filter of a campaign's recipients.
func readReached(q url.Values) (f notify.ReachedFilter, err error) {
	if f.States, err = form.QueryStates(q, recipientStates(), "messages or calls"); err != nil {
		return f, err
	}
	reason, err := form.Query(q, "reason", maxReason)
	f.Reason = carillon.Reason(reason)
	return f, err
}

// recipientStates returns the states of messages and calls.
func recipientStates() []carillon.State {
	return append(form.CallStates(), carillon.StateSending, carillon.StateSent, carillon.StateDelivered, carillon.StateRead)
}

// recipients responds with a page of recipients and their results.
func (x Campaigns) recipients(r *http.Request, by member.Member) (httpio.List[notify.Reached], error) {
	f, err := readReached(r.URL.Query())
	if err != nil {
		return httpio.List[notify.Reached]{}, err
	}
	w, page, err := x.walk(r, by, recipientPages)
	if err != nil {
		return httpio.List[notify.Reached]{}, err
	}
	found, next, err := w.List(r.Context(), f, page.Limit)
	return httpio.Part(recipientPages, found, next), err
}

// campaignReasons counts the reasons of the recipients that a request examined.
type campaignReasons struct {
	Reasons map[carillon.Reason]int `json:"reasons"`
	Looked  int                     `json:"looked"`
	Next    *string                 `json:"next_cursor"`
}

// reasons counts the reasons for failed or skipped recipients. One request examines a limited number of recipients.
func (x Campaigns) reasons(r *http.Request, by member.Member) (campaignReasons, error) {
	w, _, err := x.walk(r, by, reasonPages)
	if err != nil {
		return campaignReasons{}, err
	}
	reasons, looked, next, err := w.Why(r.Context())
	return campaignReasons{reasons, looked, httpio.NextCursor(reasonPages, next)}, err
}

// export streams the recipients of a campaign as a CSV file.
func (x Campaigns) export(w http.ResponseWriter, r *http.Request, by member.Member) error {
	f, err := readReached(r.URL.Query())
	if err != nil {
		return err
	}
	walk, _, err := x.walk(r, by, recipientPages)
	if err != nil {
		return err
	}
	place, err := x.Exports.Take(by.Holder())
	if err != nil {
		return err
	}
	defer place.Release()
	some, err := walk.Next(r.Context(), maxExported)
	if err != nil {
		return err
	}
	out := csv.NewWriter(httpio.OpenDownload(w, "campaign.csv"))
	// errors of Write are reported by Error
	_ = out.Write([]string{
		"number", "state", "reason", "detail", "attempts", "accepted_at", "sent_at", "delivered_at", "read_at", "ended_at",
		"message_id", "user_id", "clicked_at",
	})
	for len(some) > 0 {
		for i := range some {
			if c := &some[i]; f.Fits(c) {
				_ = out.Write([]string{
					c.Number, string(c.State), string(c.Reason), httpio.Cell(c.Detail), strconv.Itoa(c.Attempts), c.CreatedAt, c.SentAt,
					c.DeliveredAt, c.ReadAt, c.EndedAt,
					c.NotificationID + "." + strconv.Itoa(c.N), c.UserID, c.ClickedAt,
				})
			}
		}
		if out.Flush(); out.Error() != nil {
			return nil
		}
		if some, err = walk.Next(r.Context(), maxExported); err != nil {
			panic(http.ErrAbortHandler) // a truncated file must not look complete
		}
	}
	out.Flush()
	return nil
}
