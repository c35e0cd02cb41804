package whatsapp

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
)

// Callback is the content of one callback. The channel guarantees neither order nor uniqueness.
type Callback struct {
	Receipts  []provider.Receipt
	Templates []provider.TemplateEvent
	Replies   []provider.ReplyReceipt
	Inbound   map[string][]provider.Inbound     // by PhoneNumberID; "" if the channel does not send it
	History   map[string][]provider.HistoryPart // by PhoneNumberID
	Calls     map[string][]provider.CallReport  // by PhoneNumberID
	Unnamed   []provider.Inbound                // messages without an author
	Notices   []Notice
	// Preferences are choices about marketing, by PhoneNumberID. The key "" applies to all numbers of the account.
	Preferences map[string][]provider.Preference
	Ignored     int // of other senders, not stored, or about the account

	// PhoneNumberIDs are the channel's ids of the numbers concerned, without duplicates. One callback address can
	// serve several numbers of an application, so the caller must check that a receipt's message belongs to a sender
	// behind this address.
	PhoneNumberIDs []string
	WABAIDs        []string // ids of the business accounts concerned, without duplicates
}

// Notice is a callback's report about a business account or one of its numbers.
type Notice struct {
	WABAID string
	Number string // digits; empty if it concerns the account
	provider.Notice
}

// Concerns reports whether a callback is about a sender with these settings.
func (cb *Callback) Concerns(raw json.RawMessage) bool {
	s, err := parseSettings(raw)
	if err != nil {
		return false
	}
	if len(cb.PhoneNumberIDs) > 0 {
		return slices.Contains(cb.PhoneNumberIDs, s.phoneNumberID)
	}
	return slices.Contains(cb.WABAIDs, s.wabaID)
}

// TemplatesFor returns the reports on templates that concern the account of the sender with these settings.
func (cb *Callback) TemplatesFor(raw json.RawMessage) []provider.TemplateEvent {
	if s, err := parseSettings(raw); err != nil || !slices.Contains(cb.WABAIDs, s.wabaID) {
		return nil
	}
	return cb.Templates
}

// Newest returns the newest notice about the sender's number or account, or nil if there is none.
func (cb *Callback) Newest(raw json.RawMessage, number string) (newest *provider.Notice) {
	s, err := parseSettings(raw)
	if err != nil {
		return nil
	}
	for i := range cb.Notices {
		n := &cb.Notices[i]
		if n.WABAID == s.wabaID && (n.Number == "" || identity.Number(number).Is(n.Number)) && (newest == nil || !n.At.Before(newest.At)) {
			newest = &n.Notice
		}
	}
	return newest
}

type envelope struct {
	Object string `json:"object"`
	Entry  list[struct {
		ID      nodeID  `json:"id"`
		Time    seconds `json:"time"`
		Changes list[struct {
			Field string `json:"field"`
			Value value  `json:"value"`
		}] `json:"changes"`
	}] `json:"entry"`
}

// value holds the members of every field's value. A change sets only those of its field.
type value struct {
	Metadata struct {
		PhoneNumberID nodeID `json:"phone_number_id"`
		Display       loose  `json:"display_phone_number"`
	} `json:"metadata"`
	Statuses list[status]     `json:"statuses"`
	Messages list[inbound]    `json:"messages"`
	Contacts list[profile]    `json:"contacts"`
	Wishes   list[preference] `json:"user_preferences"`
	Calls    list[callReport] `json:"calls"`
	appValue
	templateValue
	noticeValue
}

// noticeValue holds the members of phone_number_quality_update and account_update other than the event.
type noticeValue struct {
	Display string `json:"display_phone_number"`
	Limit   loose  `json:"max_daily_conversations_per_business"`
	Current string `json:"current_limit"` // of versions before February 2026
}

type status struct {
	ID              string       `json:"id"`
	Status          string       `json:"status"`
	Timestamp       seconds      `json:"timestamp"`
	RecipientID     loose        `json:"recipient_id"`
	RecipientUserID string       `json:"recipient_user_id"`
	Data            string       `json:"biz_opaque_callback_data"`
	Errors          []graphError `json:"errors"`
	Pricing         struct {
		Type     string `json:"type"`
		Category string `json:"category"`
	} `json:"pricing"`
}

