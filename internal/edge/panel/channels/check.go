package channels

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/egress"
	"carillon/internal/base/provider"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/panel/sending"
	"carillon/internal/store/configure"
	"carillon/internal/store/senders"
	stored "carillon/internal/store/senders"
	"carillon/internal/store/stats"
	"carillon/internal/store/work"
)

// cloudSenders serves what is known of senders from their providers: checks, and how a sender is at the moment.
func (x Senders) Routes() []httpio.Route {
	return []httpio.Route{
		x.Gate.Route("GET", "/senders", auth.MayReadSenders, x.listSenders),
		x.Gate.Route("POST", "/senders", auth.MayWriteSenders, x.add),
		x.Gate.Route("GET", "/senders/{id}", auth.MayReadSenders, x.get),
		x.Gate.Route("PUT", "/senders/{id}", auth.MayWriteSenders, member.With(senderID, x.replace)),
		x.Gate.Route("DELETE", "/senders/{id}", auth.MayWriteSenders, member.With(senderID, x.remove)),
		x.Gate.Route("POST", "/senders/check", auth.MayWriteSenders, x.checkNew),
		x.Gate.Route("POST", "/senders/{id}/check", auth.MayWriteSenders, x.check),
		x.Gate.Route("POST", "/senders/{id}/subscribe", auth.MayWriteSenders, x.subscribe),
		x.Gate.Route("GET", "/senders/{id}/state", auth.MayReadSenders, x.state),
	}
}

// itemCallback is the item that the panel adds to what a provider finds: whether callbacks come.
const itemCallback = "callback"

// callbackElsewhere is what is found where the channel posts to another program.
const callbackElsewhere = "callback_elsewhere"

// reportRow is what the channel of a sender says of it. Instants are null where nothing is known.
type reportRow struct {
	HandshakeAt *string            `json:"handshake_at"`
	CallbackAt  *string            `json:"callback_at"` // of about the last callback
	Notice      string             `json:"notice"`      // the last event that the channel reported by itself
	NoticeAt    *string            `json:"notice_at"`
	Quality     string             `json:"quality"`
	QualityAt   *string            `json:"quality_at"`
	Messages    string             `json:"messages"` // how many may be sent, in the channel's words
	MessagesAt  *string            `json:"messages_at"`
	CheckedAt   *string            `json:"checked_at"`
	Name        string             `json:"name"`  // that recipients see
	Worst       string             `json:"worst"` // of the last check's findings; empty: there was no check
	Findings    []provider.Finding `json:"findings,omitempty"`
}

// reportOf is a report in a response, with its findings or only the worst of them.
func reportOf(r stored.Report, whole bool) *reportRow {
	x := &reportRow{
		HandshakeAt: auth.TimeOrNull(r.HandshakeAt), CallbackAt: auth.TimeOrNull(r.CallbackAt), Notice: r.Notice,
		NoticeAt: auth.TimeOrNull(r.NoticeAt), Quality: r.Quality,
		QualityAt: auth.TimeOrNull(r.QualityAt), Messages: r.Messages, MessagesAt: auth.TimeOrNull(r.MessagesAt),
		CheckedAt: auth.TimeOrNull(r.CheckedAt),
	}
	worst := []provider.FindingState{provider.FindingOK, provider.FindingWarn, provider.FindingBad}
	for _, f := range r.Findings {
		x.Name = cmp.Or(x.Name, f.Values["name"])
		if at := slices.Index(worst, f.State); at >= 0 && at >= slices.Index(worst, provider.FindingState(x.Worst)) {
			x.Worst = string(f.State)
		}
	}
	if whole {
		x.Findings = r.Findings
	}
	return x
}

// fresh is a report whose finding about callbacks is of now: they may have come since the check. That they are posted elsewhere stays.
func (s Senders) fresh(x *carillon.Sender, r stored.Report) stored.Report {
	i := slices.IndexFunc(r.Findings, func(f provider.Finding) bool { return f.Item == itemCallback })
	own := s.callbackOf(x)
	if i < 0 || own == nil || r.Findings[i].Code == callbackElsewhere {
		return r
	}
	r.Findings = slices.Clone(r.Findings)
	r.Findings[i] = callbackFinding(own, "", r)
	return r
}

