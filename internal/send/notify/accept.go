package notify

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/base/content"
	"carillon/internal/base/destination"
	"carillon/internal/base/hours"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/queue"
	"carillon/internal/send/request"
	"carillon/internal/store"
	"carillon/internal/store/messages"
)

// Submission is a request to send whose credential, scope and rate limit have been checked.
type Submission struct {
	Company *carillon.Company
	Request *request.Request
	// Route and IdempotencyKey identify repeats, Hash identifies their content. The key may be empty.
	Route, IdempotencyKey, Hash string
	ResendOf                    string        // the notification whose failed recipients it is sent to; may be empty
	Keep                        time.Duration // retention of the key; 0 means keepAnswers
	// Sender is a sender chosen by the program, for the request's channel. If nil, recipient_id selects one.
	Sender *carillon.Sender
}

// Response is the response for the caller. Repeats get the same bytes.
type Response struct {
	ID       string // of the notification
	JSON     []byte
	Replayed bool
}

func replayed(answer string) Response { return Response{idIn(answer), []byte(answer), true} }

// keepAnswers is the retention of idempotency keys (docs/reference/sending.md).
const keepAnswers = 24 * time.Hour

// UnderMaintenance refuses requests during a maintenance window. Errors: service_unavailable.
func UnderMaintenance(ctx context.Context, s *store.Store) error {
	m, err := s.Accounts.Maintenance(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	if !m.On(now) {
		return nil
	}
	return &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "The service is under maintenance",
		Details: carillon.Details{{
			Key: "maintenance_window", Value: carillon.FormatTime(m.From) + "/" + carillon.FormatTime(m.Until),
		}},
		RetryAfter: limit.SecondsUntil(m.Until, now),
	}
}

// Repeat returns the response to an earlier request with the same key, or reserves the key until done is called. If
// the earlier request is still in progress on this node, it returns a 409; between nodes the store's transaction
// decides. Errors: idempotency_in_progress, idempotency_key_reused.
func (n *Notify) Repeat(ctx context.Context, companyID, route, key, hash string) (a Response, done func(), err error) {
	name := companyID + " " + route + " " + key
	if _, busy := n.running.LoadOrStore(name, true); busy {
		return Response{}, nil, &carillon.Error{
			Code: carillon.IdempotencyInProgress, Message: "A request with this idempotency key is still running", RetryAfter: 1,
			Details: carillon.Details{
				{Key: "field", Value: "Idempotency-Key"}, {Key: "reason", Value: "Wait for the first request to end, then repeat"},
			},
		}
	}
	done = func() { n.running.Delete(name) }
	answer, err := n.store.Notifications.LookupIdempotent(ctx, companyID, route, key, hash, time.Now())
	if err != nil {
		done()
		return Response{}, nil, err
	}
	if answer != "" {
		done()
		return replayed(answer), func() {}, nil
	}
	return Response{}, done, nil
}

// AcceptBody accepts the body of an HTTP request. Errors: those of Accept, and validation_failed.
func (n *Notify) AcceptBody(ctx context.Context, s *Submission, ch carillon.Channel, body []byte, flat bool) (Response, error) {
	release, err := n.store.DB.Commits.Admit(ctx, len(body))
	if err != nil {
		return Response{}, err
	}
	defer release()
	if s.Request, err = request.Parse(ch, body, flat, time.Now()); err != nil {
		return Response{}, err
	}
	return n.accept(ctx, s)
}

// Accept checks a submission and stores it. After a nil error it is durable and will be delivered. Errors: those of
// docs/reference/errors.md from agent_not_found to quota_exceeded, and service_unavailable.
func (n *Notify) Accept(ctx context.Context, s *Submission) (Response, error) {
	release, err := n.store.DB.Commits.Admit(ctx, len(s.Request.Source()))
	if err != nil {
		return Response{}, err
	}
	defer release()
	return n.accept(ctx, s)
}

// stopped returns the refusal of a company that is being moved since its request was authenticated: a body may be long on its way.
func (n *Notify) stopped(ctx context.Context, companyID string) error {
	c, err := n.store.Accounts.Company(ctx, companyID)
	if err == nil && c.Move != "" {
		err = c.Refusal()
	}
	return err
}

