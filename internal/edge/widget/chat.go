package widget

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/hours"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/attachment"
	"carillon/internal/edge/httpio"
	"carillon/internal/event/realtime"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
)

// chat serves the routes that the chat page calls.
type chat struct {
	host          *host
	conversations *conversation.Conversations
	chats         *chats.Store
	files         *files.Files
	events        *realtime.Hub
}

const (
	maxNameLength    = 120
	maxEmailLength   = 254
	maxPageLength    = 2048
	maxClientID      = 64
	maxReasonLength  = 500
	maxCommentLength = 1000
	// maxHistory is the number of turns shown at the start of a session; earlier ones are not shown.
	maxHistory = 500
	chatBody   = 32 << 10
)

func (d chat) routes() []httpio.Route {
	post := func(name string, handle func(r *http.Request, s *session, f *companyWidget) (any, error)) httpio.Route {
		return httpio.Route{
			Pattern: "POST " + prefix + "/chat/" + name, Access: "chat", CORS: d.cors(), MaxBody: chatBody,
			Handle: httpio.Value(func(r *http.Request) (any, error) {
				s, f, err := d.session(r)
				if err != nil {
					return nil, err
				}
				httpio.SetCompany(r.Context(), s.Company)
				stored := name != "typing" && name != "seen"
				if err := d.host.mayCall(r, f.company, s.Contact, stored); err != nil {
					return nil, err
				}
				return handle(r, s, f)
			}),
		}
	}
	return []httpio.Route{
		{Pattern: "POST " + prefix + "/chat/session", Access: "none", CORS: d.cors(), MaxBody: chatBody, Handle: httpio.Value(d.begin)},
		{Pattern: "POST " + prefix + "/chat/files", Access: "chat", CORS: d.cors(), MaxBody: files.MaxBody, Handle: d.receive},
		{Pattern: "GET " + prefix + "/chat/stream", Access: "chat", CORS: d.cors(), Stream: true, Handle: d.stream},
		post("turns", d.say), post("typing", d.typing), post("seen", d.seen), post("handoff", d.handoff), post("contact", d.introduce),
		post("rating", d.rate), post("score", d.score), post("end", d.end),
	}
}

// Limits of calls for a client network and for a company, as multiples of the limit per visitor. An office counts as
// one network.
const (
	clientCalls  = 5
	companyCalls = 50
)

// mayCall counts a call of a visitor. Calls that store something also count for the visitor's network and company; the
// others do not, because an office where many people type causes a lot of them. Errors: rate_limit_exceeded,
// service_unavailable.
func (h *host) mayCall(r *http.Request, c *carillon.Company, visitor string, stored bool) error {
	most := c.Limits.WidgetCallsPerMinute
	if !stored {
		_, err := h.limits.Allow(r.Context(), "chat/"+visitor, most, 1)
		return err
	}
	for _, x := range []struct {
		name string
		most int
	}{
		{"chat/" + visitor, most},
		{"chat calls/" + c.ID + "/" + h.address(r), clientCalls * most},
		{"chat calls/" + c.ID, companyCalls * most},
	} {
		if _, err := h.limits.Allow(r.Context(), x.name, x.most, 1); err != nil {
			return err
		}
	}
	return nil
}

// cors allows all origins. The session check decides whether an origin may use the widget.
func (d chat) cors() httpio.CORS {
	return httpio.CORS{Allow: func(*http.Request, string) bool { return true }}
}

// state is the state of a conversation, as the page shows it.
type state struct {
	State    chats.State `json:"state"`
	Position int         `json:"position,omitempty"` // place in the queue, from 1
	Away     bool        `json:"away"`               // no teammate is available
}

func (d chat) stateOf(ctx context.Context, c *chats.Conversation) (x state, err error) {
	x = state{State: c.State, Away: c.State == chats.Missed}
	if c.State == chats.Queued {
		x.Position, err = d.chats.QueuePosition(ctx, c)
	}
	return x, err
}

// sessionStart is the response that starts a session.
type sessionStart struct {
	Token          string `json:"token"`
	ExpiresAt      string `json:"expires_at"`
	ConversationID string `json:"conversation_id"`
	state
	Contact contactView `json:"contact"`
	Turns   []turnView  `json:"turns"`
	Limits  limits      `json:"limits"`
}

type contactView struct {
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
}

type limits struct {
	Text  int      `json:"text"`  // characters
	File  int64    `json:"file"`  // bytes
	Types []string `json:"types"` // file types
}

