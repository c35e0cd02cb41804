package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/rank"
)

// Notes that link a notification with those that were sent to its failed recipients again.
const (
	noteResendOf = "resend_of:"
	noteResentAs = "resent_as:"
	resendsMost  = 20 // of one notification
)

// resends are the links in the notes of a notification.
func resends(notes string) (of string, as []string) {
	for note := range strings.FieldsSeq(notes) {
		if id, ok := strings.CutPrefix(note, noteResendOf); ok {
			of = id
		} else if id, ok := strings.CutPrefix(note, noteResentAs); ok {
			as = append(as, id)
		}
	}
	return of, as
}

// Resendable is a failed recipient, and whether the same can be sent again.
type Resendable struct {
	N      int             `json:"n"`
	Number string          `json:"number"`
	Name   string          `json:"name,omitempty"`
	Reason carillon.Reason `json:"reason"`
	Detail string          `json:"detail,omitempty"`
	// Not says why it cannot be sent again: opted_out, suppressed, limited (for a day), resent.
	Not string `json:"not,omitempty"`
	// Caution is what speaks against it: may_repeat (the first may have arrived), hopeless (it will hardly go otherwise).
	Caution string `json:"caution,omitempty"`
}

// channelPause is how long the channel wants nothing more for a recipient that it limited.
const channelPause = 24 * time.Hour

// Resendable returns the failed recipients of a notification. Errors: not_found; conflict where nothing can be sent again: its
// request is not kept, it is a call's, or it was sent again too often.
func (x Sent) Resendable(ctx context.Context, companyID, id string, now time.Time) ([]Resendable, error) {
	n, err := x.load(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	_, all, err := x.resendable(ctx, n, now)
	return all, err
}

func (x Sent) resendable(ctx context.Context, n *store.Notification, now time.Time) (body map[string]json.RawMessage, all []Resendable, err error) {
	_, as := resends(n.Notes)
	switch {
	case n.Channel == carillon.Voice:
		return nil, nil, carillon.InConflict("A call is not placed again from here")
	case n.Body == "" || json.Unmarshal([]byte(n.Body), &body) != nil:
		return nil, nil, carillon.InConflict("The request is not kept any more")
	case len(as) >= resendsMost:
		return nil, nil, carillon.InConflict("It was sent again " + strconv.Itoa(resendsMost) + " times already")
	}
	messages, err := x.N.store.Messages(ctx, n.Seq(), 0, n.Total)
	if err != nil {
		return nil, nil, err
	}
	names, numbers := namesOf(n), []string{}
	all = []Resendable{}
	for i := range messages {
		m := &messages[i]
		if m.Rank != rank.Failed && m.Rank != rank.FailedUnknown {
			continue
		}
		r := Resendable{N: m.N, Number: m.Number, Reason: m.Reason, Detail: m.Detail}
		if m.N < len(names) {
			r.Name = names[m.N]
		}
		r.judge(m, now)
		all, numbers = append(all, r), append(numbers, m.Number)
	}
	suppressed, err := x.N.store.Suppressed(ctx, n.CompanyID, n.Class, numbers)
	if err != nil {
		return nil, nil, err
	}
	again, err := x.sentAgain(ctx, n.CompanyID, as)
	if err != nil {
		return nil, nil, err
	}
	for i := range all {
		switch r := &all[i]; {
		case again[r.Number]:
			r.Not = "resent"
		case r.Not == "" && suppressed[r.Number]:
			r.Not = "suppressed"
		}
	}
	return body, all, nil
}

// judge says by the reason of a failure what may be done about it.
func (r *Resendable) judge(m *store.Message, now time.Time) {
	switch m.Reason {
	case carillon.ReasonRecipientOptedOut:
		r.Not = "opted_out"
	case carillon.ReasonChannelLimited:
		if now.Sub(m.EndedAt) < channelPause {
			r.Not = "limited"
		}
	case carillon.ReasonOutcomeUnknown:
		r.Caution = "may_repeat"
	case carillon.ReasonUndeliverable, carillon.ReasonProviderRefused, carillon.ReasonMediaRejected:
		r.Caution = "hopeless"
	default: // it may go well the next time
	}
}

// sentAgain are the numbers that notifications go to.
func (x Sent) sentAgain(ctx context.Context, companyID string, ids []string) (map[string]bool, error) {
	found, err := x.N.store.NotificationsOf(ctx, companyID, ids)
	if err != nil {
		return nil, err
	}
	seqs := make([]carillon.Seq, len(found))
	for i, n := range found {
		seqs[i] = n.Seq()
	}
	messages, err := x.N.store.MessagesOf(ctx, seqs)
	numbers := map[string]bool{}
	for _, all := range messages {
		for i := range all {
			numbers[all[i].Number] = true
		}
	}
	return numbers, err
}

// Resend returns the submission that sends the same to failed recipients of a notification again, at once. The same recipients
// are the same request: repeated, it sends nothing more. Errors: those of Resendable; validation_failed, field `recipients`.
func (x Sent) Resend(ctx context.Context, companyID, id string, recipients []int, now time.Time) (*Submission, error) {
	n, err := x.load(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	body, all, err := x.resendable(ctx, n, now)
	if err != nil {
		return nil, err
	}
	recipients = slices.Compact(slices.Sorted(slices.Values(recipients)))
	if len(recipients) == 0 {
		return nil, carillon.Missing("recipients")
	}
	digest := sha256.New()
	for _, i := range recipients {
		at := slices.IndexFunc(all, func(r Resendable) bool { return r.N == i })
		if at < 0 {
			return nil, carillon.InvalidValue("recipients", "Recipients that failed", i)
		}
		// What was sent again is left to the idempotency key: a repeated request gets its first response.
		if all[at].Not != "" && all[at].Not != "resent" {
			return nil, carillon.InvalidValue("recipients", "Recipients to whom it can be sent again ("+all[at].Not+")", i)
		}
		_, _ = digest.Write([]byte(strconv.Itoa(i) + " "))
	}
	text, err := resendBody(body, recipients)
	if err != nil {
		return nil, err
	}
	key := n.ID + "/" + hex.EncodeToString(digest.Sum(nil)[:12])
	return &Submission{
		Channel: n.Channel, Body: text, Flat: n.Flat, Route: "panel/notifications/resend", IdempotencyKey: key, Hash: key, ResendOf: n.ID,
	}, nil
}

// resendBody is the body of a request for some of its recipients, without its time.
func resendBody(body map[string]json.RawMessage, recipients []int) ([]byte, error) {
	delete(body, "datetime_sending")
	delete(body, "timezone")
	var all, some []json.RawMessage
	if list := body["contacts"]; json.Unmarshal(list, &all) == nil && len(all) > 0 {
		for _, i := range recipients {
			if i < len(all) {
				some = append(some, all[i])
			}
		}
		list, err := json.Marshal(some)
		if err != nil {
			return nil, err
		}
		body["contacts"] = list
	}
	return json.Marshal(body)
}

// Resent links a notification with the one that was sent to its failed recipients.
func (x Sent) Resent(ctx context.Context, companyID, id, as string) error {
	return x.N.store.AddNote(ctx, companyID, id, noteResentAs+as)
}