func (n *Notify) accept(ctx context.Context, s *Submission) (_ Response, err error) {
	req, sender, named := s.Request, s.Sender, s.Sender != nil
	if !named {
		if sender, named, err = n.pickSender(ctx, s.Company, req); err != nil {
			return Response{}, err
		}
	}
	now := time.Now()
	a := &messages.Accept{Notification: messages.Notification{
		ID: n.store.Notifications.NewID(now), CompanyID: s.Company.ID, Channel: req.Channel, SenderUID: sender.UID, Class: req.Class,
		Campaign: req.Campaign, Flat: req.Flat, Body: req.Source(), Scheduled: req.Scheduled, CreatedAt: now, DueAt: now,
		Labels: messages.Labels{
			RecipientID: req.RecipientID, TemplateName: req.TemplateName, Language: req.Language, AgentID: req.AgentID, Event: req.Event,
		},
	}}
	if req.Scheduled {
		a.Notification.DueAt = req.At
	}
	if !named {
		addNote(&a.Notification, noteDefaultSender)
	}
	if s.ResendOf != "" {
		addNote(&a.Notification, noteResendOf+s.ResendOf)
	}
	if req.Channel == carillon.Voice {
		a.DialAt = hours.Next(s.Company.CallingHours, a.Notification.DueAt)
	}
	repeats, err := n.checkContent(ctx, s.Company, sender, req, &a.Notification)
	if err != nil {
		return Response{}, err
	}
	if err := n.acceptFallback(ctx, s.Company, req, a); err != nil {
		return Response{}, err
	}
	if err := n.addMessages(ctx, s.Company, req, repeats, a); err != nil {
		return Response{}, err
	}
	if s.IdempotencyKey != "" {
		a.Idempotency = &messages.Idempotency{
			Route: s.Route, Key: s.IdempotencyKey, Hash: s.Hash, ExpiresAt: now.Add(cmp.Or(s.Keep, keepAnswers)),
		}
	}
	if err := n.stopped(ctx, s.Company.ID); err != nil {
		return Response{}, err
	}
	// The request is stored even if its caller disconnects: its lane must be woken, and its key must stay reserved
	// until then.
	body, err := n.keep(context.WithoutCancel(ctx), a)
	if err != nil {
		return Response{}, err
	}
	if a.Replay != "" {
		return replayed(a.Replay), nil
	}
	if n.o.Observer != nil {
		n.o.Observer.Accepted(ctx, &a.Notification, now)
	}
	if a.Notification.Open > 0 {
		n.wakeAt(&a.Notification)
	}
	return Response{ID: a.Notification.ID, JSON: body}, nil
}

// idTries bounds the ids tried for a notification. Ids can collide while two nodes have the same slot.
const idTries = 5

// keep stores a notification and returns the body of the response.
func (n *Notify) keep(ctx context.Context, a *messages.Accept) (body []byte, err error) {
	for range idTries {
		body = responseJSON(&a.Notification)
		if a.Idempotency != nil {
			a.Idempotency.Answer = string(body)
		}
		if err = n.store.Notifications.Accept(ctx, a); !errors.Is(err, messages.ErrIDTaken) {
			break
		}
		a.Notification.ID = n.store.Notifications.OtherID(a.Notification.CreatedAt)
	}
	return body, err
}

// kindOf returns the kind of work for a channel.
func kindOf(ch carillon.Channel) string {
	if ch == carillon.Voice {
		return queue.Calls
	}
	return queue.Messages
}

// responseJSON returns the body of the response. Clients rely on the order of its keys. No value needs escaping.
func responseJSON(n *messages.Notification) []byte {
	b := make([]byte, 0, 160)
	b = append(b, `{"success":true,"message":"Notification queued successfully","notification_id":"`...)
	b = append(b, n.ID...)
	if n.Scheduled {
		b = append(b, `","scheduled_time":"`...)
		b = append(b, carillon.FormatTime(n.DueAt)...)
	}
	return append(b, `"}`...)
}

