package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
	"carillon/internal/talk/messaging"
)

// marshal returns a message as stored.
func marshal(m *provider.PastMessage) (string, error) {
	text, err := json.Marshal(m)
	return string(text), err
}

func unmarshal(r *chats.PastRow) (*provider.PastMessage, error) {
	var m provider.PastMessage
	return &m, json.Unmarshal([]byte(r.Content), &m)
}

// build appends messages of one person to a conversation.
func (h *History) build(ctx context.Context, s *carillon.Sender, rows []chats.PastRow) error {
	agentID, language, err := h.o.AgentOf(ctx, s)
	if err != nil {
		return err
	}
	b := &chats.PastBuild{
		SenderUID: s.UID, Rows: rows, AgentID: agentID, Language: cmp.Or(language, "en"),
		Contact: chats.Contact{ID: carillon.NewID(h.now()), CompanyID: s.CompanyID, Language: language},
	}
	texts := map[string]string{} // by the channel's id
	for i := range rows {
		m, err := unmarshal(&rows[i])
		if err != nil {
			return err
		}
		b.Contact.Number, b.Contact.UserID = cmp.Or(b.Contact.Number, m.From), cmp.Or(b.Contact.UserID, m.UserID)
		t := turnOf(m)
		t.Extra.About = texts[m.ReplyTo]
		texts[m.ID] = about(t.Text)
		b.Turns, b.Files = append(b.Turns, t), append(b.Files, m.File != nil)
	}
	b.Known = h.known(s, b.Contact.Number, b.Contact.UserID)
	err = h.o.Store.Build(ctx, b)
	if errors.Is(err, chats.ErrOvertaken) { // erased meanwhile, or built by another node: the next step sees it
		return nil
	}
	return err
}

// maxAbout is the maximum length of the quoted beginning of a message, in characters.
const maxAbout = 120

func about(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > maxAbout {
		return string(r[:maxAbout-1]) + "…"
	}
	return text
}

// Reasons why a file of the history is missing (Extra.Why), in addition to those of package messaging.
const (
	fileAbsent  = "past"    // the channel has not shared it
	fileAwaited = "awaited" // it is being loaded
)

// turnOf returns the turn of a message. A file is an event until it is loaded.
func turnOf(m *provider.PastMessage) chats.Turn {
	author := chats.Visitor
	if m.Echo {
		author = chats.Teammate
	}
	t := chats.Turn{
		Author: author, Kind: chats.KindText, Text: conversation.Clean(m.Text), ClientID: string(author) + ":" + m.ID, At: m.At,
		Extra: chats.Extra{PhoneApp: m.Echo, Delivery: m.State, Enclosed: m.Enclosed},
	}
	event := func(name, why string) {
		t.Author, t.Kind, t.Extra.Event, t.Extra.Why = chats.System, chats.KindEvent, name, why
	}
	switch {
	case m.Absent:
		t.Text = ""
		event(conversation.NoFile, fileAbsent)
	case m.File != nil:
		t.Text = cmp.Or(t.Text, m.File.Name)
		event(conversation.NoFile, fileAwaited)
	case m.Kind == provider.InboundReaction:
		event(conversation.Reacted, "")
	case m.Event == provider.InboundEdited:
		event(conversation.Edited, "")
	case m.Event == provider.InboundDeleted:
		event(conversation.Deleted, "")
	case m.Kind != provider.InboundText && m.Kind != provider.InboundChoice:
		event(conversation.NotShown, "")
	}
	return t
}

const (
	fileTimeout = time.Minute
	fileTries   = 5
	fileRetry   = time.Minute
)

// file loads the file of a message, and puts it in the place of the event that announced it.
func (h *History) file(ctx context.Context, s *carillon.Sender, r *chats.PastRow) error {
	m, err := unmarshal(r)
	if err != nil {
		return err
	}
	t := turnOf(m)
	f, why, err := h.load(ctx, s, r, m)
	if err != nil && ctx.Err() == nil && r.Tries+1 < fileTries {
		h.o.Log.InfoContext(ctx, "load a file of a history later", "company", s.CompanyID, "sender", s.ID, "error", err)
		return h.o.Store.DelayFile(ctx, r, h.now().Add(fileRetry))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case f != nil:
		author := chats.Visitor
		if m.Echo {
			author = chats.Teammate
		}
		t.Author, t.Kind, t.Text = author, chats.KindFile, conversation.Clean(m.Text)
		t.Extra.Event, t.Extra.Why, t.Extra.File = "", "", f
	case err != nil:
		t.Extra.Why = messaging.FileUnavailable
	default:
		t.Extra.Why = why
	}
	return h.o.Store.EndFile(ctx, r, &t)
}

// load downloads and stores a file. why is the reason if it is not available.
func (h *History) load(
	ctx context.Context, s *carillon.Sender, r *chats.PastRow, m *provider.PastMessage,
) (f *chats.File, why string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fileTimeout)
	defer cancel()
	from := files.From{CompanyID: s.CompanyID, ConversationID: r.ConversationID, Visitor: !m.Echo}
	f, why, err = messaging.Download(ctx, h.o.Channels[s.Provider], h.o.Files, s, from, m.File)
	if carillon.IsCode(err, carillon.NotFound) { // the conversation was deleted
		return nil, messaging.FileUnavailable, nil
	}
	return f, why, err
}
