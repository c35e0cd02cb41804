package inbox

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/panel/sending"
	"carillon/internal/send/notify"
	"carillon/internal/send/request"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
)

// Reader reports read receipts and typing to messaging channels.
type Reader interface {
	// Read reports to the channel that a person's last message was read and, if typing is true, that a reply is being
	// written.
	Read(ctx context.Context, companyID, conversationID string, typing bool) error
}

// Channel adds the data of messaging channels to the inbox.
type Channel struct {
	Store    *store.Store
	Messages Reader
}

// Templates serves the additional data of conversations over a messaging channel: the reply window, the delivery state
// of replies, and templates.
type Templates struct {
	Gate          *member.Gate
	Store         *store.Store
	Conversations *conversation.Conversations
	Send          sending.Send
	Channel       Channel
}

func (x Templates) Routes() []httpio.Route {
	const one = "/conversations/{id}"
	return []httpio.Route{
		member.Route(x.Gate, "GET", one+"/templates", auth.MayAnswerConversations, x.templates),
		member.Route(x.Gate, "POST", one+"/templates", auth.MayAnswerConversations, x.send).Taking(templateRequest{}),
	}
}

const (
	overMessages = "whatsapp" // the channel of conversations over messaging channels
	maxOffered   = 200
	// maxTemplates is the number of templates looked up together, newest first.
	maxTemplates = 20
	maxMark      = 5 * time.Second
)

// windowView is the reply window: the time until which replies may be sent.
type windowView struct {
	Until    string `json:"until"`
	Number   string `json:"number"` // the contact's number; empty if the channel did not report it
	UserID   string `json:"user_id,omitempty"`
	SenderID string `json:"sender_id"` // empty if the sender was removed
	Sender   string `json:"sender"`    // number of the sender
	Provider string `json:"provider"`
}

// delivery is the delivery state of a reply.
type delivery struct {
	Seq    int64  `json:"seq"`
	State  string `json:"state" enum:"queued,sending,sent,delivered,read,failed,unknown"`
	Reason string `json:"reason,omitempty"`
	Detail string `json:"detail,omitempty"`
	Mail   bool   `json:"mail,omitempty"` // sent by e-mail to a visitor who left
}

// window returns the reply window of a conversation, or nil if it has none.
func (x Channel) window(ctx context.Context, c *chats.Conversation) (*windowView, *chats.Window, error) {
	if c.Channel != overMessages {
		return nil, nil, nil
	}
	w, err := x.Store.Replies.Window(ctx, c.CompanyID, c.ID)
	if err != nil || w == nil {
		return nil, nil, err
	}
	v := &windowView{Until: carillon.FormatTime(w.Until), Number: w.Number, UserID: w.UserID}
	s, err := x.Store.Senders.SenderOf(ctx, c.CompanyID, w.SenderUID)
	if err == nil && s != nil {
		v.SenderID, v.Sender, v.Provider = s.ID, s.Number, s.Provider
	}
	return v, w, err
}

// deliveries returns the delivery states of the replies in turns, and of the templates sent by teammates.
func (x Channel) deliveries(ctx context.Context, c *chats.Conversation, turns []chats.Turn) ([]delivery, error) {
	if len(turns) == 0 {
		return nil, nil
	}
	if c.Channel != overMessages {
		return x.mailed(ctx, c, turns)
	}
	sent, err := x.Store.Replies.Replies(ctx, c.CompanyID, c.ID, turns[0].Seq, turns[len(turns)-1].Seq)
	if err != nil {
		return nil, err
	}
	all := make([]delivery, len(sent))
	for i, r := range sent {
		all[i] = delivery{Seq: r.Seq, State: r.State, Reason: r.Reason, Detail: r.Detail}
	}
	for i := range turns {
		if t := &turns[len(turns)-1-i]; t.Extra.Notification != "" && len(all) < len(sent)+maxTemplates {
			d, err := x.delivered(ctx, c.CompanyID, t)
			if err != nil {
				return nil, err
			}
			all = append(all, d...)
		}
	}
	for i := range turns {
		if t := &turns[i]; t.Extra.Delivery != "" {
			all = append(all, delivery{Seq: t.Seq, State: string(t.Extra.Delivery)})
		}
	}
	return all, nil
}

// mailed returns the states of the replies in turns that go by e-mail to a visitor who left.
func (x Channel) mailed(ctx context.Context, c *chats.Conversation, turns []chats.Turn) ([]delivery, error) {
	if c.Channel != "web_chat" {
		return nil, nil
	}
	sent, err := x.Store.Mails.Of(ctx, c.CompanyID, c.ID, turns[0].Seq, turns[len(turns)-1].Seq)
	var all []delivery
	for _, m := range sent {
		if m.State != "seen" {
			all = append(all, delivery{Seq: m.Seq, State: m.State, Reason: m.Reason, Mail: true})
		}
	}
	return all, err
}

