package telephone

import (
	"context"
	"errors"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/call/dial"
	"carillon/internal/call/sip"
)

// WhatsApp is the messaging side of lines for calls over WhatsApp.
type WhatsApp struct {
	// Sender returns a messaging sender of a company by its id. Errors: not_found.
	Sender func(ctx context.Context, companyID, id string) (*carillon.Sender, error)
	// Known returns the identities of a person that the channel vouches for.
	Known func(s *carillon.Sender, number, userID string) []identity.Identity
	// Permission asks the channel whether a person may be called. Errors: conflict, upstream_unavailable.
	Permission func(ctx context.Context, s *carillon.Sender, number, userID string) (provider.CallPermission, error)
	// Called opens the window for messages to a person who called.
	Called func(ctx context.Context, s *carillon.Sender, number, userID string, at time.Time) error
}

// Headers of the channel.
const (
	headerWACID  = "x-wa-meta-wacid"
	headerUserID = "x-wa-meta-user-id"
)

const maxWACID = 255

// over is the part of a call over WhatsApp.
type over struct {
	sender *carillon.Sender // messaging sender; nil for a telephone call
	userID string           // the channel's id of the person; may be empty
}

// greet reads the channel's headers of a call to a line.
func (t *Telephone) greet(ctx context.Context, in *sip.Incoming, p *placed, trunk sip.Trunk) error {
	if trunk.WhatsApp == "" {
		return nil
	}
	s, err := t.o.WhatsApp.Sender(ctx, p.line.CompanyID, trunk.WhatsApp)
	if err != nil {
		return err
	}
	p.over.sender = s
	if id := in.Header(headerUserID); identity.ValidUser(id) {
		p.over.userID = id
	}
	p.named(in.Header)
	if p.call.Number == "" && p.over.userID == "" {
		return nil
	}
	return t.o.WhatsApp.Called(ctx, s, p.call.Number, p.over.userID, time.Now())
}

// named records the channel's id of a call, which is in the headers of several messages.
func (p *placed) named(header func(name string) string) {
	id := header(headerWACID)
	if p.over.sender == nil || id == "" || len(id) > maxWACID {
		return
	}
	p.names.Do(func() { p.progress.Named(id) })
}

// permit checks that the channel allows a call, before it is dialed. refused is its ending otherwise.
func (t *Telephone) permit(ctx context.Context, line *carillon.Sender, id, number string) (s *carillon.Sender, refused *dial.Ending) {
	no := func(reason carillon.Reason, detail string) (*carillon.Sender, *dial.Ending) {
		e := failed(reason, "", detail)
		return nil, &e
	}
	if country := provider.Callless(line.Number); country != "" {
		return no(carillon.ReasonCallNotAllowed, "WhatsApp allows no calls to people from numbers of "+country)
	}
	s, err := t.o.WhatsApp.Sender(ctx, line.CompanyID, id)
	if err != nil {
		return no(carillon.ReasonLineUnavailable, "the messaging sender cannot be read: "+err.Error())
	}
	x, err := t.o.WhatsApp.Permission(ctx, s, number, "")
	known, ok := errors.AsType[*carillon.Error](err)
	switch {
	case ctx.Err() != nil:
		return nil, &dial.Ending{State: carillon.StateCanceled, EndedBy: "system", At: time.Now()}
	case ok && known.Code == carillon.Conflict:
		return no(carillon.ReasonCallNotAllowed, known.Message)
	case err != nil:
		_, e := no("", "ask WhatsApp whether the person may be called: "+err.Error())
		e.Fault = provider.FaultProvider
		if ok {
			e.RetryAfter = time.Duration(known.RetryAfter) * time.Second
		}
		return nil, e
	case !x.Given:
		return no(carillon.ReasonCallNotAllowed, "the person has not allowed calls: ask by a template with CALL_PERMISSION_REQUEST, "+
			"or within 24 hours after their last message by a message of type call_permission_request")
	case !x.MayCall:
		return no(carillon.ReasonCallNotAllowed, "WhatsApp's limit of calls to the person is reached"+until(x.CallAt))
	}
	return s, nil
}

// permitted reports whether a call may be transferred to a number: over WhatsApp, only with permission.
func (p *placed) permitted(ctx context.Context, number string) bool {
	if p.over.sender == nil {
		return true
	}
	_, refused := p.permit(ctx, p.line, p.over.sender.ID, number)
	return refused == nil
}

func until(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " until " + carillon.FormatTime(at)
}

// Reported handles the channel's reports about calls of a sender's number: a person's call opens the window, and a call without
// a record gets one.
func (t *Telephone) Reported(ctx context.Context, s *carillon.Sender, all []provider.CallReport) error {
	for i := range all {
		r := &all[i]
		if r.Incoming && r.Number+r.UserID != "" {
			if err := t.o.WhatsApp.Called(ctx, s, r.Number, r.UserID, r.At); err != nil {
				return err
			}
		}
		if err := t.o.Incoming.Report(ctx, s, r); err != nil {
			return err
		}
	}
	return nil
}