// pickSender resolves recipient_id: a sender of the company by id or number, else the company's default sender
// (docs/reference/sending.md). For calls over WhatsApp it may also name the messaging sender, and there is no default. named
// reports whether recipient_id names the sender.
func (n *Notify) pickSender(ctx context.Context, c *carillon.Company, req *request.Request) (s *carillon.Sender, named bool, err error) {
	ch, recipientID := req.Channel, req.RecipientID
	all, err := n.store.Senders.SendersNamed(ctx, c.ID, recipientID)
	if err != nil {
		return nil, false, err
	}
	for _, s := range all {
		if s.Channel == ch && fits(s, req.Over) {
			return s, true, nil
		}
	}
	const field = "recipient_id"
	if req.Over == request.CallWhatsApp || req.Over == request.CallPhone && len(all) > 0 {
		if s, err = n.lineOver(ctx, c.ID, req.Over, all); err == nil && s == nil {
			err = carillon.InvalidValue(field, "No "+string(ch)+" sender of the company has this id or number", recipientID)
		}
		return s, true, err
	}
	if len(all) > 0 {
		reason := "This is a " + string(all[0].Channel) + " line; the route needs a " + string(ch) + " one"
		return nil, false, carillon.InvalidValue(field, reason, recipientID)
	}
	if elsewhere, err := n.store.Senders.ProvedElsewhere(ctx, c.ID, recipientID); err != nil || elsewhere {
		if err == nil {
			err = carillon.Denied("The recipient_id belongs to another company")
		}
		return nil, false, err
	}
	if c.StrictRecipientID {
		return nil, false, carillon.InvalidValue(field, "No "+string(ch)+" sender of the company has this id or number", recipientID)
	}
	standard, err := n.store.Senders.DefaultSender(ctx, c.ID, ch)
	if err == nil && standard == nil {
		err = carillon.InvalidValue(field, "The company has no default "+string(ch)+" sender and none has this id or number", recipientID)
	}
	return standard, false, err
}

// fits reports whether a line places calls over a channel; "" means any.
func fits(s *carillon.Sender, over string) bool {
	return over == "" || (over == request.CallWhatsApp) == (provider.OverWhatsApp(s) != "")
}

// lineOver returns the line for calls over WhatsApp of one of the messaging senders; nil if there is none, or for another channel.
func (n *Notify) lineOver(ctx context.Context, companyID, over string, named []*carillon.Sender) (*carillon.Sender, error) {
	all, err := n.store.Senders.Senders(ctx, companyID)
	i := slices.IndexFunc(all, func(line *carillon.Sender) bool {
		of := provider.OverWhatsApp(line)
		return of != "" && slices.ContainsFunc(named, func(s *carillon.Sender) bool {
			return s.Channel == carillon.Messaging && s.ID == of
		})
	})
	if i < 0 || over != request.CallWhatsApp {
		return nil, err
	}
	return all[i], err
}

// mayCallFrom refuses calls over WhatsApp from numbers that may not call people.
func mayCallFrom(line *carillon.Sender, recipientID string) error {
	if provider.OverWhatsApp(line) == "" {
		return nil
	}
	country := provider.Callless(line.Number)
	if country == "" {
		return nil
	}
	reason := "WhatsApp allows no calls to people from numbers of " + country
	return carillon.InvalidValue("recipient_id", reason, recipientID)
}

// checkContent checks the request against its template or agent, and returns which recipients duplicate an earlier
// one.
func (n *Notify) checkContent(
	ctx context.Context, c *carillon.Company, sender *carillon.Sender, req *request.Request, to *messages.Notification,
) ([]bool, error) {
	if req.Event != "" {
		known, err := n.store.Resources.FlowKnown(ctx, c.ID, req.Event)
		if err != nil {
			return nil, err
		}
		if !known {
			addNote(to, noteUnknownEvent)
		}
	}
	if req.Channel == carillon.Voice {
		if err := mayCallFrom(sender, req.RecipientID); err != nil {
			return nil, err
		}
		if _, err := n.store.Resources.Agent(ctx, c.ID, req.AgentID); err != nil {
			return nil, err
		}
		return nil, mayCall(n.o.Denied, req)
	}
	if err := n.ownIDs(ctx, c, sender, req); err != nil {
		return nil, err
	}
	list, err := n.store.Templates.Templates(ctx, sender.UID)
	if err != nil {
		return nil, err
	}
	t, err := content.FindTemplate(list, req.TemplateName, req.Language)
	if err != nil {
		return nil, err
	}
	to.TemplateID, to.Secret = t.ID, content.Secret(t)
	if err := req.CheckAgainst(t); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(req.Contacts, needsNumber(t)); i >= 0 {
		return nil, carillon.Invalid(req.ContactField(i, "number"), numberReason)
	}
	return req.Duplicates(t), nil
}

const (
	codes        = "AUTHENTICATION" // the category of templates that the channel sends to numbers only
	numberReason = "Templates of category AUTHENTICATION need a number: the channel sends no codes to a user_id"
	scopeReason  = "This id is of another business account: a person has a different id for each, and a sender reaches only its own"
)

// needsNumber returns a check whether a template cannot be sent to a contact because it has no number.
func needsNumber(t *carillon.Template) func(c request.Contact) bool {
	return func(c request.Contact) bool { return t.Category == codes && c.Number == "" }
}

