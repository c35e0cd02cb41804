package inbox

import (
	"context"
	"net/http"
	"slices"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/identity"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/event/realtime"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/store/messages"
	"carillon/internal/talk/conversation"
)

// People serves the participants of conversations: contacts, teammates, and their presence.
type People struct {
	Gate          *member.Gate
	Store         *store.Store
	Conversations *conversation.Conversations
	Events        *realtime.Hub
}

func (x People) Routes() []httpio.Route {
	const read, answer = auth.MayReadConversations, auth.MayAnswerConversations
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/conversations/{id}/contact", read, x.contact),
		member.Route(x.Gate, "PUT", "/conversations/{id}/contact", answer, x.editContact).Taking(contactRequest{}),
		member.Route(x.Gate, "GET", "/inbox/teammates", read, x.teammates),
		member.Route(x.Gate, "PUT", "/inbox/presence", answer, x.setAway).Taking(awayRequest{}),
		x.Gate.Stream("GET", "/inbox/events", read, x.events),
	}
}

const (
	maxOthers        = 20 // conversations of a contact
	maxNotifications = 20
	membersAtOnce    = 200
)

// profile is a contact with their conversations and notifications.
type profile struct {
	Contact       chats.ContactView `json:"contact"`
	Conversations []chats.Summary   `json:"conversations"`
	Notifications []*notify.View    `json:"notifications"`
}

// contact responds with the contact of a conversation, the contact's other conversations, and the notifications sent
// to its numbers and ids.
func (x People) contact(r *http.Request, by member.Member) (profile, error) {
	c, err := find(r, x.Store, by)
	if err != nil {
		return profile{}, err
	}
	contact, err := x.Store.Contacts.ContactOf(r.Context(), by.CompanyID, c.ContactID)
	if err != nil {
		return profile{}, err
	}
	p := profile{Contact: contact.View(), Conversations: []chats.Summary{}, Notifications: []*notify.View{}}
	others, err := x.Store.Chats.OfContact(r.Context(), by.CompanyID, contact.ID, c.ID, maxOthers)
	if err != nil {
		return profile{}, err
	}
	for _, other := range others {
		p.Conversations = append(p.Conversations, chats.Summarize(other))
	}
	known, err := x.Store.Contacts.Identities(r.Context(), by.CompanyID, contact.ID)
	if err != nil {
		return profile{}, err
	}
	var lines []identity.Key
	for _, k := range known {
		if !slices.Contains(lines, k.Key) {
			lines = append(lines, k.Key)
		}
	}
	if len(lines) == 0 {
		return p, nil
	}
	sent, _, err := notify.Sent{Store: x.Store}.Views(r.Context(), by.CompanyID, messages.Filter{Lines: lines, Limit: maxNotifications})
	p.Notifications = append(p.Notifications, sent...)
	return p, err
}

type editedContact struct {
	Contact chats.ContactView `json:"contact"`
}

// contactRequest changes fields of a contact.
type contactRequest struct {
	Name   string `json:"name,omitempty"`
	Email  string `json:"email,omitempty"`
	Number string `json:"number,omitempty"`
}

// editContact replaces the given fields among name, e-mail address and number. An empty value removes the field.
func (x People) editContact(r *http.Request, by member.Member) (editedContact, error) {
	o, err := form.Body[contactRequest](r)
	if err != nil {
		return editedContact{}, err
	}
	edit, err := readContactEdit(o)
	if err != nil {
		return editedContact{}, err
	}
	c, err := find(r, x.Store, by)
	if err != nil {
		return editedContact{}, err
	}
	contact, err := x.Store.Contacts.EditContact(r.Context(), by.CompanyID, c.ContactID, edit)
	if err != nil {
		return editedContact{}, err
	}
	return editedContact{contact.View()}, nil
}

func readContactEdit(o *jsonbody.Object) (edit chats.ContactEdit, err error) {
	if edit.Name, err = form.Optional(o, "name", func() (string, error) { return form.Text(o, "name", form.MaxName) }); err != nil {
		return edit, err
	}
	if edit.Email, err = form.Optional(o, "email", func() (string, error) { return form.Email(o) }); err != nil {
		return edit, err
	}
	edit.Number, err = form.Optional(o, "number", func() (string, error) {
		s, err := form.Text(o, "number", form.MaxName)
		if err != nil {
			return "", err
		}
		return form.Number("number", s)
	})
	return edit, err
}

// teammateRow is a member who may answer conversations.
type teammateRow struct {
	AccountID string `json:"account_id"`
	Name      string `json:"name"`
	Email     string `json:"email"`
	Role      string `json:"role" enum:"owner,admin,developer,marketer,teammate,viewer"`
	Present   bool   `json:"present"`
	Away      bool   `json:"away"`
}

// teammates responds with the members who may answer, and their presence.
func (x People) teammates(r *http.Request, by member.Member) (httpio.Rows[teammateRow], error) {
	present, err := x.Store.Attendance.Present(r.Context(), by.CompanyID, time.Now())
	if err != nil {
		return httpio.Rows[teammateRow]{}, err
	}
	there := map[string]chats.Presence{}
	for _, p := range present {
		there[p.AccountID] = p
	}
	rows := []teammateRow{}
	if err := x.eachMember(r.Context(), by.CompanyID, func(m accounts.Member) {
		if auth.Role(m.Role).Can(auth.MayAnswerConversations) {
			p, present := there[m.ID]
			rows = append(rows, teammateRow{m.ID, m.Name, m.Email, m.Role, present, p.Away})
		}
	}); err != nil {
		return httpio.Rows[teammateRow]{}, err
	}
	return httpio.RowsOf(rows), nil
}

// eachMember calls found for every member of a company.
func (x People) eachMember(ctx context.Context, companyID string, found func(m accounts.Member)) error {
	for after := ""; ; {
		members, err := x.Store.Accounts.Members(ctx, companyID, after, membersAtOnce)
		if err != nil {
			return err
		}
		for _, m := range members {
			found(m)
			after = m.ID
		}
		if len(members) < membersAtOnce {
			return nil
		}
	}
}

type presence struct {
	Present bool `json:"present"`
	Away    bool `json:"away"`
}

// awayRequest changes the presence.
type awayRequest struct {
	Away bool `json:"away"`
}

// setAway records whether the caller accepts no conversations although the inbox is open.
func (x People) setAway(r *http.Request, by member.Member) (presence, error) {
	o, err := form.Body[awayRequest](r)
	if err != nil {
		return presence{}, err
	}
	away, given, err := o.Bool("away", "away")
	switch {
	case err != nil:
		return presence{}, err
	case !given:
		return presence{}, carillon.Missing("away")
	}
	present, err := x.Conversations.Attendance.SetAway(r.Context(), by.Teammate(), away)
	return presence{present, away}, err
}