// delivered returns the delivery state of the template in a turn, or nothing if its notification was deleted.
func (x Channel) delivered(ctx context.Context, companyID string, t *chats.Turn) ([]delivery, error) {
	v, _, err := notify.Sent{Store: x.Store}.Find(ctx, companyID, t.Extra.Notification, 0, 1)
	if carillon.IsCode(err, carillon.NotFound) || err == nil && len(v.Recipients) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d := delivery{Seq: t.Seq, State: string(v.Recipients[0].State), Reason: string(v.Recipients[0].Reason)}
	switch carillon.State(d.State) {
	case carillon.StateScheduled:
		d.State = string(carillon.StateQueued)
	case carillon.StateCanceled, carillon.StateSkipped:
		d.State = string(carillon.StateFailed)
	default:
	}
	return []delivery{d}, nil
}

// open refuses a reply if the conversation's reply window is closed. Errors: conflict.
func (x Channel) open(ctx context.Context, companyID, id string) error {
	c, err := x.Store.Chats.Find(ctx, companyID, id)
	if err != nil || c.Channel != overMessages {
		return err
	}
	w, err := x.Store.Replies.Window(ctx, companyID, id)
	if err != nil {
		return err
	}
	if w == nil || !time.Now().Before(w.Until) {
		return &carillon.Error{Code: carillon.Conflict, Message: "The window for replies is closed", Details: carillon.Details{
			{Key: "reason", Value: "The contact wrote more than 24 hours ago: only a template can be sent"},
			{Key: "window", Value: "closed"},
		}}
	}
	return nil
}

// mayAsk refuses to ask for a number that the channel reports, or on another channel. Errors: conflict.
func (x Channel) mayAsk(ctx context.Context, companyID, id string) error {
	w, err := x.Store.Replies.Window(ctx, companyID, id)
	switch {
	case err != nil:
		return err
	case w == nil:
		return carillon.InConflict("The conversation is not over a messaging channel")
	case w.Number != "":
		return carillon.InConflict("The contact's number is known")
	}
	return nil
}

// mayAskForCalls refuses to ask for permission to call, unless calls are on for the sender of the conversation.
func (x Channel) mayAskForCalls(ctx context.Context, companyID, id string) error {
	w, err := x.Store.Replies.Window(ctx, companyID, id)
	if err != nil {
		return err
	}
	if w == nil {
		return carillon.InConflict("The conversation is not over a messaging channel")
	}
	all, err := x.Store.Senders.Senders(ctx, companyID)
	if err != nil {
		return err
	}
	s, err := x.Store.Senders.SenderOf(ctx, companyID, w.SenderUID)
	if err != nil {
		return err
	}
	if s == nil || !slices.ContainsFunc(all, func(l *carillon.Sender) bool { return provider.OverWhatsApp(l) == s.ID }) {
		return carillon.InConflict("Calls are off for this number")
	}
	return nil
}

// mark reports to the conversation's channel that it was read, or that a teammate is typing.
func (x Channel) mark(ctx context.Context, c *chats.Conversation, typing bool) {
	if c.Channel != overMessages {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxMark)
	defer cancel()
	_ = x.Messages.Read(ctx, c.CompanyID, c.ID, typing) // a failure has no consequences
}

// offered is a template that a teammate may send.
type offered struct {
	Name       string               `json:"name"`
	Language   string               `json:"language"`
	Category   string               `json:"category"`
	Components []carillon.Component `json:"components"`
	Needs      []string             `json:"needs"` // the required keys of components_push
}

// reached returns a conversation with its reply window and the window's sender.
func (x Templates) reached(r *http.Request, by member.Member) (*chats.Conversation, *chats.Window, *carillon.Sender, error) {
	c, err := find(r, x.Store, by)
	if err != nil {
		return nil, nil, nil, err
	}
	_, w, err := x.Channel.window(r.Context(), c)
	if err != nil {
		return nil, nil, nil, err
	}
	if w == nil {
		return nil, nil, nil, carillon.InConflict("The conversation is not over a messaging channel")
	}
	s, err := x.Store.Senders.SenderOf(r.Context(), by.CompanyID, w.SenderUID)
	if err == nil && s == nil {
		err = carillon.InConflict("The sender was removed")
	}
	return c, w, s, err
}

// templates responds with the approved templates of the conversation's sender.
func (x Templates) templates(r *http.Request, by member.Member) (httpio.List[offered], error) {
	_, _, s, err := x.reached(r, by)
	if err != nil {
		return httpio.List[offered]{}, err
	}
	all, err := x.Store.Templates.Templates(r.Context(), s.UID)
	if err != nil {
		return httpio.List[offered]{}, err
	}
	page := httpio.List[offered]{Data: []offered{}}
	for _, t := range all {
		needs, err := content.Needs(t)
		if err != nil || t.Status != carillon.TemplateApproved || len(page.Data) == maxOffered {
			continue
		}
		page.Data = append(page.Data, offered{t.Name, t.Language, t.Category, t.Components, append([]string{}, needs...)})
	}
	return page, nil
}

