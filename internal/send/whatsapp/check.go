package whatsapp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/egress"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
)

// The items of a check, in order (docs/guides/whatsapp.md). The caller checks the callback, because only the caller
// knows its own address.
const (
	itemConnection = "connection"
	itemVersion    = "version"
	itemToken      = "token"
	itemPhone      = "phone_number_id"
	itemNumber     = "number"
	itemAccount    = "waba_id"
	itemRegistered = "registration"
	itemName       = "name"
	itemQuality    = "quality"
	itemLimit      = "limit"
	itemSecret     = "app_secret"
	itemSubscribed = "subscription"
	itemTemplates  = "templates" // see Explain
)

func items() []string {
	return []string{
		itemConnection, itemVersion, itemToken, itemPhone, itemNumber, itemAccount, itemRegistered, itemName, itemQuality,
		itemLimit, itemSecret, itemSubscribed,
	}
}

const (
	maxCheck    = 25 * time.Second // for a complete check
	maxAsk      = 8 * time.Second  // for one request of it
	maxNumbers  = 10               // pages of an account's numbers to read
	expiresSoon = 14 * 24 * time.Hour
	temporary   = 25 * time.Hour // a token from the application's start page is valid for a day
)

// scopes are the permissions that a token needs.
func scopes() []string {
	return []string{"whatsapp_business_messaging", "whatsapp_business_management"}
}

// Check asks the channel about a sender, item by item. Items that depend on a failed one stay unknown. It sends no
// message, changes nothing, and takes at most maxCheck.
func (c *Client) Check(ctx context.Context, s *carillon.Sender) provider.Inspection {
	a, err := c.account(s)
	if err != nil { // unlikely: settings are checked before they are stored
		unusable := provider.Finding{Item: itemConnection, State: provider.FindingBad, Code: "settings_unusable"}
		return provider.Inspection{Findings: []provider.Finding{unusable}}
	}
	ctx, cancel := context.WithTimeout(ctx, maxCheck)
	defer cancel()
	k := &checking{c: c, a: a, number: s.Number, now: time.Now()}
	for _, step := range []func(context.Context) bool{k.phone, k.coexistence, k.token, k.account, k.limit, k.secret, k.subscription} {
		if !step(ctx) {
			break
		}
	}
	k.complete()
	return k.found
}

// checking is a check in progress. Its steps report whether the next step makes sense.
type checking struct {
	c      *Client
	a      *account
	number string
	now    time.Time
	app    string // id of the token's application; empty if unknown
	found  provider.Inspection
}

func (k *checking) find(item string) *provider.Finding {
	i := slices.IndexFunc(k.found.Findings, func(f provider.Finding) bool { return f.Item == item })
	if i < 0 {
		return nil
	}
	return &k.found.Findings[i]
}

func (k *checking) add(item string, state provider.FindingState, code, detail string) *provider.Finding {
	k.found.Findings = append(k.found.Findings, provider.Finding{Item: item, State: state, Code: code, Detail: detail})
	return &k.found.Findings[len(k.found.Findings)-1]
}

func (k *checking) has(item string) bool { return k.find(item) != nil }

// complete adds the missing items as unknown, and sorts all items.
func (k *checking) complete() {
	for _, item := range items() {
		if !k.has(item) {
			k.add(item, provider.FindingUnknown, "not_checked", "")
		}
	}
	if f := k.find(itemToken); k.app != "" { // for links to the application at the channel
		f.Values = maps.Clone(f.Values)
		if f.Values == nil {
			f.Values = map[string]string{}
		}
		f.Values["app"] = k.app
	}
	slices.SortStableFunc(k.found.Findings, func(x, y provider.Finding) int {
		return slices.Index(items(), x.Item) - slices.Index(items(), y.Item)
	})
}

// reply is the response to a request of a check.
type reply struct {
	refused *graphError // nil if not refused
	detail  string      // of the refusal or failure
	status  int
	header  http.Header
	lost    error // no usable response
}

func (r reply) code() int {
	if r.refused == nil {
		return -1
	}
	return *r.refused.Code
}

// denies reports whether the token lacks a permission.
func (r reply) denies() bool {
	return r.code() == 3 || r.code() == 10 || r.code() == 131005 || r.code() >= 200 && r.code() <= 299
}

