package system

import (
	"context"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/provider"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/event/hook"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/stats"
	"carillon/internal/store/work"
)

// concern is a problem that needs attention. Kind determines which fields are set.
type concern struct {
	Kind string `json:"kind" enum:"concerns"`

	Sender   string           `json:"sender,omitempty"` // sender id: sender_failing, messages_failing, calls_failing
	Number   string           `json:"number,omitempty"`
	Channel  carillon.Channel `json:"channel,omitempty"`
	Class    provider.Fault   `json:"class,omitempty"`  // sender_failing
	Detail   string           `json:"detail,omitempty"` // the provider's text
	Since    string           `json:"since,omitempty"`
	Until    string           `json:"until,omitempty"` // sender_failing: the next attempt; maintenance: its end
	Template string           `json:"template,omitempty"`
	ID       string           `json:"id,omitempty"`   // id of the template or webhook
	Host     string           `json:"host,omitempty"` // host of the webhook
	Language string           `json:"language,omitempty"`
	Status   string           `json:"status,omitempty"`
	Used     int64            `json:"used,omitempty"`
	Of       int64            `json:"of,omitempty"`    // quota: the limit; messages_failing, calls_failing: all that ended
	Count    int              `json:"count,omitempty"` // conversations_waiting
	Behind   int              `json:"behind_s,omitempty"`
	Reset    string           `json:"reset_time,omitempty"` // quota
}

// Kinds of concerns, in display order.
const (
	concernMaintenance   = "maintenance"
	concernRestored      = "restored"
	concernSender        = "sender_failing"
	concernQuota         = "quota"
	concernConversations = "conversations_waiting"
	concernMessages      = "messages_failing"
	concernCalls         = "calls_failing"
	concernTemplate      = "template"
	concernWebhook       = "webhook_failing"
	concernWebhookOff    = "webhook_disabled"
	concernSearch        = "search_behind"
	concernCounts        = "counts_behind"
)

const (
	quotaShare     = 80 // percentage of the quota from which it needs attention
	minFailing     = 5  // recipients in the last day
	failingShare   = 20 // percentage of ended recipients
	searchBehind   = 10 * time.Minute
	countsBehind   = 2 * time.Minute
	maxConcerns    = 50 // templates
	attentionRange = 24 * time.Hour
)

// Attention serves current problems, the first steps of a new company, and its use of limits.
type Attention struct {
	Gate  *member.Gate
	Store *store.Store
	Hooks *hook.Deliverer
}

func (x Attention) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/overview/attention", auth.MayReadNotifications, x.attention),
		member.Route(x.Gate, "GET", "/overview/first-steps", auth.MayReadNotifications, x.firstSteps),
		member.Route(x.Gate, "GET", "/usage", auth.MayReadNotifications, x.usage),
	}
}

// attention responds with the current problems, most urgent first.
func (x Attention) attention(r *http.Request, by member.Member) (httpio.Rows[concern], error) {
	shown := httpio.RowsOf([]concern{})
	now := time.Now()
	for _, find := range []func(ctx context.Context, by member.Member, now time.Time) ([]concern, error){
		x.ofInstallation, x.failingSenders, x.quotaNearlyUsed, x.waitingConversations, x.failures, x.templatesStopped, x.failingWebhooks,
		x.behind,
	} {
		found, err := find(r.Context(), by, now)
		if err != nil {
			return httpio.Rows[concern]{}, err
		}
		shown.Data = append(shown.Data, found...)
	}
	return shown, nil
}

// ofInstallation returns the maintenance window and, for the installation's operators, the messages held after a
// restore.
func (x Attention) ofInstallation(ctx context.Context, by member.Member, now time.Time) (all []concern, err error) {
	m, err := x.Store.Accounts.Maintenance(ctx)
	if err != nil {
		return nil, err
	}
	if m.On(now) {
		all = append(all, concern{Kind: concernMaintenance, Since: carillon.FormatTime(m.From), Until: carillon.FormatTime(m.Until)})
	}
	first, err := x.Store.Accounts.OldestCompany(ctx)
	if err != nil || by.Role != auth.Owner || by.CompanyID != first {
		return all, err
	}
	at, _, err := x.Store.RestoredAt(ctx)
	if err == nil && !at.IsZero() {
		all = append(all, concern{Kind: concernRestored, Since: carillon.FormatTime(at)})
	}
	return all, err
}