// begin opens the visitor's conversation, or continues their previous one.
func (d chat) begin(r *http.Request) (any, error) {
	body, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	id, err := uuid(body, "widget_id")
	if err != nil {
		return nil, err
	}
	visitor, err := uuid(body, "customer_id")
	if err != nil {
		return nil, err
	}
	f, err := d.host.find(r.Context(), "chat", id)
	switch {
	case err != nil:
		return nil, err
	case f == nil:
		return nil, carillon.Absent("Widget")
	}
	httpio.SetCompany(r.Context(), f.company.ID)
	if err := d.host.mayUse(r, f); err != nil {
		return nil, err
	}
	for _, name := range []string{"chat/" + f.company.ID + "/" + d.host.address(r), "visitor/" + f.company.ID + "/" + visitor} {
		if _, err := d.host.limits.Allow(r.Context(), name, f.company.Limits.WidgetCallsPerMinute, 1); err != nil {
			return nil, err
		}
	}
	if _, err := d.host.limits.Allow(
		r.Context(), "chats/"+f.company.ID, companyCalls*f.company.Limits.WidgetCallsPerMinute, 1,
	); err != nil {
		return nil, err
	}
	start, err := d.start(body, f, visitor)
	if err != nil {
		return nil, err
	}
	c, contact, err := d.conversations.Open(r.Context(), start)
	if err != nil {
		return nil, err
	}
	return d.begun(r, f, c, contact)
}

func (d chat) start(body *jsonbody.Object, f *companyWidget, visitor string) (conversation.Start, error) {
	var x conversation.Start
	lang, err := line(body, "lang", maxLanguage, false)
	if err != nil {
		return x, err
	}
	page, err := line(body, "page", maxPageLength, false)
	if err != nil {
		return x, err
	}
	token, _, err := body.String("identity", "identity")
	if err != nil {
		return x, err
	}
	anew, _, err := body.Bool("anew", "anew")
	if err != nil {
		return x, err
	}
	lang = canonical(lang, f.Language)
	contact, err := f.contact(visitor, lang, token)
	return conversation.Start{
		Channel: "web_chat", AgentID: f.Agent, Language: lang, Page: webAddress(page), Anew: anew, Contact: contact,
	}, err
}

func (d chat) begun(r *http.Request, f *companyWidget, c *chats.Conversation, contact *chats.Contact) (any, error) {
	token, expires, err := d.host.token(session{
		Conversation: c.ID, Contact: contact.ID, Company: c.CompanyID, Widget: f.ID, Origin: r.Header.Get("Origin"),
	}, sessionAudience, sessionAge, time.Now())
	if err != nil {
		return nil, err
	}
	turns, err := d.history(r.Context(), c)
	if err != nil {
		return nil, err
	}
	state, err := d.stateOf(r.Context(), c)
	if err != nil {
		return nil, err
	}
	return &sessionStart{
		Token: token, ExpiresAt: carillon.FormatTime(expires), ConversationID: c.ID, state: state,
		Contact: contactView{contact.Name, contact.Email},
		Turns:   turns, Limits: limits{Text: conversation.MaxText, File: d.files.Most(), Types: files.Types()},
	}, nil
}

// history returns the newest turns that a conversation's contact may see.
func (d chat) history(ctx context.Context, c *chats.Conversation) ([]turnView, error) {
	turns, err := d.chats.TurnsBefore(ctx, c.CompanyID, c.ID, c.LastSeq+1, maxHistory)
	views := []turnView{}
	for i := range turns {
		view, shown, err := d.show(ctx, c.CompanyID, turns[i].View())
		if err != nil {
			return nil, err
		}
		if shown {
			views = append(views, view)
		}
	}
	return views, err
}

// turnView is a turn as its contact sees it.
type turnView struct {
	Seq      int64          `json:"seq"`
	Author   chats.Author   `json:"author"`
	Kind     string         `json:"kind"`
	Text     string         `json:"text"`
	At       string         `json:"at"`
	ClientID string         `json:"client_id,omitempty"`
	Name     string         `json:"name,omitempty"` // name of the teammate or the agent
	Choices  []string       `json:"choices,omitempty"`
	File     *chats.File    `json:"file,omitempty"`
	Sources  []chats.Source `json:"sources,omitempty"`
	Event    string         `json:"event,omitempty"`
	Rating   int            `json:"rating,omitempty"`
	Of       int64          `json:"of,omitempty"`
	Voice    *chats.Voice   `json:"voice,omitempty"`
	Score    string         `json:"score,omitempty"` // the visitor's
}

