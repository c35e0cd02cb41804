package inbox

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/push"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/schedule"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
)

// Notices serves the settings of notices about conversations: a teammate's own, with the browsers that get web push
// messages, and the company's.
type Notices struct {
	Gate  *member.Gate
	Store *store.Store
	Push  *push.Pusher
	Mails bool // the installation can send e-mails
}

const (
	maxAgent     = 300 // characters of a User-Agent
	maxKey       = 200
	maxMailAfter = 24 * 60 // minutes
	maxOnDuty    = 500
)

func (x Notices) Routes() []httpio.Route {
	const answer = auth.MayAnswerConversations
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/inbox/notices", answer, x.get),
		member.Write(x.Gate, "PUT", "/inbox/notices", answer, x.choose).Taking(noticeRequest{}),
		member.Write(x.Gate, "PUT", "/inbox/notices/team", auth.MayWriteSettings, x.setTeam).Taking(teamNotices{}),
		member.Write(x.Gate, "POST", "/inbox/browsers", answer, x.subscribe).Taking(browserRequest{}),
		member.Route(x.Gate, "DELETE", "/inbox/browsers/{id}", answer, member.ID("Browser", x.unsubscribe)),
		member.Write(x.Gate, "POST", "/inbox/browsers/{id}/test", answer, member.ID("Browser", x.test)),
	}
}

// notices are all settings of notices.
type notices struct {
	PushKey  string        `json:"push_key"` // with which a browser subscribes
	Mails    bool          `json:"mails"`    // whether the installation can send e-mails
	Choice   noticeChoice  `json:"choice"`
	Browsers []browserView `json:"browsers"`
	Team     teamNotices   `json:"team"`
}

// noticeChoice is a teammate's choice. Quiet hours are times of day such as 22:00 in Zone; both are empty for none.
type noticeChoice struct {
	Push      bool   `json:"push"`
	Mail      bool   `json:"mail"`
	QuietFrom string `json:"quiet_from"`
	QuietTo   string `json:"quiet_to"`
	Zone      string `json:"zone"` // IANA name
	Language  string `json:"language" enum:"en,es,pt"`
}

// browserView is a browser that gets the teammate's web push messages.
type browserView struct {
	ID        string `json:"id"`
	Agent     string `json:"agent"` // User-Agent
	Current   bool   `json:"current"`
	CreatedAt string `json:"created_at"`
}

// teamNotices are the company's rules.
type teamNotices struct {
	MailAfter   int      `json:"mail_after_minutes"` // no e-mails about waiting visitors if it is 0
	OnDuty      []string `json:"on_duty"`            // accounts; if there are none, all who may answer
	ShowText    bool     `json:"show_text"`
	ReplyByMail bool     `json:"reply_by_mail"`
}

func (x Notices) get(r *http.Request, by member.Member) (notices, error) {
	key, err := x.Push.PublicKey(r.Context())
	if err != nil {
		return notices{}, err
	}
	company, err := x.Store.Accounts.Company(r.Context(), by.CompanyID)
	if err != nil {
		return notices{}, err
	}
	choice, err := x.Store.Notices.Choice(r.Context(), by.CompanyID, by.AccountID)
	if err != nil {
		return notices{}, err
	}
	browsers, err := x.Store.Notices.Subscriptions(r.Context(), by.CompanyID, by.AccountID, time.Now())
	if err != nil {
		return notices{}, err
	}
	all := notices{PushKey: key, Mails: x.Mails, Choice: shownChoice(choice), Browsers: []browserView{}, Team: shownTeam(company)}
	for i := range browsers {
		all.Browsers = append(all.Browsers, shownBrowser(&browsers[i], by))
	}
	return all, nil
}

func shownBrowser(x *accounts.Subscription, by member.Member) browserView {
	return browserView{x.ID, x.Agent, x.SessionID == by.SessionID, carillon.FormatTime(x.CreatedAt)}
}

func shownChoice(c accounts.NoticeChoice) noticeChoice {
	shown := noticeChoice{Push: c.Push, Mail: c.Mail, Zone: c.Zone, Language: c.Language}
	if c.QuietFrom != c.QuietTo {
		shown.QuietFrom, shown.QuietTo = clock(c.QuietFrom), clock(c.QuietTo)
	}
	return shown
}

