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
	"carillon/internal/store/settings"
	"carillon/internal/store/stats"
	"carillon/internal/store/work"
)

// Routes returns the routes of senders, their checks and their current state.
func (x Senders) Routes() []httpio.Route {
	return slices.Concat([]httpio.Route{
		member.Route(x.Gate, "GET", "/senders", auth.MayReadSenders, x.listSenders),
		member.Route(x.Gate, "POST", "/senders", auth.MayWriteSenders, x.add),
		member.Route(x.Gate, "GET", "/senders/{id}", auth.MayReadSenders, x.get),
		member.Route(x.Gate, "PUT", "/senders/{id}", auth.MayWriteSenders, member.With(senderID, x.replace)),
		member.Route(x.Gate, "DELETE", "/senders/{id}", auth.MayWriteSenders, member.With(senderID, x.remove)),
		member.Route(x.Gate, "POST", "/senders/check", auth.MayWriteSenders, x.checkNew),
		member.Route(x.Gate, "POST", "/senders/{id}/check", auth.MayWriteSenders, x.check),
		member.Route(x.Gate, "POST", "/senders/{id}/subscribe", auth.MayWriteSenders, x.subscribe),
		member.Route(x.Gate, "GET", "/senders/{id}/state", auth.MayReadSenders, x.state),
	}, x.registerRoutes(), x.signUpRoutes(), x.callRoutes())
}

// itemCallback is the finding that the panel adds to a provider's findings: whether callbacks arrive.
const itemCallback = "callback"

// callbackElsewhere is the code of the finding that the channel posts callbacks to another program.
const callbackElsewhere = "callback_elsewhere"

// reportRow is the channel's report about a sender. Timestamps are null if unknown.
type reportRow struct {
	HandshakeAt *string            `json:"handshake_at"`
	CallbackAt  *string            `json:"callback_at"` // approximate time of the last callback
	Notice      string             `json:"notice"`      // the channel's last event about the sender itself
	NoticeAt    *string            `json:"notice_at"`
	Quality     string             `json:"quality"`
	QualityAt   *string            `json:"quality_at"`
	Messages    string             `json:"messages"` // the sending limit, in the channel's words
	MessagesAt  *string            `json:"messages_at"`
	CheckedAt   *string            `json:"checked_at"`
	Name        string             `json:"name"`                              // as shown to recipients
	Worst       string             `json:"worst" enum:",ok,warn,bad,unknown"` // worst finding of the last check; empty if there was none
	Findings    []provider.Finding `json:"findings,omitempty"`
}

// reportOf returns a report for a response, with all findings or only the worst.
func reportOf(r settings.SenderReport, whole bool) *reportRow {
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

// fresh returns the report with an up-to-date finding about callbacks, which may have arrived since the check. A
// finding that they are posted elsewhere is kept.
func (s Senders) fresh(x *carillon.Sender, r settings.SenderReport) settings.SenderReport {
	i := slices.IndexFunc(r.Findings, func(f provider.Finding) bool { return f.Item == itemCallback })
	own := s.callbackOf(x)
	if i < 0 || own == nil || r.Findings[i].Code == callbackElsewhere {
		return r
	}
	r.Findings = slices.Clone(r.Findings)
	r.Findings[i] = callbackFinding(own, "", r)
	return r
}

// callbackAt is the address to which the provider must post callbacks.
type callbackAt struct {
	URL    string `json:"url"`
	Public bool   `json:"public"` // judging by the address, a provider can reach it
}

// callbackOf returns the sender's callback address, or nil for providers without callbacks.
func (s Senders) callbackOf(x *carillon.Sender) *callbackAt {
	if s.Providers[x.Provider].Inspect == nil {
		return nil
	}
	base, _ := s.Gate.Addresses()
	return &callbackAt{URL: base + "/callbacks/" + x.Provider + "/" + url.PathEscape(x.ID), Public: reachable(base)}
}

// reachable reports whether an address looks reachable from the internet.
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

// check queries the trunk of a line, or the provider of any other sender.
func (x Senders) check(r *http.Request, by member.Member) (c httpio.Either[healthRow, reportRow], err error) {
	s, err := x.find(r, by)
	if err != nil {
		return c, err
	}
	if err := x.mayAsk(r, by); err != nil {
		return c, err
	}
	if s.Channel == carillon.Voice {
		h, err := x.Lines.Ask(r.Context(), s)
		c.A = healthOf(h)
		return c, err
	}
	inspect := x.Providers[s.Provider].Inspect
	if inspect == nil {
		return c, carillon.InConflict("There is nobody to ask about a sender of this kind")
	}
	found := inspect(r.Context(), s)
	if err := r.Context().Err(); err != nil {
		return c, err // the caller has left, and the result may be incomplete
	}
	report, err := x.Store.Senders.Report(r.Context(), by.CompanyID, s.UID)
	if err != nil {
		return c, err
	}
	if explain := x.Providers[s.Provider].Explain; explain != nil {
		breakers, err := x.Store.Breakers.OfCompany(r.Context(), by.CompanyID)
		if err != nil {
			return c, err
		}
		if f := explain(breakerFor(breakers, s.UID).Detail); f != nil {
			found.Findings = append(found.Findings, *f)
		}
	}
	found.Findings = append(found.Findings, callbackFinding(x.callbackOf(s), found.Callback, report))
	if err := x.Store.Senders.KeepInspection(r.Context(), s, found, time.Now()); err != nil {
		return c, err
	}
	if x.confirmed(s, found) {
		if err := x.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
			_, err := settings.ProveNumber(ctx, tx, s, false, time.Now())
			return err
		}); err != nil {
			return c, err
		}
	}
	report, err = x.Store.Senders.Report(r.Context(), by.CompanyID, s.UID)
	c.B = reportOf(report, true)
	return c, err
}