// ParseCallback parses a verified body. It returns a *carillon.Error if the body is not a JSON object. Unknown or
// incomplete entries, and entries about other messages, are counted as ignored: an error would make the channel repeat
// the whole callback for days.
func ParseCallback(body []byte, senderUID int64) (Callback, error) {
	var e envelope
	if err := decode(body, &e); err != nil {
		return Callback{}, &carillon.Error{
			Code: carillon.ValidationFailed, Message: "Invalid value",
			Details: carillon.Details{{Key: "field", Value: "body"}, {Key: "reason", Value: "This must be JSON"}},
			Err:     fmt.Errorf("parse callback: %w", err),
		}
	}
	var cb Callback
	if e.Object != "whatsapp_business_account" {
		cb.Ignored++
		return cb, nil
	}
	for i := range e.Entry {
		entry := &e.Entry[i]
		if id := string(entry.ID); id != "" && !slices.Contains(cb.WABAIDs, id) {
			cb.WABAIDs = append(cb.WABAIDs, id)
		}
		for j := range entry.Changes {
			f := entry.Changes[j].Field
			if f == "phone_number_quality_update" || f == "account_update" || f == "business_capability_update" {
				cb.addNotice(f, string(entry.ID), entry.Time, &entry.Changes[j].Value)
				continue
			}
			cb.addChange(entry.Changes[j].Field, entry.Time, &entry.Changes[j].Value, senderUID)
		}
	}
	return cb, nil
}

// addChange adds one change by its field.
func (cb *Callback) addChange(field string, at seconds, v *value, senderUID int64) {
	switch field {
	case "messages":
		cb.addMessages(v, senderUID)
	case "message_template_status_update", "message_template_quality_update", "message_template_components_update",
		"template_category_update":
		cb.addTemplate(v.read(senderUID, at))
	case "user_preferences":
		cb.addPreferences(v)
	case "calls":
		cb.addCalls(v)
	case "smb_message_echoes":
		cb.addEchoes(v)
	case "history", "smb_app_state_sync":
		cb.addHistory(field, v)
	default:
		cb.Ignored++
	}
}

// capabilityUpdate is the event of a report about the limits of the account.
const capabilityUpdate = "CAPABILITY_UPDATE"

// addNotice adds a report about a number or the account. A report whose event does not have the channel's format is
// ignored.
func (cb *Callback) addNotice(field, waba string, at seconds, v *value) {
	if field == "business_capability_update" {
		v.Event = capabilityUpdate // the channel names none
	}
	if waba == "" || at == 0 || !eventForm.MatchString(v.Event) {
		cb.Ignored++
		return
	}
	n := Notice{WABAID: waba, Notice: provider.Notice{Event: v.Event, At: at.instant()}}
	if field == "phone_number_quality_update" {
		if n.Number = digitsOf(v.Display); n.Number == "" {
			cb.Ignored++
			return
		}
	}
	if limit := cmp.Or(string(v.Limit), v.Current); field != "account_update" && eventForm.MatchString(limit) {
		n.Limit = limit
	}
	cb.Notices = append(cb.Notices, n)
}

// eventForm is the format of the channel's event names.
var eventForm = regexp.MustCompile(`^[A-Z0-9_]{1,64}$`)

// chargeForm is the format of the channel's types and categories of prices. The channel writes one category with both
// of - and _.
var chargeForm = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

func (cb *Callback) addTemplate(e provider.TemplateEvent, ok bool) {
	if !ok {
		cb.Ignored++
		return
	}
	cb.Templates = append(cb.Templates, e)
}

// number returns the channel's id of the number that a change concerns, and adds it to those of the callback.
func (cb *Callback) number(v *value) string {
	id := string(v.Metadata.PhoneNumberID)
	if id != "" && !slices.Contains(cb.PhoneNumberIDs, id) {
		cb.PhoneNumberIDs = append(cb.PhoneNumberIDs, id)
	}
	return id
}

func (cb *Callback) addMessages(v *value, senderUID int64) {
	id := cb.number(v)
	for i := range v.Statuses {
		if r, ok := v.Statuses[i].receipt(senderUID); ok {
			cb.Receipts = append(cb.Receipts, r)
		} else if r, ok := v.Statuses[i].replyReceipt(); ok {
			cb.Replies = append(cb.Replies, r)
		} else {
			cb.Ignored++
		}
	}
	for i := range v.Messages {
		cb.addInbound(id)(v.Messages[i].read(v.Contacts))
	}
}

// addInbound returns a function that adds a message to or from a number.
func (cb *Callback) addInbound(id string) func(m provider.Inbound, named bool) {
	return func(m provider.Inbound, named bool) {
		if !named {
			cb.Unnamed = append(cb.Unnamed, m)
			return
		}
		if cb.Inbound == nil {
			cb.Inbound = map[string][]provider.Inbound{}
		}
		cb.Inbound[id] = append(cb.Inbound[id], m)
	}
}

// preference is a person's choice about marketing in the channel's settings.
type preference struct {
	WaID      loose   `json:"wa_id"`
	UserID    string  `json:"user_id"`
	Category  string  `json:"category"`
	Value     string  `json:"value"`
	Timestamp seconds `json:"timestamp"`
}

