package whatsapp

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/provider"
)

// Callback is the content of one callback. Neither order nor uniqueness is guaranteed by the channel.
type Callback struct {
	Receipts  []provider.Receipt
	Templates []provider.TemplateEvent
	Replies   []provider.ReplyReceipt
	Inbound   map[string][]provider.Inbound // by PhoneNumberID
	Ignored   int                           // what is not ours, not stored, or about the account

	// PhoneNumberIDs are the channel's ids of the numbers concerned, each once. One callback address can serve several
	// numbers of an application, so the caller must check that a receipt's message is of a sender behind this address.
	PhoneNumberIDs []string
}

type envelope struct {
	Object string `json:"object"`
	Entry  []struct {
		Changes []struct {
			Field string `json:"field"`
			Value value  `json:"value"`
		} `json:"changes"`
	} `json:"entry"`
}

// value holds what any field's value can hold; a change fills the members of its field.
type value struct {
	Metadata struct {
		PhoneNumberID nodeID `json:"phone_number_id"`
	} `json:"metadata"`
	Statuses []status  `json:"statuses"`
	Messages []inbound `json:"messages"`
	Contacts []profile `json:"contacts"`
	templateValue
}

type status struct {
	ID        string       `json:"id"`
	Status    string       `json:"status"`
	Timestamp seconds      `json:"timestamp"`
	Data      string       `json:"biz_opaque_callback_data"`
	Errors    []graphError `json:"errors"`
}

// ParseCallback reads a verified body. It is a *carillon.Error when the body is no JSON object; whatever inside it is
// unknown, incomplete or not about our messages is counted as ignored, for an error would make the channel repeat the
// whole for days.
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
		for j := range entry.Changes {
			cb.addChange(entry.Changes[j].Field, &entry.Changes[j].Value, senderUID)
		}
	}
	return cb, nil
}

// addChange adds one change by its field.
func (cb *Callback) addChange(field string, v *value, senderUID int64) {
	switch field {
	case "messages":
		cb.addMessages(v, senderUID)
	case "message_template_status_update":
		cb.addTemplate(v.statusEvent(senderUID))
	case "template_category_update":
		cb.addTemplate(v.categoryEvent(senderUID))
	default:
		cb.Ignored++
	}
}

func (cb *Callback) addTemplate(e provider.TemplateEvent, ok bool) {
	if !ok {
		cb.Ignored++
		return
	}
	cb.Templates = append(cb.Templates, e)
}

func (cb *Callback) addMessages(v *value, senderUID int64) {
	id := string(v.Metadata.PhoneNumberID)
	if id != "" && !slices.Contains(cb.PhoneNumberIDs, id) {
		cb.PhoneNumberIDs = append(cb.PhoneNumberIDs, id)
	}
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
		m, ok := v.Messages[i].read(v.Contacts)
		if !ok || id == "" {
			cb.Ignored++
			continue
		}
		if cb.Inbound == nil {
			cb.Inbound = map[string][]provider.Inbound{}
		}
		cb.Inbound[id] = append(cb.Inbound[id], m)
	}
}

// receipt returns false for a status that is not of one of our messages, or that is not stored.
func (s *status) receipt(senderUID int64) (provider.Receipt, bool) {
	ref, err := provider.ParseRef(s.Data)
	at := s.Timestamp.instant()
	if err != nil || at.IsZero() {
		return provider.Receipt{}, false
	}
	r := provider.Receipt{Ref: ref, SenderUID: senderUID, ProviderID: s.ID, At: at}
	ok := s.state(&r)
	return r, ok
}

// state sets what a status reports; false: that is not stored.
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

// explain sets the reason by the first error with a code, by the same table as for responses.
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

// seconds is a time of the channel: Unix seconds, as a string or a number; 0 when it is neither.
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