// callbackAt is where the provider is to post callbacks.
type callbackAt struct {
	URL    string `json:"url"`
	Public bool   `json:"public"` // a provider can reach it, as far as the address says
}

// callbackOf is nil for providers that post none.
func (s Senders) callbackOf(x *carillon.Sender) *callbackAt {
	if s.Providers[x.Provider].Inspect == nil {
		return nil
	}
	base, _ := s.Gate.Addresses()
	return &callbackAt{URL: base + "/callbacks/" + x.Provider + "/" + url.PathEscape(x.ID), Public: reachable(base)}
}

// reachable reports whether others may reach an address, as far as it says so itself.
func reachable(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if a, err := netip.ParseAddr(host); err == nil {
		return egress.Public(a)
	}
	return strings.Contains(host, ".") && !strings.HasSuffix(host, ".localhost") && !strings.HasSuffix(host, ".local") &&
		!strings.HasSuffix(host, ".internal")
}

// check asks the trunk of a line, or the provider of another sender.
func (x Senders) check(r *http.Request, by member.Member) (any, error) {
	s, err := x.find(r, by)
	if err != nil {
		return nil, err
	}
	if _, err := x.Gate.Limits.Allow(r.Context(), "check line "+by.CompanyID, checksPerMinute, 1); err != nil {
		return nil, err
	}
	if s.Channel == carillon.Voice {
		h, err := x.Lines.Ask(r.Context(), s)
		return healthOf(h), err
	}
	inspect := x.Providers[s.Provider].Inspect
	if inspect == nil {
		return nil, carillon.InConflict("There is nobody to ask about a sender of this kind")
	}
	found := inspect(r.Context(), s)
	if err := r.Context().Err(); err != nil {
		return nil, err // nobody waits for it, and it may have ended early
	}
	report, err := x.Store.Senders.Report(r.Context(), by.CompanyID, s.UID)
	if err != nil {
		return nil, err
	}
	found.Findings = append(found.Findings, callbackFinding(x.callbackOf(s), found.Callback, report))
	if err := x.Store.Senders.KeepInspection(r.Context(), s, found, time.Now()); err != nil {
		return nil, err
	}
	if x.confirmed(s, found) {
		if err := x.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
			_, err := senders.ProveNumber(ctx, tx, s, false, time.Now())
			return err
		}); err != nil {
			return nil, err
		}
	}
	report, err = x.Store.Senders.Report(r.Context(), by.CompanyID, s.UID)
	return reportOf(report, true), err
}

// confirmed reports whether the channel says that the number is the sender's: the channel itself, not a server that the company named.
func (x Senders) confirmed(s *carillon.Sender, found provider.Inspection) bool {
	if away := x.Providers[s.Provider].Away; away != nil {
		if at, _ := settingsOf(s)[away.Setting].(string); at != "" && at != away.Usual {
			return false
		}
	}
	return slices.ContainsFunc(found.Findings, func(f provider.Finding) bool { return f.Item == "number" && f.State == provider.FindingOK })
}

// callbackFinding says whether callbacks come, and if not why. elsewhere is where the channel posts them; empty: it did not say.
func callbackFinding(own *callbackAt, elsewhere string, r stored.Report) provider.Finding {
	f := provider.Finding{Item: itemCallback, State: provider.FindingBad}
	folder, _, _ := strings.Cut(own.URL, "/callbacks/")
	switch {
	case elsewhere != "" && !strings.HasPrefix(elsewhere, folder+"/callbacks/"): // one address may serve several senders of an application
		f.Code, f.Values = callbackElsewhere, map[string]string{"host": hostOf(elsewhere)}
	case !r.CallbackAt.IsZero():
		f.State, f.Code, f.Values = provider.FindingOK, "callback_received", map[string]string{"at": carillon.FormatTime(r.CallbackAt)}
	case !own.Public:
		f.Code, f.Values = "callback_private", map[string]string{"base": folder}
	case !r.HandshakeAt.IsZero():
		f.State, f.Code, f.Values = provider.FindingOK, "callback_confirmed", map[string]string{"at": carillon.FormatTime(r.HandshakeAt)}
	default:
		f.Code = "callback_never"
	}
	return f
}

// hostOf is all of an address that is shown: the rest may contain others' secrets.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return "?"
	}
	return carillon.Shorten(u.Hostname())
}

