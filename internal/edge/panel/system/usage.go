package system

import (
	"context"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/notify"
	"carillon/internal/store/stats"
)

// usageDays is how many days the use is shown of, today included.
const usageDays = 30

type usageShown struct {
	*notify.Usage

	Retention int        `json:"retention_days"` // 0: what has ended is kept for ever
	Days      []usageDay `json:"days"`           // UTC; those without use are left out
	Calls     usageCalls `json:"calls"`
}

type usageDay struct {
	Date string `json:"date"`
	Used int    `json:"used"`
}

// usageCalls are the calls of the same days.
type usageCalls struct {
	Placed   int64 `json:"placed"`
	Dialed   int64 `json:"dialed"`
	Answered int64 `json:"answered"`
}

// usage responds with what the company uses of its limits.
func (x Attention) usage(r *http.Request, by member.Member) (any, error) {
	c, err := x.Store.Accounts.Company(r.Context(), by.CompanyID)
	if err != nil {
		return nil, err
	}
	u, err := x.Notify.Usage(r.Context(), c)
	if err != nil {
		return nil, err
	}
	shown := usageShown{Usage: u, Retention: c.RetentionDays, Days: []usageDay{}}
	since := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-usageDays)
	days, err := x.Store.Notifications.UsedSince(r.Context(), by.CompanyID, since.Format(time.DateOnly))
	if err != nil {
		return nil, err
	}
	for _, d := range days {
		shown.Days = append(shown.Days, usageDay{d.Date, d.Used})
	}
	shown.Calls, err = x.usageCalls(r.Context(), by.CompanyID, since)
	return shown, err
}

func (x Attention) usageCalls(ctx context.Context, companyID string, since time.Time) (usageCalls, error) {
	n, err := x.Store.Stats.Total(ctx, companyID, stats.Filter{From: since, Channel: carillon.Voice})
	return usageCalls{n.Accepted, n.Sent, n.Delivered}, err
}