// ask reads one node or edge.
func (k *checking) ask(ctx context.Context, method, path string, query url.Values, into any) reply {
	ctx, cancel := context.WithTimeout(ctx, maxAsk)
	defer cancel()
	u, err := url.Parse(k.a.address(path))
	if err != nil {
		return reply{lost: err}
	}
	u.RawQuery = query.Encode()
	var body []byte
	if method == http.MethodPost {
		body = []byte("{}")
	}
	got, err := k.c.exchange(ctx, k.a, method, u, body)
	if err != nil {
		return reply{lost: err}
	}
	r := reply{status: got.status, header: got.header}
	var b graphBody
	switch {
	case decode(got.body, &b) != nil:
		r.lost = errors.New("a response without the channel's JSON")
	case b.Error != nil && b.Error.Code != nil:
		r.refused, r.detail = b.Error, b.Error.detail(b.Error.rule(got.status))
	case got.status/100 != 2 || decode(got.body, into) != nil:
		r.lost = errors.New("a response without the channel's error")
	}
	return r
}

// phoneNode has the fields requested of a number. Newer fields are requested separately, because a version that lacks
// one of the fields refuses the whole request.
type phoneNode struct {
	ID           nodeID `json:"id"`
	Display      string `json:"display_phone_number"`
	VerifiedName string `json:"verified_name"`
	Verification string `json:"code_verification_status"`
	Quality      string `json:"quality_rating"`
	Platform     string `json:"platform_type"`
	NameStatus   string `json:"name_status"`
	Status       string `json:"status"`
}

const phoneFields = "id,display_phone_number,verified_name,code_verification_status,quality_rating,platform_type,name_status,status"

// phone requests the number. It is the first request, so it also shows whether the channel is reachable, supports the
// version and accepts the token.
func (k *checking) phone(ctx context.Context) bool {
	var n phoneNode
	r := k.ask(ctx, http.MethodGet, k.a.phoneNumberID, url.Values{"fields": {phoneFields}}, &n)
	if !k.connection(r) || !k.version(r) {
		return false
	}
	switch {
	case r.code() == 0 || r.code() == 190:
		code := "token_invalid"
		if r.refused.Subcode == subcodeExpired {
			code = "token_expired"
		}
		k.add(itemToken, provider.FindingBad, code, r.detail)
		return false
	case r.denies():
		k.add(itemPhone, provider.FindingBad, "phone_denied", r.detail)
		return true
	case r.code() == 33, r.code() == 100 && r.refused.Subcode == subcodeNoObject:
		k.add(itemPhone, provider.FindingBad, "phone_absent", r.detail)
		return true
	case r.refused != nil || r.lost != nil || n.ID == "":
		k.add(itemPhone, provider.FindingUnknown, "phone_unclear", r.detail)
		return true
	case n.Display == "" && n.Platform == "": // an object of another kind with that id, such as the account
		k.add(itemPhone, provider.FindingBad, "phone_other", "")
		return true
	}
	k.add(itemPhone, provider.FindingOK, "phone_ok", "").Values = map[string]string{"name": shorten(n.VerifiedName, maxName)}
	k.describe(&n)
	return true
}

const (
	subcodeExpired = 463
	maxName        = 100
)

// connection reports whether there was a response, and whether it came from the channel.
func (k *checking) connection(r reply) bool {
	var denied *egress.DeniedError
	switch {
	case errors.As(r.lost, &denied):
		k.add(itemConnection, provider.FindingBad, "address_denied", "")
	case r.lost != nil && r.status == 0:
		k.add(itemConnection, provider.FindingBad, "unreachable", "")
	case r.lost != nil:
		k.add(itemConnection, provider.FindingBad, "not_the_channel", "")
	default:
		k.add(itemConnection, provider.FindingOK, "connected", "")
		return true
	}
	return false
}