// show returns a company's turn as its contact sees it. shown is false for turns visible only to teammates.
func (d chat) show(ctx context.Context, companyID string, v chats.TurnView) (view turnView, shown bool, err error) {
	_, pages := d.host.addresses()
	file, err := d.files.Signed(ctx, companyID, v.File, pages, time.Now())
	return turnView{
		v.Seq, v.Author, v.Kind, v.Text, v.At, v.ClientID, v.Name, v.Choices, file, v.Sources, v.Event, v.Rating, v.Of, v.Voice, v.Score,
	}, !v.Note, err
}

// filesPerMinute limits the uploads of one visitor if the company has limits.
const filesPerMinute = 20

// receive stores a file for the visitor's next turn.
func (d chat) receive(w http.ResponseWriter, r *http.Request) error {
	s, f, err := d.session(r)
	if err == nil {
		httpio.SetCompany(r.Context(), s.Company)
		_, err = d.host.limits.Allow(r.Context(), "files/"+s.Contact, min(filesPerMinute, f.company.Limits.WidgetCallsPerMinute), 1)
	}
	if err == nil {
		most := clientCalls * min(filesPerMinute, f.company.Limits.WidgetCallsPerMinute)
		_, err = d.host.limits.Allow(r.Context(), "files/"+s.Company+"/"+d.host.address(r), most, 1)
	}
	if err != nil {
		httpio.LeaveBody(r.Context())
		return err
	}
	from := s.from()
	from.Client = d.host.address(r)
	kept, err := attachment.Receive(w, r, d.files, from)
	if err != nil {
		return err
	}
	_, pages := d.host.addresses()
	signed, err := d.files.Signed(r.Context(), s.Company, kept, pages, time.Now())
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, signed)
}

// from returns the visitor as the sender of a file.
func (s *session) from() files.From {
	return files.From{CompanyID: s.Company, ConversationID: s.Conversation, SentBy: s.Contact, Visitor: true}
}

// say appends the visitor's turn: a text, a choice or a file.
func (d chat) say(r *http.Request, s *session, _ *companyWidget) (any, error) {
	body, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	in := conversation.Said{}
	if in.ClientID, err = line(body, "client_id", maxClientID, true); err != nil {
		return nil, err
	}
	given := 0
	for _, kind := range []string{chats.KindText, chats.KindChoice, chats.KindFile} {
		text, present, err := body.String(kind, kind)
		if err != nil {
			return nil, err
		}
		if present {
			given++
			in.Kind, in.Text = kind, conversation.Clean(text)
		}
	}
	switch n := utf8.RuneCountInString(in.Text); {
	case given != 1:
		return nil, carillon.Invalid("body", "Takes one of text, choice and file")
	case n == 0:
		return nil, carillon.Missing(in.Kind)
	case n > conversation.MaxText:
		return nil, carillon.Invalid(in.Kind, "At most "+strconv.Itoa(conversation.MaxText)+" characters")
	case in.Kind == chats.KindFile:
		if in.File, err = d.files.Keep(r.Context(), s.from(), in.Text); err != nil {
			return nil, err
		}
		in.Text = ""
	}
	turn, _, err := d.conversations.Say(r.Context(), s.Company, s.Conversation, in)
	if err != nil {
		return nil, err
	}
	view, _, err := d.show(r.Context(), s.Company, turn.View())
	return view, err
}

func (d chat) typing(_ *http.Request, s *session, _ *companyWidget) (any, error) {
	d.conversations.Typing(s.Company, s.Conversation, chats.Visitor, "", "")
	return nil, nil
}

func (d chat) seen(r *http.Request, s *session, _ *companyWidget) (any, error) {
	body, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	seq, err := whole(body, "seq", 1<<53)
	if err != nil {
		return nil, err
	}
	return nil, d.conversations.Seen(r.Context(), s.Company, s.Conversation, int64(seq))
}

func (d chat) handoff(r *http.Request, s *session, f *companyWidget) (any, error) {
	return d.ask(r, s, f)
}

// ask requests a teammate. Errors: conflict if the widget does not offer one.
func (d chat) ask(r *http.Request, s *session, f *companyWidget) (x state, err error) {
	if !orTrue(f.TalkToPerson) {
		return x, carillon.InConflict("The widget offers no teammate")
	}
	body, err := httpio.Object(r)
	if err != nil {
		return x, err
	}
	reason, err := line(body, "reason", maxReasonLength, false)
	if err != nil {
		return x, err
	}
	now := time.Now()
	open := !hours.Next(f.Hours, now).After(now)
	c, err := d.conversations.Ask(r.Context(), s.Company, s.Conversation, reason, open)
	if err != nil {
		return x, err
	}
	return d.stateOf(r.Context(), c)
}

