package whatsapp

import (
	"cmp"
	"encoding/json"
	"strings"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
)

// change is the channel's report of a person's new identities, in a message of type system.
type change struct {
	Type           string `json:"type"`
	WaID           loose  `json:"wa_id"`
	UserID         string `json:"user_id"`
	ParentUserID   string `json:"parent_user_id"`
	PreviousUserID string `json:"previous_user_id"`
	PreviousParent string `json:"previous_parent_user_id"`
}

// readAuthor sets the identities of a message's author: the number, if the channel sends it, and the channel's id, which
// every message has since April 2026. The number is absent for people with a username who have not written to this
// sender for a month.
func (m *inbound) readAuthor(x *provider.Inbound, names []profile) {
	x.From = m.From.number()
	x.UserID = userID(m.FromUserID, m.FromParentUserID, string(m.From))
	if m.Type == "system" {
		x.UserID = cmp.Or(userID(m.System.PreviousUserID, m.System.PreviousParent), x.UserID)
	}
	called(x, names)
}

// called adds what the callback's contacts say of a person.
func called(x *provider.Inbound, names []profile) {
	for i := range names {
		p := &names[i]
		if x.UserID != "" && p.UserID == x.UserID || x.From != "" && identity.Number(x.From).Is(p.WaID.number()) {
			x.Name, x.Username = oneLine(p.Profile.Name), oneLine(p.Profile.Username)
			x.From = cmp.Or(x.From, p.WaID.number())
			x.UserID = cmp.Or(x.UserID, userID(p.UserID))
		}
	}
}

// userID returns the first text that is a channel's id of a person, or "" if there is none.
func userID(texts ...string) string {
	for _, s := range texts {
		if identity.ValidUser(s) {
			return s
		}
	}
	return ""
}

// system reads the channel's report about the person.
func (m *inbound) system(x *provider.Inbound) {
	became, number := &provider.Became{UserID: userID(m.System.UserID, m.System.ParentUserID)}, m.System.WaID.number()
	switch {
	case m.System.Type == "customer_identity_changed":
		x.Kind, x.Event = provider.InboundEvent, provider.InboundTelephone
	case strings.HasSuffix(m.System.Type, "changed_number") && number != "":
		became.Number = number
		x.Kind, x.Text, x.Became = provider.InboundNumber, number, became
	case m.System.Type == "user_changed_user_id" && became.UserID != "":
		x.Kind, x.Became = provider.InboundIdentity, became
	default:
		x.Kind, x.Text = provider.InboundEvent, kindName(cmp.Or(m.System.Type, m.Type))
	}
}

// shared returns the number that the person gave as their own on request, or "". Any other contact card may belong to
// anybody.
func (m *inbound) shared() string {
	for i := range m.Contacts[:min(len(m.Contacts), maxCards)] {
		c := &m.Contacts[i]
		if c.Origin != "contact_request" {
			continue
		}
		for _, p := range c.Phones[:min(len(c.Phones), maxCards)] {
			for _, number := range []string{string(p.WaID), digitsOf(string(p.Phone))} {
				if carillon.ValidNumber(number) {
					return number
				}
			}
		}
	}
	return ""
}

// recipient sets the recipient of a status. The channel omits the number if it must not reveal it.
func (s *status) recipient(r *provider.Receipt) {
	r.Number = s.RecipientID.number()
	r.UserID = userID(s.RecipientUserID, string(s.RecipientID))
}

// Portfolio returns the scope of the channel's ids of people, which differ between business portfolios. The business
// account represents its portfolio, because callbacks do not name the portfolio.
func Portfolio(raw json.RawMessage) string {
	s, err := parseSettings(raw)
	if err != nil {
		return ""
	}
	return s.wabaID
}