// send sends a template to the contact, like an application's request, and shows it in the conversation.
func (x Templates) send(r *http.Request, by member.Member) (change, error) {
	client, name, language, variables, err := readTemplate(r)
	if err != nil {
		return change{}, err
	}
	c, w, s, err := x.reached(r, by)
	if err != nil {
		return change{}, err
	}
	all, err := x.Store.Templates.Templates(r.Context(), s.UID)
	if err != nil {
		return change{}, err
	}
	t, err := content.FindTemplate(all, name, language)
	if err != nil {
		return change{}, err
	}
	contact, err := x.Store.Contacts.ContactOf(r.Context(), by.CompanyID, c.ContactID)
	if err != nil {
		return change{}, err
	}
	address := cmp.Or(w.Number, contact.Number, w.UserID, contact.UserID)
	if address == "" {
		return change{}, carillon.InConflict("The contact's number is not known: ask for it, and note it with the contact")
	}
	class := classOf(t)
	hit, err := x.Store.Suppressions.Suppressed(r.Context(), by.CompanyID, class, []identity.Key{identity.Of(address)})
	if err != nil {
		return change{}, err
	}
	if len(hit) > 0 {
		return change{}, carillon.InConflict("The contact wants no messages: the number is suppressed")
	}
	sub := &notify.Submission{Route: "panel/conversations/templates", IdempotencyKey: c.ID + "/" + client}
	id, err := x.Send.Accept(r, by, sub, &request.Draft{
		Channel: carillon.Messaging, Contact: fieldsOf(contact, address), Sender: s.ID, Template: t.Name, Language: t.Language,
		Type: class.String(), Campaign: "Inbox", Components: variables,
	})
	if err != nil {
		return change{}, err
	}
	shown, err := renderedOf(t, sub.Request)
	if err != nil {
		return change{}, err
	}
	turn, c, err := x.Conversations.Runner.SentTemplate(r.Context(), by.Teammate(), c.ID, client, shown, id)
	return changed(r.Context(), x.Store, turn, c, err)
}

// templateRequest sends a template.
type templateRequest struct {
	ClientID  string            `json:"client_id"`
	Name      string            `json:"name"`
	Language  string            `json:"language"`
	Variables map[string]string `json:"variables,omitempty"`
}

// readTemplate reads the template to send.
func readTemplate(r *http.Request) (client, name, language string, variables map[string]string, err error) {
	o, err := form.Body[templateRequest](r)
	if err != nil {
		return "", "", "", nil, err
	}
	if client, err = form.Text(o, "client_id", form.MaxClientID); err != nil {
		return "", "", "", nil, err
	}
	if name, err = form.Text(o, "name", form.MaxTemplateName); err != nil {
		return "", "", "", nil, err
	}
	if language, err = form.Text(o, "language", form.MaxName); err != nil {
		return "", "", "", nil, err
	}
	variables = map[string]string{}
	v, given, err := o.Find("variables").Object("variables")
	if err != nil || !given {
		return client, name, language, variables, err
	}
	if len(v.Keys()) > form.MaxVariables {
		return "", "", "", nil, carillon.Invalid("variables", "Too many")
	}
	for _, key := range v.Keys() {
		if variables[key], _, err = v.String("variables."+carillon.Shorten(key), key); err != nil {
			return "", "", "", nil, err
		}
	}
	return client, name, language, variables, nil
}

// classOf returns the class of messages of a template.
func classOf(t *carillon.Template) carillon.Class {
	switch t.Category {
	case "MARKETING":
		return carillon.Marketing
	case "UTILITY":
		return carillon.Utility
	}
	return carillon.Transactional
}

// fieldsOf returns a contact in the form used by requests.
func fieldsOf(c *chats.Contact, address string) map[string]string {
	number, userID := identity.Split(address)
	contact := map[string]string{"number": number}
	if userID != "" {
		contact = map[string]string{"user_id": userID}
	}
	if c.Name != "" {
		contact["name"] = c.Name
	}
	return contact
}

// renderedOf returns the text of a request's only message.
func renderedOf(t *carillon.Template, req *request.Request) (string, error) {
	c, err := req.Content(t, 0)
	if err != nil {
		return "", err
	}
	if content.Secret(t) { // the text stays in the conversation
		c = content.Masked(&c)
	}
	shown, err := content.Render(t, &c)
	if err != nil {
		return "", err
	}
	parts := []string{shown.Header, shown.Body, shown.Footer}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n"), nil
}
