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

// Notes that link a notification with those that were sent to its failed recipients again. The one that a resend is begun stands before it
// is accepted, so that one whose node was killed in between is found.
const (
	noteResendOf  = "resend_of:"
	noteResentAs  = "resent_as:"
	noteResending = "resending:"
	resendRoute   = "panel/notifications/resend"
	resendsMost   = 20  // of one notification
	resendsRead   = 100 // of a notification, those of them, and so on
	resendKeep    = 40 * 24 * time.Hour
)

// links are what the notes of a notification say of resends.
type links struct {
	of      string   // the notification that it is a resend of
	as      []string // its resends
	pending []string // the keys of those of which only the beginning is known
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

// Resendable is a failed recipient, and whether the same can be sent again.
type Resendable struct {
	N      int             `json:"n"`
	Number string          `json:"number"`
	Name   string          `json:"name,omitempty"`
	Reason carillon.Reason `json:"reason"`
	Detail string          `json:"detail,omitempty"`
	// Not says why it cannot be sent again: opted_out, suppressed, limited (for a day), resent.
	Not string `json:"not,omitempty"`
	// Caution is what speaks against it: may_repeat (an earlier one may have arrived), hopeless (it will hardly go otherwise).
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
	case n.Body == "":
		return nil, nil, carillon.InConflict("The request is not kept any more")
	case len(as) >= resendsMost:
		return nil, nil, carillon.InConflict("It was sent again " + strconv.Itoa(resendsMost) + " times already")
	}
	messages, err := x.N.store.Messages.List(ctx, n.Seq(), 0, n.Total)
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
		r := Resendable{N: m.N, Number: m.Number, Reason: m.Reason, Detail: m.Detail}
		if m.N < len(names) {
			r.Name = names[m.N]
		}
		r.judge(m, now)
		all, people = append(all, r), append(people, identity.Number(m.Number))
	}
	suppressed, err := x.N.store.Suppressions.Suppressed(ctx, n.CompanyID, n.Class, people)
	if err != nil {
		return nil, nil, err
	}
	again, err := x.sentAgain(ctx, n.CompanyID, as)
	if err != nil {
		return nil, nil, err
	}
	for i := range all {
		r := &all[i]
		switch {
		case again[r.Number] == arrived:
			r.Not = "resent"
		case r.Not == "" && suppressed[identity.Number(r.Number)]:
			r.Not = "suppressed"
		case again[r.Number] == uncertain:
			r.Caution = "may_repeat"
		}
	}
	return all, as, nil
}

// resentAs are the resends of a notification. One that was begun and is not linked is: the node that accepted it was killed.
func (x Sent) resentAs(ctx context.Context, n *messages.Notification) ([]string, error) {
	l := linksOf(n.Notes)
	for _, key := range l.pending {
		answer, err := x.N.store.Notifications.AcceptedAs(ctx, n.CompanyID, resendRoute, n.ID+"/"+key, time.Now())
		if err != nil {
			return nil, err
		}
		if id := idIn(answer); id != "" && !slices.Contains(l.as, id) { // else it is being accepted just now, or was refused
			l.as = append(l.as, id)
		}
	}
	return l.as, nil
}

// judge says by the reason of a failure what may be done about it.
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
	case carillon.ReasonUndeliverable, carillon.ReasonProviderRefused, carillon.ReasonMediaRejected:
		r.Caution = "hopeless"
	default: // it may go well the next time
	}
}

// fate is what became of a recipient's resends.
type fate int

const (
	failed    fate = iota // as the first one did
	uncertain             // one may have arrived
	arrived               // one did, or is under way
)

// sentAgain is what became of the resends of a notification and of those that these were sent as again, by number.
func (x Sent) sentAgain(ctx context.Context, companyID string, ids []string) (map[string]fate, error) {
	fates, seen := map[string]fate{}, map[string]bool{}
	for len(ids) > 0 && len(seen) < resendsRead {
		found, err := x.N.store.Notifications.Of(ctx, companyID, ids)
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
		messages, err := x.N.store.Messages.ListAll(ctx, seqs)
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

// Origin is the notification of which a notification is a resend, or of which that is one, and so on; itself where it is none. Errors:
// not_found.
func (x Sent) Origin(ctx context.Context, companyID, id string) (string, error) {
	for range resendsMost {
		n, err := x.load(ctx, companyID, id)
		if err != nil {
			return "", err
		}
		of := linksOf(n.Notes).of
		if of == "" {
			break
		}
		if _, err := x.load(ctx, companyID, of); carillon.IsCode(err, carillon.NotFound) {
			break // it was deleted
		}
		id = of
	}
	return id, nil
}

// Again says to whom a notification is sent again.
type Again struct {
	Recipients []int
	Key        string // of the request; "": requests for the same recipients are one until it has failed again
	Reached    bool   // also those whom an earlier resend has reached, or may still reach
}

// Resend returns the submission that sends the same to failed recipients of a notification again, at once, or the notification that an
// earlier request for the same was accepted as. Nobody else may do that meanwhile (Origin): the caller sees to it, and reports with Resent
// how it ended. Errors: those of Resendable; validation_failed, field `recipients`.
func (x Sent) Resend(ctx context.Context, companyID, id string, to Again, now time.Time) (s *Submission, as string, err error) {
	n, err := x.load(ctx, companyID, id)
	if err != nil {
		return nil, "", err
	}
	to.Recipients = slices.Compact(slices.Sorted(slices.Values(to.Recipients)))
	hash := digestOf(n.ID, fmt.Sprint(to.Recipients))
	key := digestOf("key", to.Key)
	if to.Key != "" {
		if as, err := x.N.store.Notifications.LookupIdempotent(ctx, companyID, resendRoute, n.ID+"/"+key, hash, now); err != nil || as != "" {
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
		numbers = append(numbers, all[at].Number)
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
			return nil, as, err // a second click
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
	}, "", x.N.store.Notifications.AddNote(ctx, companyID, n.ID, noteResending+key, "")
}

func digestOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:12])
}

// idIn is the notification in a response.
func idIn(answer string) string {
	var made struct {
		ID string `json:"notification_id"`
	}
	_ = json.Unmarshal([]byte(answer), &made) // it was written by this program
	return made.ID
}

// exactly is the resend that went to these numbers and no others; "": there is none.
func (x Sent) exactly(ctx context.Context, companyID string, resends, numbers []string) (string, error) {
	found, err := x.N.store.Notifications.Of(ctx, companyID, resends)
	if err != nil {
		return "", err
	}
	slices.Sort(numbers)
	for _, n := range found {
		messages, err := x.N.store.Messages.List(ctx, n.Seq(), 0, n.Total)
		if err != nil {
			return "", err
		}
		var theirs []string
		for i := range messages {
			theirs = append(theirs, messages[i].Number)
		}
		slices.Sort(theirs)
		if slices.Equal(theirs, numbers) {
			return n.ID, nil
		}
	}
	return "", nil
}

// Resent links a notification with the one that a submission was accepted as; "": it was refused.
func (x Sent) Resent(ctx context.Context, companyID string, s *Submission, as string) error {
	if as != "" {
		if err := x.N.store.Notifications.AddNote(ctx, companyID, s.ResendOf, noteResentAs+as, audit.Resent); err != nil {
			return err
		}
	}
	return x.N.store.Notifications.DropNote(ctx, companyID, s.ResendOf, noteResending+strings.TrimPrefix(s.IdempotencyKey, s.ResendOf+"/"))
}
