package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"carillon/client"
)

type button struct {
	ID    string `json:"id" jsonschema:"comes back as choice_id in the event message.received"`
	Title string `json:"title" jsonschema:"at most 20 characters"`
}

type answerInput struct {
	SendID       string   `json:"send_id" jsonschema:"your name for this answer, such as pier-HT-1042; reuse it to retry"`
	Number       string   `json:"number,omitempty" jsonschema:"of the person, digits only; or conversation_id"`
	Conversation string   `json:"conversation_id,omitempty" jsonschema:"of the event message.received"`
	Text         string   `json:"text" jsonschema:"at most 4096 characters, 1024 with buttons, a link or a picture"`
	Buttons      []button `json:"buttons,omitempty" jsonschema:"at most 3 choices below the text"`
	LinkTitle    string   `json:"link_title,omitempty" jsonschema:"of a button that opens link_url, at most 20 characters"`
	LinkURL      string   `json:"link_url,omitempty" jsonschema:"what the button opens"`
	ImageURL     string   `json:"image_url,omitempty" jsonschema:"https URL of a picture, as of upload_media; text is its caption"`
	ReplyTo      string   `json:"reply_to,omitempty" jsonschema:"message_id of the message that is answered"`
}

type answerID struct {
	ID string `json:"message_id" jsonschema:"of answer_person"`
}

// answering adds the tools for answers within 24 hours.
func (t tools) answering(s *sdk.Server) {
	add(s, sends, "answer_person", "Answer a person who wrote",
		"Sends a text, with buttons, a link or a picture if given, to a person who wrote within the last 24 hours, without a "+
			"template. Returns the message_id; get_answer has its status. A conflict says when the 24 hours ended.\n\n"+
			"Retry a failed call with the same send_id: within 24 hours it sends nothing twice.", t.answer)
	add(s, reads, "get_answer", "Look up an answer",
		"The state of an answer (queued, sent, delivered, read, failed), its times and reason.",
		func(ctx context.Context, in answerID) (any, error) { return client.AnswersOf(t.c).State(ctx, in.ID) })
}

func (t tools) answer(ctx context.Context, in answerInput) (any, error) {
	key, err := sendKey(in.SendID)
	if err != nil {
		return nil, err
	}
	m := client.Answer{Conversation: in.Conversation, Type: "text", Text: in.Text, ReplyTo: in.ReplyTo, IdempotencyKey: key}
	if in.Number != "" {
		m.To = &client.Person{Number: in.Number}
	}
	switch {
	case len(in.Buttons) > 0:
		m.Type = "buttons"
		for _, b := range in.Buttons {
			m.Buttons = append(m.Buttons, client.AnswerOption{ID: b.ID, Title: b.Title})
		}
	case in.LinkURL != "":
		m.Type, m.Link = "link", &client.AnswerLink{Title: in.LinkTitle, URL: in.LinkURL}
	case in.ImageURL != "":
		m.Type, m.Text, m.Media = "image", "", &client.AnswerMedia{URL: in.ImageURL, Caption: in.Text}
	}
	if in.ImageURL != "" && m.Type != "image" {
		m.Header = &client.AnswerHeader{Image: in.ImageURL}
	}
	a, err := client.AnswersOf(t.c).Send(ctx, m)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"message_id": a.ID, "already_accepted": a.Replayed, "conversation_id": a.ConversationID, "window_closes_at": a.ClosesAt,
	}, nil
}