// addPreferences adds choices about marketing, earliest first. The channel has no other categories yet. A sign-up counts as a
// resume; unknown values are ignored and counted.
func (cb *Callback) addPreferences(v *value) {
	id := cb.number(v)
	for _, w := range v.Wishes {
		p := provider.Preference{
			Number: w.WaID.number(), UserID: userID(w.UserID), Stop: w.Value == "stop", At: w.Timestamp.instant(),
		}
		known := p.Stop || w.Value == "resume" || w.Value == "signup"
		if w.Category != "marketing_messages" || !known || len(p.Addresses()) == 0 {
			cb.Ignored++
			continue
		}
		if cb.Preferences == nil {
			cb.Preferences = map[string][]provider.Preference{}
		}
		cb.Preferences[id] = append(cb.Preferences[id], p)
	}
	slices.SortStableFunc(cb.Preferences[id], func(a, b provider.Preference) int { return a.At.Compare(b.At) })
}

// InboundFor returns messages to the sender's number, and messages to other numbers by PhoneNumberID.
func (cb *Callback) InboundFor(raw json.RawMessage) (own []provider.Inbound, others map[string][]provider.Inbound) {
	id := PhoneNumberID(raw)
	others = maps.Clone(cb.Inbound)
	if id != "" {
		own = others[id]
		delete(others, id)
	}
	return own, others
}

// PreferencesFor returns the marketing preferences that concern the sender with these settings.
func (cb *Callback) PreferencesFor(raw json.RawMessage) []provider.Preference {
	if !cb.Concerns(raw) {
		return nil
	}
	return slices.Concat(cb.Preferences[""], cb.Preferences[PhoneNumberID(raw)])
}

// receipt converts a status to a receipt. It returns false if the status is not about one of our messages, or is not
// stored.
func (s *status) receipt(senderUID int64) (provider.Receipt, bool) {
	ref, err := provider.ParseRef(s.Data)
	at := s.Timestamp.instant()
	if err != nil || at.IsZero() {
		return provider.Receipt{}, false
	}
	r := provider.Receipt{Ref: ref, SenderUID: senderUID, ProviderID: s.ID, At: at}
	s.recipient(&r)
	if chargeForm.MatchString(s.Pricing.Type) && chargeForm.MatchString(s.Pricing.Category) {
		r.Charge = provider.Charge{Type: s.Pricing.Type, Category: strings.ReplaceAll(s.Pricing.Category, "-", "_")}
	}
	ok := s.state(&r)
	return r, ok
}

// state sets the state that a status reports. It returns false if the state is not stored.
func (s *status) state(r *provider.Receipt) bool {
	switch s.Status {
	case "sent":
		r.State = carillon.StateSent
	case "delivered":
		r.State = carillon.StateDelivered
	case "read", "played":
		r.State = carillon.StateRead
	case "failed":
		r.State, r.Reason = carillon.StateFailed, carillon.ReasonProviderRefused
		s.explain(r)
	default:
		return false
	}
	return true
}

// explain sets the reason from the first error with a code, by the same table as for responses.
func (s *status) explain(r *provider.Receipt) {
	for i := range s.Errors {
		e := &s.Errors[i]
		if e.Code == nil {
			continue
		}
		found := e.rule(0)
		r.Reason, r.Detail = found.receiptReason(), e.detail(found)
		r.OptOut = r.Reason == carillon.ReasonRecipientOptedOut
		return
	}
}

// seconds is a timestamp of the channel: Unix seconds, as a string or a number. Anything else becomes 0.
type seconds int64

// UnmarshalJSON accepts both forms.
func (s *seconds) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	const last = 253402300799 // the year 9999
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 && n <= last {
		*s = seconds(n)
	}
	return nil
}

func (s seconds) instant() time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(int64(s), 0).UTC()
}

// Handshake checks the channel's request to confirm a callback address. It returns the challenge to respond with if
// the token is the sender's. Tokens are compared in constant time.
func Handshake(settings json.RawMessage, query url.Values) (challenge string, ok bool) {
	s, err := parseSettings(settings)
	if err != nil || query.Get("hub.mode") != "subscribe" {
		return "", false
	}
	// Compare digests, so that the time does not depend on the length.
	want := sha256.Sum256([]byte(s.verifyToken))
	got := sha256.Sum256([]byte(query.Get("hub.verify_token")))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return "", false
	}
	challenge = query.Get("hub.challenge")
	return challenge, challenge != ""
}

// SignatureHeader is the header with the signature of a callback.
const SignatureHeader = "X-Hub-Signature-256"

// Signed reports whether a signature is well formed, which can be checked before reading the body.
func Signed(signature string) bool {
	_, ok := digestOf(signature)
	return ok
}

// Verify reports whether the channel signed a callback's body. signature is the value of SignatureHeader, body the
// bytes as received.
func Verify(settings json.RawMessage, signature string, body []byte) bool {
	s, err := parseSettings(settings)
	got, ok := digestOf(signature)
	if err != nil || !ok {
		return false
	}
	mac := hmac.New(sha256.New, []byte(s.appSecret))
	mac.Write(body)
	return hmac.Equal(got, mac.Sum(nil))
}

func digestOf(signature string) ([]byte, bool) {
	text, found := strings.CutPrefix(signature, "sha256=")
	digest, err := hex.DecodeString(text)
	return digest, found && err == nil && len(digest) == sha256.Size
}