// ownIDs refuses ids that are known only from business accounts other than the sender's. Unknown ids are allowed,
// because they may belong to the sender's account. Errors: validation_failed.
func (n *Notify) ownIDs(ctx context.Context, c *carillon.Company, sender *carillon.Sender, req *request.Request) error {
	var ids []string
	for i := range req.Contacts {
		if x := &req.Contacts[i]; x.Number == "" {
			ids = append(ids, x.UserID)
		}
	}
	if len(ids) == 0 || n.o.Portfolio == nil {
		return nil
	}
	foreign, err := n.store.Contacts.ForeignIDs(ctx, c.ID, n.o.Portfolio(sender), ids)
	if err != nil || len(foreign) == 0 {
		return err
	}
	i := slices.IndexFunc(req.Contacts, func(x request.Contact) bool { return x.Number == "" && foreign[x.UserID] })
	return carillon.InvalidValue(req.ContactField(i, "user_id"), scopeReason, req.Contacts[i].UserID)
}

// mayCall refuses contacts whose numbers are never called. Errors: limit_exceeded.
func mayCall(never destination.Denied, req *request.Request) error {
	for i := range req.Contacts {
		if never.Has(req.Contacts[i].Number) {
			return &carillon.Error{
				Code: carillon.LimitExceeded, Message: "This installation calls no such numbers",
				Details: carillon.Details{{Key: "field", Value: req.ContactField(i, "number")}, {Key: "reason", Value: deniedReason}},
			}
		}
	}
	return nil
}

const deniedReason = "Numbers that begin so, such as those of premium-rate services and satellites, are never called: " +
	"the operator has the list (calls-denied)"

// addMessages adds a message for each recipient. Duplicates and suppressed numbers are skipped and not charged.
func (n *Notify) addMessages(ctx context.Context, c *carillon.Company, req *request.Request, repeats []bool, a *messages.Accept) error {
	var suppressed map[identity.Key]bool
	if c.Suppresses {
		people := make([]identity.Key, 0, len(req.Contacts))
		for i := range req.Contacts {
			people = append(people, req.Contacts[i].Keys()...)
		}
		var err error
		if suppressed, err = n.store.Suppressions.Suppressed(ctx, c.ID, req.Class, people); err != nil {
			return err
		}
	}
	a.Messages = make([]messages.NewMessage, len(req.Contacts))
	for i := range req.Contacts {
		m := messages.NewMessage{Number: req.Contacts[i].Address()}
		switch {
		case repeats != nil && repeats[i]:
			m.Skip = carillon.ReasonDuplicate
		case slices.ContainsFunc(req.Contacts[i].Keys(), func(k identity.Key) bool { return suppressed[k] }):
			m.Skip = carillon.ReasonSuppressed
		default:
			a.Notification.Open++
		}
		a.Messages[i] = m
	}
	a.Notification.Total = len(a.Messages)
	if a.Notification.Open == 0 { // nothing will be delivered, so the contacts are not stored
		a.Notification.DoneAt, a.Notification.Body = a.Notification.CreatedAt, ""
	}
	a.Quota = messages.Quota{
		Day: a.Notification.CreatedAt.UTC().Format(time.DateOnly), Charge: a.Notification.Open, Limit: c.Limits.DailyRecipients,
		Bytes: a.Size(), BytesLimit: c.Limits.DailyBytes,
	}
	if a.Notification.Channel == carillon.Voice {
		a.Quota.Calls, a.Quota.CallsLimit = a.Notification.Open, c.Limits.DailyCalls
	}
	return nil
}

// Usage is a company's use of its daily quota.
type Usage struct {
	Date      string          `json:"date"`
	Quota     int             `json:"quota"`
	Used      int             `json:"used"`
	ResetTime string          `json:"reset_time"`
	Limits    carillon.Limits `json:"limits"`
}

// UsageOf reads a company's use of its daily quota.
func UsageOf(ctx context.Context, s *store.Store, c *carillon.Company) (*Usage, error) {
	now := time.Now().UTC()
	day := now.Format(time.DateOnly)
	used, err := s.Notifications.Used(ctx, c.ID, day)
	if err != nil {
		return nil, err
	}
	reset := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	return &Usage{Date: day, Quota: c.Limits.DailyRecipients, Used: used, ResetTime: carillon.FormatTime(reset), Limits: c.Limits}, nil
}

// requestOf decodes a notification's stored request.
func requestOf(n *messages.Notification) (*request.Request, error) {
	return request.Decode(n.Channel, n.Body, n.Flat)
}
