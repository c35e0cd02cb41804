package notify

import (
	"context"
	"errors"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/send/link"
	"carillon/internal/store"
	"carillon/internal/store/events"
	"carillon/internal/store/messages"
)

// addTokens sets the tokens of the counted links of a company's message. It fails if there are such links, but no codec.
func addTokens(ctx context.Context, l *link.Codecs, c *provider.Content, companyID string, key carillon.MessageKey) error {
	var codec *link.Codec
	var err error
	content.SetTokens(c, func(card, button int) string {
		switch {
		case l == nil:
			err = errNoLinks
		case codec == nil && err == nil:
			codec, err = l.Of(ctx, companyID)
		}
		if err != nil {
			return ""
		}
		return codec.Token(link.Button{Message: key, Card: card, Index: button})
	})
	return err
}

var errNoLinks = errors.New("this program counts no clicks")

// Visit is a use of a counted link.
type Visit struct {
	Destination string
	CompanyID   string

	message carillon.MessageKey
	people  []identity.Key
}

// Visited returns where a counted link leads, by its token: to the address in the request of its message. Its template
// may have changed or be gone. Errors: not_found for an invalid token, after the request was deleted, and while the
// company is suspended.
func (n *Notify) Visited(ctx context.Context, token string) (*Visit, error) {
	absent := carillon.Absent("Link")
	if n.o.Links == nil {
		return nil, absent
	}
	b, ok, err := n.o.Links.Read(ctx, token)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, absent
	}
	of, err := n.store.Notifications.Load(ctx, b.Message.Seq())
	switch {
	case carillon.IsCode(err, carillon.NotFound):
		return nil, absent
	case err != nil:
		return nil, err
	case of.Channel != carillon.Messaging || of.Body == "":
		return nil, absent
	}
	c, err := n.store.Accounts.Company(ctx, of.CompanyID)
	switch {
	case err != nil:
		return nil, err
	case c.Move != "" && !c.Gone():
		return nil, c.Refusal()
	case c.Refusal() != nil:
		return nil, absent
	}
	switch codec, err := n.o.Links.Of(ctx, of.CompanyID); {
	case err != nil:
		return nil, err
	case codec.Token(b) != token: // another company's key
		return nil, absent
	}
	r, err := requestOf(of)
	if err != nil || b.Message.N() >= len(r.Contacts) {
		return nil, absent //nolint:nilerr // accepted by an older version and now invalid
	}
	address, ok := r.Destination(b.Message.N(), b.Card, b.Index)
	if !ok {
		return nil, absent
	}
	return &Visit{address, of.CompanyID, b.Message, r.Contacts[b.Message.N()].Keys()}, nil
}

// Count counts a visit, unless its person opted out of messages of any class or was erased.
func (n *Notify) Count(ctx context.Context, v *Visit, at time.Time) error {
	if slices.Contains(v.people, identity.Of(carillon.ErasedNumber)) {
		return nil
	}
	c, err := n.store.Accounts.Company(ctx, v.CompanyID)
	if err != nil {
		return err
	}
	if c.Suppresses {
		out, err := n.store.Suppressions.Suppressed(ctx, c.ID, carillon.Marketing, v.people) // also of those of all classes
		if err != nil || len(out) > 0 {
			return err
		}
	}
	subscribed := n.store.Events.Subscribed(ctx, c.ID, events.Notifications)
	return n.store.Stats.Clicked(ctx, c.ID, v.message, at, subscribed)
}

// countsClicks reports whether the current template of a notification has counted links.
func countsClicks(ctx context.Context, s *store.Store, n *messages.Notification) (bool, error) {
	if n.Channel != carillon.Messaging {
		return false, nil
	}
	all, err := s.Templates.Templates(ctx, n.SenderUID)
	i := slices.IndexFunc(all, func(t *carillon.Template) bool { return t.ID == n.TemplateID })
	return i >= 0 && content.Counted(all[i].Shape), err
}

// showClicks sets the clicks of a message that has counted links, or had them when it was clicked.
func (r *RecipientView) showClicks(m *messages.Message, counted bool) {
	if counted || m.Clicks > 0 {
		r.ClickedAt, r.Clicks = instant(m.ClickedAt), &m.Clicks
	}
}
