package channels

import (
	"context"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store/chats"
)

// registerRoutes returns the routes that change a number at its provider: its registration, its PIN, its history.
func (x Senders) registerRoutes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "POST", "/senders/{id}/register", auth.MayWriteSenders, x.register).Taking(pinRequest{}),
		member.Route(x.Gate, "PUT", "/senders/{id}/pin", auth.MayWriteSenders, x.setPIN).Taking(pinRequest{}),
		member.Route(x.Gate, "POST", "/senders/{id}/history", auth.MayWriteSenders, x.askHistory).Taking(historyRequest{}),
	}
}

// pinRequest has the PIN of two-step verification, six digits. It is passed on and kept nowhere.
type pinRequest struct {
	PIN string `json:"pin"`
}

// historyRequest asks for the conversations or the contacts from before the connection.
type historyRequest struct {
	Contacts bool `json:"contacts,omitempty"`
}

// pinLength is the number of digits of a PIN.
const pinLength = 6

func (x Senders) register(r *http.Request, by member.Member) (httpio.None, error) {
	return nil, x.withPIN(r, by, func(p Provider) withPIN { return p.Register })
}

func (x Senders) setPIN(r *http.Request, by member.Member) (httpio.None, error) {
	return nil, x.withPIN(r, by, func(p Provider) withPIN { return p.SetPIN })
}

// withPIN is a request to a provider with a PIN.
type withPIN = func(ctx context.Context, s *carillon.Sender, pin string) error

func (x Senders) withPIN(r *http.Request, by member.Member, of func(p Provider) withPIN) error {
	s, err := x.find(r, by)
	if err != nil {
		return err
	}
	o, err := form.Body[pinRequest](r)
	if err != nil {
		return err
	}
	pin, err := form.Text(o, "pin", pinLength)
	if err != nil {
		return err
	}
	ask := of(x.Providers[s.Provider])
	if ask == nil {
		return carillon.InConflict("A sender of this kind is not registered")
	}
	if err := x.mayAsk(r, by); err != nil {
		return err
	}
	return ask(r.Context(), s, pin)
}

// mayAsk limits the requests of a company to providers.
func (x Senders) mayAsk(r *http.Request, by member.Member) error {
	_, err := x.Gate.Limits.Allow(r.Context(), "check line "+by.CompanyID, checksPerMinute, 1)
	return err
}

func (x Senders) askHistory(r *http.Request, by member.Member) (*historyRow, error) {
	s, err := x.find(r, by)
	if err != nil {
		return nil, err
	}
	o, err := form.Body[historyRequest](r)
	if err != nil {
		return nil, err
	}
	contacts, _, err := o.Bool("contacts", "contacts")
	if err != nil {
		return nil, err
	}
	ask := x.Providers[s.Provider].AskHistory
	if ask == nil {
		return nil, carillon.InConflict("A sender of this kind has no history")
	}
	if err := x.mayAsk(r, by); err != nil {
		return nil, err
	}
	if err := ask(r.Context(), s, contacts); err != nil {
		return nil, err
	}
	if err := x.Store.Past.Asked(context.WithoutCancel(r.Context()), by.CompanyID, s.UID, contacts, time.Now()); err != nil {
		return nil, err
	}
	return x.history(r.Context(), s)
}

// historyRow is the import of the conversations and contacts from before the connection.
type historyRow struct {
	AskedAt         *string `json:"asked_at"`
	ContactsAskedAt *string `json:"contacts_asked_at"`
	State           string  `json:"state" enum:",waiting,receiving,done,refused"` // empty if nothing was asked for
	Phase           int     `json:"phase"`                                        // 0: last day, 1: last 90 days, 2: last 180 days
	Progress        int     `json:"progress"`                                     // percent
	Messages        int64   `json:"messages"`
	Conversations   int64   `json:"conversations"`
	Names           int64   `json:"names"`
	ReceivedAt      *string `json:"received_at"`
}

// history returns the import of a sender; nil if nothing was asked for or received.
func (x Senders) history(ctx context.Context, s *carillon.Sender) (*historyRow, error) {
	i, err := x.Store.Past.Import(ctx, s.CompanyID, s.UID)
	if err != nil || i.AskedAt.IsZero() && i.ContactsAt.IsZero() && i.ReceivedAt.IsZero() {
		return nil, err
	}
	return &historyRow{
		AskedAt: auth.TimeOrNull(i.AskedAt), ContactsAskedAt: auth.TimeOrNull(i.ContactsAt), State: historyState(&i), Phase: i.Phase,
		Progress: i.Progress, Messages: i.Messages, Conversations: i.Conversations, Names: i.Names,
		ReceivedAt: auth.TimeOrNull(i.ReceivedAt),
	}, nil
}

func historyState(i *chats.PastImport) string {
	switch {
	case i.Refused:
		return "refused"
	case i.Messages == 0 && i.Progress == 0 && i.AskedAt.IsZero():
		return ""
	case i.Messages == 0 && i.Progress == 0:
		return "waiting"
	case i.Progress >= 100 && i.DueAt.IsZero():
		return "done"
	}
	return "receiving"
}