// checkNew asks about a sender that is not stored. Its secrets are in the body; nothing of it is kept.
func (x Senders) checkNew(r *http.Request, by member.Member) (any, error) {
	s, err := x.read(r, by, "")
	if err != nil {
		return nil, err
	}
	if err := x.complete(s, nil); err != nil {
		return nil, err
	}
	inspect := x.Providers[s.Provider].Inspect
	if inspect == nil {
		return nil, carillon.InConflict("There is nobody to ask about a sender of this kind")
	}
	if err := x.admit(r.Context(), s); err != nil {
		return nil, err
	}
	if _, err := x.Gate.Limits.Allow(r.Context(), "check line "+by.CompanyID, checksPerMinute, 1); err != nil {
		return nil, err
	}
	found := inspect(r.Context(), s)
	return reportOf(
		stored.Report{Findings: found.Findings, Quality: found.Quality, Messages: found.Limit, CheckedAt: time.Now()}, true,
	), r.Context().Err()
}

// subscribe has the provider send the callbacks of a sender's account.
func (x Senders) subscribe(r *http.Request, by member.Member) (any, error) {
	s, err := x.find(r, by)
	if err != nil {
		return nil, err
	}
	subscribe := x.Providers[s.Provider].Subscribe
	if subscribe == nil {
		return nil, carillon.InConflict("A sender of this kind has no callbacks")
	}
	if _, err := x.Gate.Limits.Allow(r.Context(), "check line "+by.CompanyID, checksPerMinute, 1); err != nil {
		return nil, err
	}
	return nil, subscribe(r.Context(), s)
}

// senderState is how a sender is at the moment.
type senderState struct {
	Report    *reportRow     `json:"report"`
	Breaker   breakerRow     `json:"breaker"`
	Waiting   backlog        `json:"waiting"`
	Hour      sending.Counts `json:"hour"` // what became of the recipients accepted in the last hours
	HourFrom  string         `json:"hour_from"`
	Templates int            `json:"templates"`
	Approved  int            `json:"approved_templates"`
}

// backlog is what waits in a sender's lane.
type backlog struct {
	Messages int   `json:"messages"`
	More     bool  `json:"more"` // there are more than were counted
	Due      int   `json:"due"`
	LateMS   int64 `json:"late_ms"` // how long ago the oldest of these was due
}

func (x Senders) state(r *http.Request, by member.Member) (any, error) {
	s, err := x.find(r, by)
	if err != nil {
		return nil, err
	}
	ctx, now := r.Context(), time.Now()
	report, err := x.Store.Senders.Report(ctx, by.CompanyID, s.UID)
	if err != nil {
		return nil, err
	}
	shown := senderState{Report: reportOf(x.fresh(s, report), true)}
	breakers, err := x.Store.Breakers.OfCompany(ctx, by.CompanyID)
	if err != nil {
		return nil, err
	}
	shown.Breaker = breakerOf(breakerFor(breakers, s.UID), now)
	w, err := x.Store.Senders.Backlog(ctx, s, now)
	if err != nil {
		return nil, err
	}
	shown.Waiting = backlog{Messages: w.Messages, More: w.More, Due: w.Due}
	if !w.Oldest.IsZero() {
		shown.Waiting.LateMS = now.Sub(w.Oldest).Milliseconds()
	}
	return shown, x.figures(ctx, &shown, s, now)
}

// figures adds what was sent since the hour before this one began, and the templates.
func (x Senders) figures(ctx context.Context, shown *senderState, s *carillon.Sender, now time.Time) error {
	from := now.Add(-time.Hour).Truncate(time.Hour)
	total, err := x.Store.Stats.Total(ctx, s.CompanyID, stats.Filter{From: from, SenderUID: s.UID})
	if err != nil {
		return err
	}
	shown.Hour, shown.HourFrom = sending.CountsOf(&total), carillon.FormatTime(from)
	templates, err := x.Store.Templates.Templates(ctx, s.UID)
	for _, t := range templates {
		shown.Templates++
		if t.Status == carillon.TemplateApproved {
			shown.Approved++
		}
	}
	return err
}

// breakerFor is the circuit breaker of a sender; the zero value: it is closed.
func breakerFor(all []work.Breaker, senderUID int64) work.Breaker {
	for _, b := range all {
		if b.SenderUID == senderUID {
			return b
		}
	}
	return work.Breaker{}
}