// clock writes minutes of the day as a time of day.
func clock(minutes int) string {
	return time.Date(2000, 1, 1, minutes/60, minutes%60, 0, 0, time.UTC).Format("15:04")
}

func shownTeam(c *carillon.Company) teamNotices {
	return teamNotices{c.Inbox.MailAfterMinutes, append([]string{}, c.Inbox.OnDuty...), c.Inbox.ShowText, !c.Inbox.ChatOnly}
}

// noticeRequest replaces the caller's choice.
type noticeRequest struct {
	Push      bool   `json:"push"`
	Mail      bool   `json:"mail"`
	QuietFrom string `json:"quiet_from,omitempty"`
	QuietTo   string `json:"quiet_to,omitempty"`
	Zone      string `json:"zone,omitempty"`
	Language  string `json:"language,omitempty"`
}

// choose replaces the caller's choice.
func (x Notices) choose(r *http.Request, by member.Member) (noticeChoice, error) {
	o, err := form.Body[noticeRequest](r)
	if err != nil {
		return noticeChoice{}, err
	}
	c, err := readChoice(o)
	if err != nil {
		return noticeChoice{}, err
	}
	return shownChoice(c), x.Store.Notices.SetChoice(r.Context(), by.CompanyID, by.AccountID, c)
}

func readChoice(o *jsonbody.Object) (c accounts.NoticeChoice, err error) {
	for field, to := range map[string]*bool{"push": &c.Push, "mail": &c.Mail} {
		if *to, err = required(o, field); err != nil {
			return c, err
		}
	}
	if c.Language, err = form.Language(o, "en"); err != nil {
		return c, err
	}
	if !slices.Contains([]string{"en", "es", "pt"}, c.Language) {
		return c, carillon.Invalid("language", "Must be en, es or pt")
	}
	if c.Zone, _, err = o.String("zone", "zone"); err != nil {
		return c, err
	}
	if c.Zone != "" {
		if _, err := schedule.Zone(c.Zone); err != nil {
			return c, carillon.Invalid("zone", "Must be the name of a time zone")
		}
	}
	from, given, err := timeOfDay(o, "quiet_from")
	if err != nil {
		return c, err
	}
	to, also, err := timeOfDay(o, "quiet_to")
	if err != nil {
		return c, err
	}
	if given != also {
		return c, carillon.Invalid("quiet_to", "Quiet hours need a start and an end")
	}
	c.QuietFrom, c.QuietTo = from, to
	return c, nil
}

func required(o *jsonbody.Object, field string) (bool, error) {
	v, given, err := o.Bool(field, field)
	if err == nil && !given {
		err = carillon.Missing(field)
	}
	return v, err
}

var clockForm = regexp.MustCompile(`^([01]\d|2[0-3]):([0-5]\d)$`)

// timeOfDay reads a time of day as minutes; given is false if it is empty or missing.
func timeOfDay(o *jsonbody.Object, field string) (minutes int, given bool, err error) {
	s, _, err := o.String(field, field)
	if err != nil || s == "" {
		return 0, false, err
	}
	m := clockForm.FindStringSubmatch(s)
	if m == nil {
		return 0, false, carillon.Invalid(field, "Must be a time of day such as 22:00")
	}
	hours, _ := strconv.Atoi(m[1]) // digits
	rest, _ := strconv.Atoi(m[2])
	return hours*60 + rest, true, nil
}

// setTeam replaces the company's rules.
func (x Notices) setTeam(r *http.Request, by member.Member) (teamNotices, error) {
	o, err := form.Body[teamNotices](r)
	if err != nil {
		return teamNotices{}, err
	}
	rules, err := readTeam(o)
	if err != nil {
		return teamNotices{}, err
	}
	var kept *carillon.Company
	err = x.Store.Config.Change(r.Context(), func(ctx context.Context, tx *configure.Tx) error {
		if kept, err = accounts.FindCompany(ctx, tx, by.CompanyID, ""); err != nil {
			return err
		}
		if kept == nil {
			return carillon.Absent("Company")
		}
		kept.Inbox = rules
		return accounts.PutCompany(ctx, tx, kept, time.Now())
	})
	if err != nil {
		return teamNotices{}, err
	}
	return shownTeam(kept), nil
}

