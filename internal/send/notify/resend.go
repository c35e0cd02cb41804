package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/audit"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
)

// Notes that link a notification with the resends to its failed recipients. noteResending is stored before a resend is
// accepted, so that the resend is found even if its node is killed in between.
const (
	noteResendOf   = "resend_of:"
	noteResentAs   = "resent_as:"
	noteResending  = "resending:"
	resendRoute    = "panel/notifications/resend"
	maxResends     = 20  // per notification
	maxResendsRead = 100 // resends of a notification, including resends of resends
	resendKeep     = 40 * 24 * time.Hour
)

// links are the resends according to a notification's notes.
type links struct {
	of      string   // the notification that this one resends
	as      []string // its resends
	pending []string // keys of resends that were begun but not yet linked
}

func linksOf(notes string) (l links) {
	for note := range strings.FieldsSeq(notes) {
		if id, ok := strings.CutPrefix(note, noteResendOf); ok {
			l.of = id
		} else if id, ok := strings.CutPrefix(note, noteResentAs); ok {
			l.as = append(l.as, id)
		} else if key, ok := strings.CutPrefix(note, noteResending); ok {
			l.pending = append(l.pending, key)
		}
	}
	return l
}

// Resendable is a failed recipient, and whether the same message can be sent to them again.
type Resendable struct {
	N      int             `json:"n"`
	Number string          `json:"number"`            // empty if the message goes to an id
	UserID string          `json:"user_id,omitempty"` // the channel's id of a person, instead of a number
	Name   string          `json:"name,omitempty"`
	Reason carillon.Reason `json:"reason"`
	Detail string          `json:"detail,omitempty"`
	// Not is the reason why it cannot be resent: opted_out, suppressed, limited (for a day), resent.
	Not string `json:"not,omitempty"`
	// Caution is a reason against resending: may_repeat (an earlier message may have arrived), hopeless (a resend will
	// very likely fail too).
	Caution string `json:"caution,omitempty"`

	address string // number or id
}

// channelPause is the period for which the channel accepts nothing more for a recipient that it limited.
const channelPause = 24 * time.Hour