// version reports whether the channel supports the requested version. It serves a retired version with the oldest
// supported one.
func (k *checking) version(r reply) bool {
	served := r.header.Get("Facebook-Api-Version")
	switch {
	case r.code() == 2500:
		k.add(itemVersion, provider.FindingBad, "version_unknown", r.detail)
		return false
	case served == "":
		k.add(itemVersion, provider.FindingOK, "version_served", "")
	case served != k.a.version:
		if !versionForm.MatchString(served) {
			served = "?"
		}
		k.add(itemVersion, provider.FindingWarn, "version_ended", "").Values = map[string]string{"version": k.a.version, "served": served}
		return true
	default:
		k.add(itemVersion, provider.FindingOK, "version_served", "")
	}
	k.found.Findings[len(k.found.Findings)-1].Values = map[string]string{"version": k.a.version}
	return true
}

// describe judges the channel's description of the number.
func (k *checking) describe(n *phoneNode) {
	k.sameNumber(n)
	k.registration(n)
	k.name(n)
	k.quality(n)
}

func (k *checking) sameNumber(n *phoneNode) {
	digits := digitsOf(n.Display)
	switch {
	case digits == "":
	case identity.Number(k.number).Is(digits): // numbers of Brazil may be displayed without the ninth digit
		k.add(itemNumber, provider.FindingOK, "number_same", "")
	default:
		found := k.add(itemNumber, provider.FindingBad, "number_differs", "")
		found.Values = map[string]string{"number": k.number, "actual": shorten(digits, maxName)}
	}
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// word returns a word of the channel in a form that may be shown.
func word(s string) string { return shorten(strings.ToUpper(strings.TrimSpace(s)), maxName) }

func (k *checking) registration(n *phoneNode) {
	state, code, value := provider.FindingOK, "registered", word(n.Status)
	switch {
	case slices.Contains([]string{"BANNED", "RESTRICTED", "FLAGGED", "DISCONNECTED", "DELETED", "OFFLINE", "RATE_LIMITED"}, word(n.Status)):
		state, code = provider.FindingBad, "number_stopped"
		if word(n.Status) == "FLAGGED" || word(n.Status) == "RATE_LIMITED" {
			state = provider.FindingWarn
		}
	case word(n.Platform) == "ON_PREMISE":
		state, code = provider.FindingBad, "on_premise"
	case n.Platform != "" && word(n.Platform) != "CLOUD_API":
		state, code = provider.FindingBad, "not_registered"
		if word(n.Verification) == "NOT_VERIFIED" {
			code = "not_verified"
		}
	case n.Platform == "":
		state, code = provider.FindingUnknown, "not_checked"
	}
	k.add(itemRegistered, state, code, "").Values = map[string]string{"status": value}
}

// coexistence requests whether the number is also used in the channel's own app, separately, because not every version has
// the field. Such a number is registered by the app.
func (k *checking) coexistence(ctx context.Context) bool {
	f := k.find(itemRegistered)
	if f == nil || f.Code != "registered" && f.Code != "not_registered" {
		return true
	}
	var n struct {
		OnApp bool `json:"is_on_biz_app"`
	}
	r := k.ask(ctx, http.MethodGet, k.a.phoneNumberID, url.Values{"fields": {"is_on_biz_app"}}, &n)
	if r.refused == nil && r.lost == nil && n.OnApp {
		f.State, f.Code = provider.FindingOK, "coexistence"
	}
	return true
}

func (k *checking) name(n *phoneNode) {
	state, code := provider.FindingUnknown, "not_checked"
	switch word(n.NameStatus) {
	case "APPROVED", "AVAILABLE_WITHOUT_REVIEW":
		state, code = provider.FindingOK, "name_approved"
	case "PENDING_REVIEW", "NONE":
		state, code = provider.FindingWarn, "name_pending"
	case "DECLINED":
		state, code = provider.FindingBad, "name_declined"
	case "EXPIRED":
		state, code = provider.FindingWarn, "name_expired"
	}
	k.add(itemName, state, code, "").Values = map[string]string{"name": shorten(n.VerifiedName, maxName)}
}

func (k *checking) quality(n *phoneNode) {
	state, code := provider.FindingUnknown, "not_checked"
	switch word(n.Quality) {
	case "GREEN":
		state, code = provider.FindingOK, "quality_green"
	case "YELLOW":
		state, code = provider.FindingWarn, "quality_yellow"
	case "RED":
		state, code = provider.FindingBad, "quality_red"
	case "UNKNOWN", "NA":
		state, code = provider.FindingOK, "quality_unrated"
	}
	k.found.Quality = word(n.Quality)
	k.add(itemQuality, state, code, "")
}

// token requests the token's permissions and expiry. The channel accepts the token to inspect only in the query. That
// query is sent only to the channel and is never logged.
func (k *checking) token(ctx context.Context) bool {
	var x struct {
		Data struct {
			AppID   nodeID   `json:"app_id"`
			Valid   *bool    `json:"is_valid"`
			Expires int64    `json:"expires_at"`
			Scopes  []string `json:"scopes"`
		} `json:"data"`
	}
	r := k.ask(ctx, http.MethodGet, "debug_token", url.Values{"input_token": {k.a.accessToken}}, &x)
	d := &x.Data
	if r.refused != nil || r.lost != nil || d.Valid == nil {
		k.add(itemToken, provider.FindingOK, "token_taken", "") // the token was accepted when requesting the number
		return true
	}
	if idForm.MatchString(string(d.AppID)) {
		k.app = string(d.AppID)
	}
	missing := slices.DeleteFunc(scopes(), func(s string) bool { return slices.Contains(d.Scopes, s) })
	left := time.Unix(d.Expires, 0).Sub(k.now)
	expires := map[string]string{"at": carillon.FormatTime(time.Unix(d.Expires, 0))}
	switch {
	case !*d.Valid, d.Expires > 0 && left <= 0:
		code := "token_invalid"
		if d.Expires > 0 && left <= 0 {
			code = "token_expired"
		}
		k.add(itemToken, provider.FindingBad, code, "")
		return false
	case len(missing) > 0:
		k.add(itemToken, provider.FindingBad, "token_scopes", "").Values = map[string]string{"scopes": strings.Join(missing, ", ")}
	case d.Expires > 0 && left < temporary:
		k.add(itemToken, provider.FindingWarn, "token_temporary", "").Values = expires
	case d.Expires > 0 && left < expiresSoon:
		k.add(itemToken, provider.FindingWarn, "token_expires", "").Values = expires
	case d.Expires > 0:
		k.add(itemToken, provider.FindingOK, "token_until", "").Values = expires
	default:
		k.add(itemToken, provider.FindingOK, "token_permanent", "")
	}
	return true
}

// account searches for the number among those of the business account.
func (k *checking) account(ctx context.Context) bool {
	found := false
	r, complete := k.numbers(ctx, "id", func(n phoneNode) bool {
		found = string(n.ID) == k.a.phoneNumberID
		return !found
	})
	switch {
	case r.denies():
		k.add(itemAccount, provider.FindingBad, "account_denied", r.detail)
	case r.code() == 100:
		k.add(itemAccount, provider.FindingBad, "account_absent", r.detail)
	case found:
		k.add(itemAccount, provider.FindingOK, "account_ok", "")
	case complete:
		k.add(itemAccount, provider.FindingBad, "account_other", "")
	default:
		k.add(itemAccount, provider.FindingUnknown, "account_unclear", r.detail)
	}
	return true
}

// numbers visits the numbers of the business account until visit returns false. complete reports whether it visited all.
func (k *checking) numbers(ctx context.Context, fields string, visit func(n phoneNode) bool) (r reply, complete bool) {
	q := url.Values{"fields": {fields}, "limit": {"100"}}
	for range maxNumbers {
		var page struct {
			Data   []phoneNode `json:"data"`
			Paging paging      `json:"paging"`
		}
		if r = k.ask(ctx, http.MethodGet, k.a.wabaID+"/phone_numbers", q, &page); r.refused != nil || r.lost != nil {
			return r, false
		}
		for _, n := range page.Data {
			if !visit(n) {
				return r, false
			}
		}
		if page.Paging.Next == "" || page.Paging.Cursors.After == "" {
			return r, true
		}
		q.Set("after", page.Paging.Cursors.After)
	}
	return r, false
}

// limit requests the messaging limit and the callback address, separately, because not every version has them.
func (k *checking) limit(ctx context.Context) bool {
	var n struct {
		Limit string `json:"whatsapp_business_manager_messaging_limit"`
	}
	r := k.ask(ctx, http.MethodGet, k.a.phoneNumberID, url.Values{"fields": {"whatsapp_business_manager_messaging_limit"}}, &n)
	if r.refused == nil && r.lost == nil && n.Limit != "" {
		k.found.Limit = word(n.Limit)
		k.add(itemLimit, provider.FindingOK, "limit_known", "").Values = map[string]string{"limit": k.found.Limit}
	}
	var w struct {
		Webhook struct {
			Application string `json:"application"`
			Account     string `json:"whatsapp_business_account"`
			Number      string `json:"phone_number"`
		} `json:"webhook_configuration"`
	}
	r = k.ask(ctx, http.MethodGet, k.a.phoneNumberID, url.Values{"fields": {"webhook_configuration"}}, &w)
	if r.refused == nil && r.lost == nil {
		// the most specific address takes precedence
		for _, address := range []string{w.Webhook.Number, w.Webhook.Account, w.Webhook.Application} {
			if address != "" {
				k.found.Callback = address
				break
			}
		}
	}
	return true
}

// secret checks the app secret: the channel refuses a proof made with another application's secret.
func (k *checking) secret(ctx context.Context) bool {
	if slices.ContainsFunc(k.found.Findings, func(f provider.Finding) bool {
		return f.Item == itemPhone && f.State != provider.FindingOK
	}) {
		return true // a refusal would be ambiguous
	}
	mac := hmac.New(sha256.New, []byte(k.a.appSecret))
	_, _ = mac.Write([]byte(k.a.accessToken))
	var n phoneNode
	r := k.ask(ctx, http.MethodGet, k.a.phoneNumberID, url.Values{
		"fields": {"id"}, "appsecret_proof": {hex.EncodeToString(mac.Sum(nil))},
	}, &n)
	switch {
	case r.code() == 100 || r.code() == 190:
		k.add(itemSecret, provider.FindingBad, "secret_wrong", r.detail)
	case r.refused == nil && r.lost == nil && n.ID != "":
		k.add(itemSecret, provider.FindingOK, "secret_ok", "")
	}
	return true
}

// subscription checks whether the token's application receives the account's callbacks.
func (k *checking) subscription(ctx context.Context) bool {
	var x struct {
		Data []struct {
			App struct {
				ID nodeID `json:"id"`
			} `json:"whatsapp_business_api_data"`
		} `json:"data"`
	}
	r := k.ask(ctx, http.MethodGet, k.a.wabaID+"/subscribed_apps", nil, &x)
	switch {
	case r.refused != nil || r.lost != nil:
	case len(x.Data) == 0:
		k.add(itemSubscribed, provider.FindingBad, "not_subscribed", "")
	case k.app == "":
		k.add(itemSubscribed, provider.FindingOK, "subscribed_some", "")
	default:
		for _, d := range x.Data {
			if string(d.App.ID) == k.app {
				k.add(itemSubscribed, provider.FindingOK, "subscribed", "")
				return true
			}
		}
		k.add(itemSubscribed, provider.FindingBad, "subscribed_other", "")
	}
	return true
}

// Subscribe subscribes the token's application to the callbacks of the sender's account. Errors: those of template
// management.
func (c *Client) Subscribe(ctx context.Context, s *carillon.Sender) error {
	a, err := c.account(s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxAsk)
	defer cancel()
	k := &checking{c: c, a: a}
	var done struct {
		Success bool `json:"success"`
	}
	r := k.ask(ctx, http.MethodPost, a.wabaID+"/subscribed_apps", nil, &done)
	switch {
	case r.refused != nil:
		return refusal(carillon.InConflict("The channel refused: "+r.detail), nil)
	case r.lost != nil:
		return unavailable(r.lost, 0)
	case !done.Success:
		return unavailable(errors.New("response to a subscription without success"), 0)
	}
	return nil
}

// codeMisclassified is the channel's code for a limit because of templates with the wrong category.
const codeMisclassified = "131064"

// Explain returns a finding for the detail of a fault that a check does not find; nil for others.
func Explain(detail string) *provider.Finding {
	if !strings.HasPrefix(detail, codeMisclassified+" ") {
		return nil
	}
	return &provider.Finding{Item: itemTemplates, State: provider.FindingBad, Code: "templates_misclassified", Detail: detail}
}
