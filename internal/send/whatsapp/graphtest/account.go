package graphtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Account is the server's data about its account, its number and the token, in the channel's terms.
type Account struct {
	DisplayNumber string // default +1 555-555-0100
	VerifiedName  string
	Quality       string // default GREEN
	Platform      string // default CLOUD_API
	Verification  string // default VERIFIED
	NameStatus    string // default APPROVED
	Status        string // default CONNECTED
	Limit         string // default TIER_2K; "-": the version lacks the field
	OtherNumbers  int    // numbers of the account listed before this one, 100 per page
	Foreign       bool   // the number belongs to another account
	AppID         string // default 3000001
	Scopes        []string
	Expires       time.Time    // expiry of the token; zero value: never
	Expired       bool         // the token is refused as expired
	NoDebug       bool         // the token must not be inspected
	Subscribed    []string     // applications that receive callbacks
	Callback      string       // callback address, as the channel shows it
	Override      string       // callback address of the number; takes precedence over Callback
	Codes         []DialogCode // of the sign-up dialog
	Served        string       // version that serves the requests; default: the requested version
	Lacks         string       // permission that the token lacks: messages or management
	Counts        bool         // the account counts by template
	Statistics    []Statistics
	Coexistence
	Calling
}

// account holds the current Account.
type account struct {
	o   Options
	mu  sync.Mutex
	now Account
}

func newAccount(o Options) account {
	return account{o: o, now: Account{
		DisplayNumber: "+1 555-555-0100", VerifiedName: "Acme", Quality: "GREEN", Platform: "CLOUD_API", Verification: "VERIFIED",
		NameStatus: "APPROVED",
		Status:     "CONNECTED", Limit: "TIER_2K", AppID: "3000001", Served: version,
		Calling: Calling{CallStatus: "DISABLED", SIPStatus: "DISABLED", Webhooks: "DISABLED", SRTP: "DTLS"},
		Scopes:  []string{"whatsapp_business_management", "whatsapp_business_messaging"},
	}}
}

// ChangeAccount changes the data about the account.
func (a *account) ChangeAccount(change func(*Account)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.now)
}

// Account returns the current data about the account.
func (a *account) Account() Account {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now
	now.Subscribed, now.Codes, now.Statistics = slices.Clone(now.Subscribed), slices.Clone(now.Codes), slices.Clone(now.Statistics)
	return now
}

// proven checks the proof of a request, if it has one: the token, signed with the application's secret.
func (a *account) proven(r *http.Request) *Error {
	proof := r.URL.Query().Get("appsecret_proof")
	if proof == "" {
		return nil
	}
	mac := hmac.New(sha256.New, []byte(a.o.AppSecret))
	mac.Write([]byte(a.o.AccessToken))
	if proof != hex.EncodeToString(mac.Sum(nil)) {
		return &Error{HTTP: 400, Code: 100, Message: "Invalid appsecret_proof provided in the API argument"}
	}
	return nil
}

// phone returns the requested fields of the number.
func (a *account) phone(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	if e := a.proven(r); e != nil {
		return e
	}
	now := a.Account()
	if now.Lacks == "management" {
		return &Error{HTTP: 403, Code: 200, Message: "You do not have permission to access this field"}
	}
	known := map[string]any{
		"id": a.o.PhoneNumberID, "display_phone_number": now.DisplayNumber, "verified_name": now.VerifiedName,
		"quality_rating": now.Quality,
		"platform_type":  now.Platform, "code_verification_status": now.Verification, "name_status": now.NameStatus, "status": now.Status,
		"is_on_biz_app": now.OnApp, "whatsapp_business_manager_messaging_limit": now.Limit,
		"webhook_configuration": map[string]string{"application": now.Callback, "phone_number": now.Override},
	}
	if now.Limit == "-" {
		delete(known, "whatsapp_business_manager_messaging_limit")
	}
	shown := map[string]any{"id": a.o.PhoneNumberID}
	for field := range strings.SplitSeq(r.URL.Query().Get("fields"), ",") {
		value, ok := known[field]
		if !ok {
			return invalid("Tried accessing nonexisting field (" + field + ")")
		}
		shown[field] = value
	}
	respond(w, 200, shown)
	return nil
}