// confirmed reports whether the channel confirms that the number is the sender's. A server chosen by the company
// cannot confirm it.
func (x Senders) confirmed(s *carillon.Sender, found provider.Inspection) bool {
	if away := x.Providers[s.Provider].Away; away != nil {
		if at, _ := settingsOf(s)[away.Setting].(string); at != "" && at != away.Usual {
			return false
		}
	}
	return slices.ContainsFunc(found.Findings, func(f provider.Finding) bool { return f.Item == "number" && f.State == provider.FindingOK })
}

// callbackFinding returns whether callbacks arrive and, if not, the reason. elsewhere is the address to which the
// channel posts, or "" if unknown.
func callbackFinding(own *callbackAt, elsewhere string, r settings.SenderReport) provider.Finding {
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

// hostOf returns the part of an address that may be shown. The rest may contain secrets.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return "?"
	}
	return carillon.Shorten(u.Hostname())
}

// checkNew checks a sender that is not stored. Its secrets are in the body, and nothing is stored.
func (x Senders) checkNew(r *http.Request, by member.Member) (*reportRow, error) {
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
	if err := x.mayAsk(r, by); err != nil {
		return nil, err
	}
	found := inspect(r.Context(), s)
	return reportOf(
		settings.SenderReport{Findings: found.Findings, Quality: found.Quality, Messages: found.Limit, CheckedAt: time.Now()}, true,
	), r.Context().Err()
}

// subscribe makes the provider send the callbacks of a sender's account.
func (x Senders) subscribe(r *http.Request, by member.Member) (httpio.None, error) {
	s, err := x.find(r, by)
	if err != nil {
		return nil, err
	}
	subscribe := x.Providers[s.Provider].Subscribe
	if subscribe == nil {
		return nil, carillon.InConflict("A sender of this kind has no callbacks")
	}
	if err := x.mayAsk(r, by); err != nil {
		return nil, err
	}
	return nil, subscribe(r.Context(), s)
}

// senderState is the current state of a sender.
type senderState struct {
	Report    reportRow      `json:"report"`
	Breaker   breakerRow     `json:"breaker"`
	Waiting   backlog        `json:"waiting"`
	Hour      sending.Counts `json:"hour"` // recipients accepted since the start of the previous hour, by state
	HourFrom  string         `json:"hour_from"`
	Templates int            `json:"templates"`
	Approved  int            `json:"approved_templates"`
	History   *historyRow    `json:"history,omitempty"` // from before the connection; absent if none was asked for or received
}

// backlog is the number of messages waiting in a sender's lane.
type backlog struct {
	Messages int   `json:"messages"`
	More     bool  `json:"more"` // counting stopped at a limit
	Due      int   `json:"due"`
	LateMS   int64 `json:"late_ms"` // delay of the oldest due message
}

func (x Senders) state(r *http.Request, by member.Member) (senderState, error) {
	s, err := x.find(r, by)
	if err != nil {
		return senderState{}, err
	}
	ctx, now := r.Context(), time.Now()
	report, err := x.Store.Senders.Report(ctx, by.CompanyID, s.UID)
	if err != nil {
		return senderState{}, err
	}
	shown := senderState{Report: *reportOf(x.fresh(s, report), true)}
	breakers, err := x.Store.Breakers.OfCompany(ctx, by.CompanyID)
	if err != nil {
		return senderState{}, err
	}
	shown.Breaker = breakerOf(breakerFor(breakers, s.UID), now)
	w, err := x.Store.Senders.Backlog(ctx, s, now)
	if err != nil {
		return senderState{}, err
	}
	shown.Waiting = backlog{Messages: w.Messages, More: w.More, Due: w.Due}
	if !w.Oldest.IsZero() {
		shown.Waiting.LateMS = now.Sub(w.Oldest).Milliseconds()
	}
	if shown.History, err = x.history(ctx, s); err != nil {
		return senderState{}, err
	}
	return shown, x.figures(ctx, &shown, s, now)
}

// figures adds the counts since the start of the previous hour, and the templates.
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

// breakerFor returns the circuit breaker of a sender. The zero value means that it is closed.
func breakerFor(all []work.Breaker, senderUID int64) work.Breaker {
	for _, b := range all {
		if b.SenderUID == senderUID {
			return b
		}
	}
	return work.Breaker{}
}