func readTeam(o *jsonbody.Object) (rules carillon.InboxRules, err error) {
	const after, duty = "mail_after_minutes", "on_duty"
	v := o.Find(after)
	if !v.Present() {
		return rules, carillon.Missing(after)
	}
	if rules.MailAfterMinutes, err = strconv.Atoi(string(v.Raw())); err != nil || rules.MailAfterMinutes < 0 ||
		rules.MailAfterMinutes > maxMailAfter {
		return rules, carillon.Invalid(after, "Must be a number from 0 to "+strconv.Itoa(maxMailAfter))
	}
	if rules.ShowText, err = required(o, "show_text"); err != nil {
		return rules, err
	}
	byMail, err := required(o, "reply_by_mail")
	if err != nil {
		return rules, err
	}
	rules.ChatOnly = !byMail
	given, _, err := o.Find(duty).Strings(duty)
	if err != nil {
		return rules, err
	}
	if len(given) > maxOnDuty {
		return rules, carillon.Invalid(duty, "Too many")
	}
	for i, id := range given {
		id = strings.ToLower(id)
		if !carillon.ValidUUID(id) {
			return rules, carillon.Invalid(duty+"."+strconv.Itoa(i), "Must be the id of an account")
		}
		if !slices.Contains(rules.OnDuty, id) {
			rules.OnDuty = append(rules.OnDuty, id)
		}
	}
	return rules, nil
}

// browserRequest stores a push subscription.
type browserRequest struct {
	Endpoint string `json:"endpoint"`
	P256DH   string `json:"p256dh"`
	Auth     string `json:"auth"`
	Language string `json:"language,omitempty"`
}

// subscribe stores the push subscription of the caller's browser, which ends with the caller's session.
func (x Notices) subscribe(r *http.Request, by member.Member) (httpio.Created[browserView], error) {
	o, err := form.Body[browserRequest](r)
	if err != nil {
		return httpio.Created[browserView]{}, err
	}
	s := &accounts.Subscription{
		CompanyID: by.CompanyID, AccountID: by.AccountID, SessionID: by.SessionID, Agent: clip(r.UserAgent()), CreatedAt: time.Now(),
	}
	if s.Endpoint, err = o.Find("endpoint").Required("endpoint"); err != nil {
		return httpio.Created[browserView]{}, err
	}
	if s.P256DH, err = form.Text(o, "p256dh", maxKey); err != nil {
		return httpio.Created[browserView]{}, err
	}
	if s.Auth, err = form.Text(o, "auth", maxKey); err != nil {
		return httpio.Created[browserView]{}, err
	}
	if s.Language, err = form.Language(o, "en"); err != nil {
		return httpio.Created[browserView]{}, err
	}
	if err := x.Push.Check(r.Context(), s); err != nil {
		return httpio.Created[browserView]{}, err
	}
	if err := x.Store.Notices.Subscribe(r.Context(), s); err != nil {
		return httpio.Created[browserView]{}, err
	}
	return httpio.Created[browserView]{Value: shownBrowser(s, by)}, nil
}

func clip(agent string) string {
	runes := []rune(strings.ToValidUTF8(agent, ""))
	return string(runes[:min(len(runes), maxAgent)])
}

func (x Notices) unsubscribe(r *http.Request, by member.Member, id string) (httpio.None, error) {
	found, err := x.Store.Notices.Unsubscribe(r.Context(), by.CompanyID, by.AccountID, id)
	if err == nil && !found {
		err = carillon.Absent("Browser")
	}
	return nil, err
}

// test sends a message to one of the caller's browsers.
func (x Notices) test(r *http.Request, by member.Member, id string) (httpio.None, error) {
	all, err := x.Store.Notices.Subscriptions(r.Context(), by.CompanyID, by.AccountID, time.Now())
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(s accounts.Subscription) bool { return s.ID == id })
	if at < 0 {
		return nil, carillon.Absent("Browser")
	}
	m := push.Message{Title: "Carillon", Tag: "test", URL: "/panel/inbox?company=" + by.CompanyID}
	err = x.Push.Send(r.Context(), &all[at], m, time.Minute)
	if errors.Is(err, push.ErrGone) {
		if _, err := x.Store.Notices.Unsubscribe(r.Context(), by.CompanyID, by.AccountID, id); err != nil {
			return nil, err
		}
		return nil, carillon.InConflict("The browser ended its subscription: turn notifications on again")
	}
	if err != nil {
		return nil, carillon.InConflict("The browser's push service didn't accept the message")
	}
	return nil, nil
}