func (x Attention) failingSenders(ctx context.Context, by member.Member, now time.Time) (all []concern, err error) {
	breakers, err := x.Store.Breakers.OfCompany(ctx, by.CompanyID)
	if err != nil || len(breakers) == 0 {
		return nil, err
	}
	open := make(map[int64]work.Breaker, len(breakers))
	for _, b := range breakers {
		open[b.SenderUID] = b
	}
	senders, err := x.Store.Senders.Senders(ctx, by.CompanyID)
	for _, s := range senders {
		if b, failing := open[s.UID]; failing {
			c := concern{
				Kind: concernSender, Sender: s.ID, Number: s.Number, Channel: s.Channel, Class: b.Fault, Detail: b.Detail,
				Since: carillon.FormatTime(b.Since),
			}
			if b.Until.After(now) {
				c.Until = carillon.FormatTime(b.Until)
			}
			all = append(all, c)
		}
	}
	return all, err
}

func (x Attention) quotaNearlyUsed(ctx context.Context, by member.Member, _ time.Time) ([]concern, error) {
	c, err := x.Store.Accounts.Company(ctx, by.CompanyID)
	if err != nil {
		return nil, err
	}
	u, err := notify.UsageOf(ctx, x.Store, c)
	if err != nil || u.Quota == 0 || u.Used*100 < u.Quota*quotaShare {
		return nil, err
	}
	return []concern{{Kind: concernQuota, Used: int64(u.Used), Of: int64(u.Quota), Reset: u.ResetTime}}, nil
}

func (x Attention) waitingConversations(ctx context.Context, by member.Member, _ time.Time) ([]concern, error) {
	n, err := x.Store.Chats.Count(ctx, by.CompanyID, by.AccountID)
	if err != nil || n.Unassigned == 0 {
		return nil, err
	}
	return []concern{{Kind: concernConversations, Count: n.Unassigned}}, nil
}

// failures returns the senders with many failed messages or calls in the last day.
func (x Attention) failures(ctx context.Context, by member.Member, now time.Time) (all []concern, err error) {
	_, groups, err := x.Store.Stats.Figures(ctx, by.CompanyID, stats.Filter{From: now.Add(-attentionRange).Truncate(time.Hour)})
	if err != nil {
		return nil, err
	}
	bySender := map[int64]*stats.Counts{}
	for i := range groups {
		g := &groups[i]
		if bySender[g.SenderUID] == nil {
			bySender[g.SenderUID] = &stats.Counts{}
		}
		bySender[g.SenderUID].Add(g.Counts, 1)
	}
	senders, err := x.Store.Senders.Senders(ctx, by.CompanyID)
	for _, s := range senders {
		n := bySender[s.UID]
		if n == nil {
			continue
		}
		ended := n.Accepted - n.Waiting - n.Skipped - n.Canceled
		c := concern{Kind: concernMessages, Sender: s.ID, Number: s.Number, Channel: s.Channel, Used: n.Failed, Of: ended}
		share := int64(failingShare)
		if s.Channel == carillon.Voice { // unanswered calls are normal
			c.Kind, share = concernCalls, 2*failingShare
		}
		if n.Failed >= minFailing && n.Failed*100 >= ended*share {
			all = append(all, c)
		}
	}
	return all, err
}

// templatesStopped returns the templates that the channel rejected, paused or disabled.
func (x Attention) templatesStopped(ctx context.Context, by member.Member, _ time.Time) (all []concern, err error) {
	senders, err := x.Store.Senders.Senders(ctx, by.CompanyID)
	if err != nil {
		return nil, err
	}
	for _, s := range senders {
		if s.Channel != carillon.Messaging {
			continue
		}
		templates, err := x.Store.Templates.Templates(ctx, s.UID)
		if err != nil {
			return nil, err
		}
		for _, t := range templates {
			switch t.Status {
			case carillon.TemplateRejected, carillon.TemplatePaused, carillon.TemplateDisabled:
				if len(all) < maxConcerns {
					all = append(all, concern{
						Kind: concernTemplate, Template: t.Name, ID: t.ID, Language: t.Language, Status: string(t.Status),
						Detail: t.Reason,
					})
				}
			default:
			}
		}
	}
	return all, nil
}