// Resendable returns the failed recipients of a notification. Errors: not_found; conflict if nothing can be resent:
// the request was deleted, it is a call, or it was resent too often.
func (x Sent) Resendable(ctx context.Context, companyID, id string, now time.Time) ([]Resendable, error) {
	n, err := x.load(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	all, _, err := x.resendable(ctx, n, now)
	return all, err
}

func (x Sent) resendable(ctx context.Context, n *messages.Notification, now time.Time) (all []Resendable, as []string, err error) {
	if n.Channel == carillon.Voice {
		return nil, nil, carillon.InConflict("A call is not placed again from here")
	}
	if as, err = x.resentAs(ctx, n); err != nil {
		return nil, nil, err
	}
	switch {
	case n.Secret:
		return nil, nil, carillon.InConflict("A one-time code is not sent again; send a new one")
	case n.Body == "":
		return nil, nil, carillon.InConflict("The request is not kept any more")
	case len(as) >= maxResends:
		return nil, nil, carillon.InConflict("It was sent again " + strconv.Itoa(maxResends) + " times already")
	}
	messages, err := x.Store.Messages.List(ctx, n.Seq(), 0, n.Total)
	if err != nil {
		return nil, nil, err
	}
	names, people := namesOf(n), []identity.Key{}
	all = []Resendable{}
	for i := range messages {
		m := &messages[i]
		if m.Rank != rank.Failed && m.Rank != rank.FailedUnknown {
			continue
		}
		r := Resendable{N: m.N, Reason: m.Reason, Detail: m.Detail, address: m.Number}
		r.Number, r.UserID = identity.Split(m.Number)
		if m.N < len(names) {
			r.Name = names[m.N]
		}
		r.judge(m, now)
		all, people = append(all, r), append(people, identity.Of(m.Number))
	}
	suppressed, err := x.Store.Suppressions.Suppressed(ctx, n.CompanyID, n.Class, people)
	if err != nil {
		return nil, nil, err
	}
	if err := nameAll(ctx, x.Store, n.CompanyID, all, func(r *Resendable) (string, *string) { return r.UserID, &r.Name }); err != nil {
		return nil, nil, err
	}
	fates, err := x.sentAgain(ctx, n.CompanyID, as)
	if err != nil {
		return nil, nil, err
	}
	for i := range all {
		r := &all[i]
		switch {
		case fates[r.address] == arrived:
			r.Not = "resent"
		case r.Not == "" && suppressed[identity.Of(r.address)]:
			r.Not = "suppressed"
		case fates[r.address] == uncertain:
			r.Caution = "may_repeat"
		}
	}
	return all, as, nil
}

// resentAs returns the resends of a notification. It includes a resend that was accepted but not linked because its
// node was killed.
func (x Sent) resentAs(ctx context.Context, n *messages.Notification) ([]string, error) {
	l := linksOf(n.Notes)
	for _, key := range l.pending {
		answer, err := x.Store.Notifications.AcceptedAs(ctx, n.CompanyID, resendRoute, n.ID+"/"+key, time.Now())
		if err != nil {
			return nil, err
		}
		if id := idIn(answer); id != "" && !slices.Contains(l.as, id) { // else in progress, or refused
			l.as = append(l.as, id)
		}
	}
	return l.as, nil
}

// judge sets whether a failed message may be resent, by the reason of the failure.
func (r *Resendable) judge(m *messages.Message, now time.Time) {
	switch m.Reason {
	case carillon.ReasonRecipientOptedOut:
		r.Not = "opted_out"
	case carillon.ReasonChannelLimited:
		if now.Sub(m.EndedAt) < channelPause {
			r.Not = "limited"
		}
	case carillon.ReasonOutcomeUnknown:
		r.Caution = "may_repeat"
	case carillon.ReasonUndeliverable, carillon.ReasonNumberRequired, carillon.ReasonProviderRefused, carillon.ReasonMediaRejected:
		r.Caution = "hopeless"
	default: // a resend may succeed
	}
}

// fate is the combined outcome of a recipient's resends.
type fate int

const (
	failed    fate = iota // all failed
	uncertain             // one may have arrived
	arrived               // one arrived, or is in progress
)

// sentAgain returns the outcome of the resends of a notification, including resends of resends, by number.
func (x Sent) sentAgain(ctx context.Context, companyID string, ids []string) (map[string]fate, error) {
	fates, seen := map[string]fate{}, map[string]bool{}
	for len(ids) > 0 && len(seen) < maxResendsRead {
		found, err := x.Store.Notifications.Of(ctx, companyID, ids)
		if err != nil {
			return nil, err
		}
		ids = nil
		seqs := make([]carillon.Seq, 0, len(found))
		for _, n := range found {
			if seen[n.ID] {
				continue
			}
			seen[n.ID] = true
			seqs = append(seqs, n.Seq())
			as, err := x.resentAs(ctx, n)
			if err != nil {
				return nil, err
			}
			ids = append(ids, as...)
		}
		messages, err := x.Store.Messages.ListAll(ctx, seqs)
		if err != nil {
			return nil, err
		}
		for _, all := range messages {
			for i := range all {
				fates[all[i].Number] = max(fates[all[i].Number], fateOf(&all[i]))
			}
		}
	}
	return fates, nil
}

func fateOf(m *messages.Message) fate {
	switch m.Rank {
	case rank.Failed, rank.Skipped, rank.Canceled:
		return failed
	case rank.FailedUnknown:
		return uncertain
	default:
		return arrived
	}
}

// Origin follows a chain of resends back to the original notification. It returns id itself if the notification is not
// a resend. Errors: not_found.
func (x Sent) Origin(ctx context.Context, companyID, id string) (string, error) {
	for range maxResends {
		n, err := x.load(ctx, companyID, id)
		if err != nil {
			return "", err
		}
		of := linksOf(n.Notes).of
		if of == "" {
			break
		}
		if _, err := x.load(ctx, companyID, of); carillon.IsCode(err, carillon.NotFound) {
			break // the original was deleted
		}
		id = of
	}
	return id, nil
}

// Again selects the recipients of a resend.
type Again struct {
	Recipients []int
	Key        string // idempotency key; empty means derived from the recipients and the number of resends
	Reached    bool   // include recipients whom an earlier resend has reached, or may still reach
}

// Resend returns the submission that sends the same content to failed recipients of a notification again, without
// delay. If an earlier request for the same resend was accepted, it returns that notification's id as `as`. The
// caller ensures that nobody else resends the Origin concurrently, and reports the result with Resent. Errors: those
// of Resendable; validation_failed, field `recipients`.
func (x Sent) Resend(ctx context.Context, companyID, id string, to Again, now time.Time) (s *Submission, as string, err error) {
	n, err := x.load(ctx, companyID, id)
	if err != nil {
		return nil, "", err
	}
	to.Recipients = slices.Compact(slices.Sorted(slices.Values(to.Recipients)))
	hash := digestOf(n.ID, fmt.Sprint(to.Recipients))
	key := digestOf("key", to.Key)
	if to.Key != "" {
		if as, err := x.Store.Notifications.LookupIdempotent(ctx, companyID, resendRoute, n.ID+"/"+key, hash, now); err != nil || as != "" {
			return nil, idIn(as), err
		}
	}
	all, resends, err := x.resendable(ctx, n, now)
	if err != nil {
		return nil, "", err
	}
	if to.Key == "" {
		key = digestOf("recipients", fmt.Sprint(to.Recipients, len(resends)))
	}
	if len(to.Recipients) == 0 {
		return nil, "", carillon.Missing("recipients")
	}
	var numbers []string
	var refused error
	for _, i := range to.Recipients {
		at := slices.IndexFunc(all, func(r Resendable) bool { return r.N == i })
		if at < 0 {
			return nil, "", carillon.InvalidValue("recipients", "Recipients that failed", i)
		}
		numbers = append(numbers, all[at].address)
		switch not := all[at].Not; {
		case not == "resent" && to.Reached, not == "":
		case not == "resent" && refused == nil:
			refused = carillon.InvalidValue("recipients", "Recipients whom no earlier resend has reached, or may still reach", i)
		case not != "resent":
			return nil, "", carillon.InvalidValue("recipients", "Recipients to whom it can be sent again ("+not+")", i)
		}
	}
	if refused != nil {
		if as, err := x.exactly(ctx, companyID, resends, numbers); err != nil || as != "" && to.Key == "" {
			return nil, as, err // a repeated request, for example by a second click
		}
		return nil, "", refused
	}
	req, err := requestOf(n)
	if err == nil {
		req, err = req.Again(to.Recipients)
	}
	if err != nil {
		return nil, "", err
	}
	return &Submission{
		Request: req, Route: resendRoute, IdempotencyKey: n.ID + "/" + key, Hash: hash, ResendOf: n.ID, Keep: resendKeep,
	}, "", x.Store.Notifications.AddNote(ctx, companyID, n.ID, noteResending+key, "")
}

func digestOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:12])
}