const numbersPage = 100

// numbers lists the account's numbers, this one last.
func (a *account) numbers(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	now := a.Account()
	if now.Lacks == "management" {
		return &Error{HTTP: 403, Code: 200, Message: "You do not have permission to access this field"}
	}
	for field := range strings.SplitSeq(r.URL.Query().Get("fields"), ",") {
		if field != "id" && field != "display_phone_number" {
			return invalid("Tried accessing nonexisting field (" + field + ")")
		}
	}
	all := slices.Repeat([]string{"1999999"}, now.OtherNumbers)
	if !now.Foreign {
		all = append(all, a.o.PhoneNumberID)
	}
	from := 0
	if after := r.URL.Query().Get("after"); after != "" {
		from = len(after) * numbersPage
	}
	to := min(from+numbersPage, len(all))
	data := []map[string]string{}
	for _, id := range all[from:to] {
		row := map[string]string{"id": id}
		if strings.Contains(r.URL.Query().Get("fields"), "display_phone_number") {
			row["display_phone_number"] = now.DisplayNumber
		}
		data = append(data, row)
	}
	paging := map[string]any{"cursors": map[string]string{"after": strings.Repeat("x", from/numbersPage+1)}}
	if to < len(all) {
		paging["next"] = "http://" + r.Host + r.URL.Path
	}
	respond(w, 200, map[string]any{"data": data, "paging": paging})
	return nil
}

// debugToken returns the permissions of a token.
func (a *account) debugToken(w http.ResponseWriter, r *http.Request, _ []byte) *Error {
	now := a.Account()
	if now.NoDebug {
		return &Error{
			HTTP: 400, Code: 100, Message: "You must provide an app access token, or a user access token that is an owner or " +
				"developer of the app",
		}
	}
	if r.URL.Query().Get("input_token") != a.o.AccessToken {
		respond(w, 200, map[string]any{"data": map[string]any{"is_valid": false, "scopes": []string{}}})
		return nil
	}
	expires := int64(0)
	if !now.Expires.IsZero() {
		expires = now.Expires.Unix()
	}
	respond(w, 200, map[string]any{"data": map[string]any{
		"app_id": now.AppID, "type": "SYSTEM_USER", "application": "Acme", "expires_at": expires,
		"is_valid": expires == 0 || now.Expires.After(time.Now()), "scopes": now.Scopes,
	}})
	return nil
}

func (a *account) subscribed(w http.ResponseWriter, _ *http.Request, _ []byte) *Error {
	data := []map[string]any{}
	for _, id := range a.Account().Subscribed {
		data = append(data, map[string]any{"whatsapp_business_api_data": map[string]string{
			"id": id, "name": "Acme",
			"link": "https://example.com",
		}})
	}
	respond(w, 200, map[string]any{"data": data})
	return nil
}

func (a *account) subscribe(w http.ResponseWriter, _ *http.Request, _ []byte) *Error {
	if a.Account().Lacks != "" {
		return &Error{HTTP: 403, Code: 200, Message: "Permissions error"}
	}
	a.ChangeAccount(func(now *Account) {
		if !slices.Contains(now.Subscribed, now.AppID) {
			now.Subscribed = append(now.Subscribed, now.AppID)
		}
	})
	respond(w, 200, map[string]any{"success": true})
	return nil
}

// QualityBody returns the body of a callback about the number's limit, such as THROUGHPUT_UPGRADE or FLAGGED.
func (s *Server) QualityBody(event, limit string) []byte {
	return s.envelope("phone_number_quality_update", map[string]any{
		"display_phone_number": s.display(), "event": event, "current_limit": limit, "max_daily_conversations_per_business": limit,
	})
}

// AccountBody returns the body of a callback about the account, such as DISABLED_UPDATE.
func (s *Server) AccountBody(event string) []byte {
	return s.envelope("account_update", map[string]any{"event": event})
}