// failingWebhooks returns the webhooks whose deliveries fail, for members who may see them.
func (x Attention) failingWebhooks(ctx context.Context, by member.Member, _ time.Time) (all []concern, err error) {
	if !by.Role.Can(auth.MayReadWebhooks) {
		return nil, nil
	}
	found, err := x.Hooks.Troubles(ctx, by.CompanyID)
	for _, f := range found {
		c := concern{Kind: concernWebhook, ID: f.ID, Host: f.Host, Since: carillon.FormatTime(f.Since), Detail: f.Last}
		if f.Disabled {
			c.Kind = concernWebhookOff
		}
		if f.Gone {
			c.Status, c.Detail = "gone", ""
		}
		all = append(all, c)
	}
	return all, err
}

func (x Attention) behind(ctx context.Context, _ member.Member, now time.Time) (all []concern, err error) {
	lag, err := x.Store.Search.Lag(ctx, now)
	if err != nil {
		return nil, err
	}
	if lag > searchBehind {
		all = append(all, concern{Kind: concernSearch, Behind: int(lag / time.Second)})
	}
	if lag, err = x.Store.Stats.Lag(ctx, now); lag > countsBehind {
		all = append(all, concern{Kind: concernCounts, Behind: int(lag / time.Second)})
	}
	return all, err
}

// firstStep is a set-up step of a new company, and whether it is done.
type firstStep struct {
	Step string `json:"step" enum:"sender,template,key,delivered,widget,teammate"`
	Done bool   `json:"done"`
}

// firstSteps responds with the state of a company's first steps, according to the database.
func (x Attention) firstSteps(r *http.Request, by member.Member) (httpio.Rows[firstStep], error) {
	ctx, now := r.Context(), time.Now()
	senders, err := x.Store.Senders.Senders(ctx, by.CompanyID)
	if err != nil {
		return httpio.Rows[firstStep]{}, err
	}
	approved := false
	for _, s := range senders {
		templates, err := x.Store.Templates.Templates(ctx, s.UID)
		if err != nil {
			return httpio.Rows[firstStep]{}, err
		}
		for _, t := range templates {
			approved = approved || t.Status == carillon.TemplateApproved
		}
	}
	keys, err := x.Store.Keys.UsableKeys(ctx, by.CompanyID, now)
	if err != nil {
		return httpio.Rows[firstStep]{}, err
	}
	delivered, err := x.Store.Stats.AnyDelivered(ctx, by.CompanyID)
	if err != nil {
		return httpio.Rows[firstStep]{}, err
	}
	placed, err := x.Store.Chats.AnyVisitor(ctx, by.CompanyID)
	if err != nil {
		return httpio.Rows[firstStep]{}, err
	}
	members, err := x.Store.Accounts.Members(ctx, by.CompanyID, "", 2)
	if err != nil {
		return httpio.Rows[firstStep]{}, err
	}
	return httpio.RowsOf([]firstStep{
		{"sender", len(senders) > 0},
		{"template", approved},
		{"key", len(keys) > 0},
		{"delivered", delivered},
		{"widget", placed},
		{"teammate", len(members) > 1},
	}), nil
}

// usageDays is the number of days shown, including today.
const usageDays = 30

type usageShown struct {
	*notify.Usage

	Retention int        `json:"retention_days"` // 0 means unlimited retention
	Days      []usageDay `json:"days"`           // UTC; days without use are omitted
	Calls     usageCalls `json:"calls"`
}

type usageDay struct {
	Date string `json:"date"`
	Used int    `json:"used"`
}

// usageCalls counts the calls of the same days.
type usageCalls struct {
	Placed   int64 `json:"placed"`
	Dialed   int64 `json:"dialed"`
	Answered int64 `json:"answered"`
}

// usage responds with the company's use of its limits.
func (x Attention) usage(r *http.Request, by member.Member) (usageShown, error) {
	c, err := x.Store.Accounts.Company(r.Context(), by.CompanyID)
	if err != nil {
		return usageShown{}, err
	}
	u, err := notify.UsageOf(r.Context(), x.Store, c)
	if err != nil {
		return usageShown{}, err
	}
	shown := usageShown{Usage: u, Retention: c.RetentionDays, Days: []usageDay{}}
	since := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-usageDays)
	days, err := x.Store.Notifications.UsedSince(r.Context(), by.CompanyID, since.Format(time.DateOnly))
	if err != nil {
		return usageShown{}, err
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