// idIn returns the notification id in a stored response.
func idIn(answer string) string {
	var made struct {
		ID string `json:"notification_id"`
	}
	_ = json.Unmarshal([]byte(answer), &made) // cannot fail: this program wrote it
	return made.ID
}

// exactly returns the resend that went to exactly these numbers, or "" if there is none.
func (x Sent) exactly(ctx context.Context, companyID string, resends, numbers []string) (string, error) {
	found, err := x.Store.Notifications.Of(ctx, companyID, resends)
	if err != nil {
		return "", err
	}
	slices.Sort(numbers)
	for _, n := range found {
		messages, err := x.Store.Messages.List(ctx, n.Seq(), 0, n.Total)
		if err != nil {
			return "", err
		}
		var recipients []string
		for i := range messages {
			recipients = append(recipients, messages[i].Number)
		}
		slices.Sort(recipients)
		if slices.Equal(recipients, numbers) {
			return n.ID, nil
		}
	}
	return "", nil
}

// Resent links a notification with its accepted resend. as is the resend's id, or empty if the resend was refused.
func (x Sent) Resent(ctx context.Context, companyID string, s *Submission, as string) error {
	if as != "" {
		if err := x.Store.Notifications.AddNote(ctx, companyID, s.ResendOf, noteResentAs+as, audit.Resent); err != nil {
			return err
		}
	}
	return x.Store.Notifications.DropNote(ctx, companyID, s.ResendOf, noteResending+strings.TrimPrefix(s.IdempotencyKey, s.ResendOf+"/"))
}