func (d chat) introduce(r *http.Request, s *session, _ *companyWidget) (any, error) {
	body, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	name, err := line(body, "name", maxNameLength, false)
	if err != nil {
		return nil, err
	}
	email, err := line(body, "email", maxEmailLength, true)
	if err != nil {
		return nil, err
	}
	if local, domain, ok := strings.Cut(email, "@"); !ok || local == "" || !strings.Contains(domain, ".") ||
		strings.ContainsAny(email, " <>\"") {
		return nil, carillon.BadFormat("email", carillon.Shorten(email), "e-mail address", "ana@example.com")
	}
	return nil, d.conversations.Introduce(r.Context(), s.Company, s.Conversation, name, email)
}

func (d chat) rate(r *http.Request, s *session, _ *companyWidget) (any, error) {
	body, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	return d.rated(r, s, body)
}

// rated records the rating in the body of a request.
func (d chat) rated(r *http.Request, s *session, body *jsonbody.Object) (any, error) {
	rating, err := whole(body, "rating", 5)
	if err != nil {
		return nil, err
	}
	if rating < 1 {
		return nil, carillon.Invalid("rating", "Must be a whole number from 1 to 5")
	}
	comment, _, err := body.String("comment", "comment")
	if err != nil {
		return nil, err
	}
	return nil, d.conversations.Rate(r.Context(), s.Company, s.Conversation, rating, clip(conversation.Clean(comment), maxCommentLength))
}

// score records the visitor's score of an answer of the agent. Errors: conflict if the widget does not ask for scores;
// not_found for other turns.
func (d chat) score(r *http.Request, s *session, f *companyWidget) (any, error) {
	if !orTrue(f.Scores) {
		return nil, carillon.InConflict("The widget does not ask for scores")
	}
	body, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	seq, err := whole(body, "seq", 1<<53)
	if err != nil {
		return nil, err
	}
	score, present, err := body.String("score", "score")
	switch {
	case err != nil:
		return nil, err
	case !present || score != "" && score != chats.Like && score != chats.Dislike:
		return nil, carillon.Invalid("score", "Must be like, dislike, or empty to withdraw it")
	}
	if err := d.conversations.Scoreable(r.Context(), s.Company, s.Conversation, int64(seq)); err != nil {
		return nil, err
	}
	return nil, d.conversations.Score(r.Context(), s.Company, s.Conversation, int64(seq), score)
}

func (d chat) end(r *http.Request, s *session, _ *companyWidget) (any, error) {
	c, err := d.conversations.Leave(r.Context(), s.Company, s.Conversation)
	if err != nil {
		return nil, err
	}
	return struct {
		State chats.State `json:"state"`
	}{c.State}, nil
}

// uuid reads a required UUID.
func uuid(body *jsonbody.Object, field string) (string, error) {
	s, err := line(body, field, 100, true)
	if err == nil {
		err = checkID(field, s)
	}
	return strings.ToLower(s), err
}

// line reads a single-line string of at most most characters.
func line(body *jsonbody.Object, field string, most int, required bool) (string, error) {
	s, _, err := body.String(field, field)
	if err != nil {
		return "", err
	}
	s = strings.TrimSpace(s)
	switch {
	case s == "" && required:
		return "", carillon.Missing(field)
	case utf8.RuneCountInString(s) > most:
		return "", carillon.Invalid(field, "At most "+strconv.Itoa(most)+" characters")
	case strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "", carillon.Invalid(field, "Must be one line")
	}
	return s, nil
}

// whole reads a required integer from 0 to most.
func whole(body *jsonbody.Object, field string, most int) (int, error) {
	v := body.Find(field)
	if !v.Present() {
		return 0, carillon.Missing(field)
	}
	n, err := strconv.Atoi(string(v.Raw()))
	if err != nil || n < 0 || n > most {
		return 0, carillon.Invalid(field, "Must be a whole number from 0 to "+strconv.Itoa(most))
	}
	return n, nil
}

func clip(s string, most int) string {
	runes := []rune(strings.TrimSpace(s))
	return string(runes[:min(len(runes), most)])
}

// webAddress returns the address of a page without query and fragment, which may contain secrets. It returns "" for
// anything but http and https.
func webAddress(s string) string {
	s, _, _ = strings.Cut(s, "#")
	s, _, _ = strings.Cut(s, "?")
	if strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") {
		return s
	}
	return ""
}
