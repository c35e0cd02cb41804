package whatsapp

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"carillon/internal/base/language"
	"carillon/internal/base/provider"
)

// inbound is a message from or to a person. Only the member of its type is set.
type inbound struct {
	From             loose   `json:"from"`
	FromUserID       string  `json:"from_user_id"`
	FromParentUserID string  `json:"from_parent_user_id"`
	To               loose   `json:"to"` // of messages written in the channel's own app
	ToUserID         string  `json:"to_user_id"`
	ToParentUserID   string  `json:"to_parent_user_id"`
	ID               string  `json:"id"`
	Timestamp        seconds `json:"timestamp"`
	Type             string  `json:"type"`
	Context          struct {
		ID      string  `json:"id"`
		Product product `json:"referred_product"`
	} `json:"context"`
	Group    loose    `json:"group_id"`
	System   change   `json:"system"`
	Referral referral `json:"referral"`
	History  struct {
		Status string `json:"status"`
	} `json:"history_context"`
	contents
}

// UnmarshalJSON drops members of an unexpected type and keeps the rest. A message without a valid id gets an id
// derived from its bytes, so that repetitions have the same id.
func (m *inbound) UnmarshalJSON(b []byte) error {
	type members inbound
	if err := decode(b, (*members)(m)); err != nil {
		return err
	}
	if !validInboundID(m.ID) {
		sum := sha256.Sum256(b)
		m.ID = "sha256." + hex.EncodeToString(sum[:])
	}
	return nil
}

type profile struct {
	WaID    loose  `json:"wa_id"`
	UserID  string `json:"user_id"`
	Profile struct {
		Name     string `json:"name"`
		Username string `json:"username"`
	} `json:"profile"`
}

const (
	maxInboundText = 4096 // characters, the channel's limit
	maxInboundID   = 500  // bytes of any id of the channel
	maxPersonName  = 200  // bytes
	maxPayload     = 256  // bytes of the payload of a button or choice
	maxEmoji       = 64   // bytes: a family is 25, a flag of a region 28
)

// read returns a message from a person. It returns false if the message has no author. At is zero if the channel sends
// no time.
func (m *inbound) read(names []profile) (provider.Inbound, bool) {
	x := provider.Inbound{ID: m.ID, At: m.Timestamp.instant(), ReplyTo: m.Context.ID}
	m.readAuthor(&x, names)
	return m.complete(x)
}

// complete adds the contents of a message to its author.
func (m *inbound) complete(x provider.Inbound) (provider.Inbound, bool) {
	m.fill(&x)
	if x.Group != "" {
		x.Writer = x.Person()
	}
	x.Text, x.Payload = cut(printed(x.Text), maxInboundText), short(x.Payload, maxPayload)
	if !validInboundID(x.ReplyTo) {
		x.ReplyTo = ""
	}
	return x, x.Person() != ""
}

func validInboundID(s string) bool {
	return s != "" && len(s) <= maxInboundID && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' })
}

// oneLine returns a short text of the channel without line breaks.
func oneLine(s string) string { return short(s, maxPersonName) }

// short returns a text on one line, cut to `most` bytes, without invisible characters and without those that change
// the direction of the surrounding text.
func short(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if turns(r) {
			return -1
		}
		return r
	}, printed(s))
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.TrimSpace(strings.ToValidUTF8(s[:most], ""))
	}
	return s
}

// printed returns a text without control characters other than line breaks and tabs.
func printed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// turns reports whether a character changes the direction of the text that follows.
func turns(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

func notEmpty(all ...string) (some []string) {
	for _, s := range all {
		if s != "" {
			some = append(some, s)
		}
	}
	return some
}

// replyReceipt converts a status to a receipt. It returns false if the status is not about one of our replies, or is
// not stored.
func (s *status) replyReceipt() (provider.ReplyReceipt, bool) {
	ref, err := provider.ParseReplyRef(s.Data)
	if err != nil {
		return provider.ReplyReceipt{}, false
	}
	var r provider.Receipt
	if !s.state(&r) {
		return provider.ReplyReceipt{}, false
	}
	return provider.ReplyReceipt{Ref: ref, ProviderID: s.ID, State: r.State, Reason: r.Reason, Detail: r.Detail}, true
}

// replyMessage returns the body of a reply.
func replyMessage(m *provider.Reply) map[string]any {
	b := map[string]any{
		"messaging_product": "whatsapp", "recipient_type": "individual", "biz_opaque_callback_data": m.Ref.String(),
	}
	if m.To != "" {
		b["to"] = m.To
	} else { // the API accepts an id in place of a number, but delivers to nobody
		b["recipient"] = m.UserID
	}
	switch n := len(m.Choices); {
	case m.Message != nil:
		freeForm(b, m.Message)
	case m.AskNumber:
		b["type"] = "interactive"
		b["interactive"] = map[string]any{
			"type": contactRequest, "body": map[string]any{"text": bodyOf(m, maxInteractive)},
			"action": map[string]any{"name": contactRequest},
		}
	case m.File != nil:
		kind := mediaKind(m.File.Type)
		f := map[string]any{"link": m.File.URL}
		if m.Text != "" && kind != "audio" {
			f["caption"] = cut(m.Text, maxCaption)
		}
		if kind == "document" {
			f["filename"] = m.File.Name
		}
		b["type"], b[kind] = kind, f
	case n == 0:
		b["type"], b["text"] = "text", map[string]any{"body": cut(m.Text, maxInboundText), "preview_url": false}
	case n <= maxButtons && !anyLonger(m.Choices, maxButtonTitle):
		var buttons []any
		for i, c := range m.Choices {
			buttons = append(buttons, map[string]any{"type": "reply", "reply": map[string]any{"id": choiceID(i), "title": c}})
		}
		b["type"] = "interactive"
		b["interactive"] = map[string]any{
			"type": "button", "body": map[string]any{"text": bodyOf(m, maxInteractive)}, "action": map[string]any{"buttons": buttons},
		}
	default:
		var rows []any
		for i, c := range m.Choices {
			row := map[string]any{"id": choiceID(i), "title": cut(c, maxRowTitle)}
			if utf8.RuneCountInString(c) > maxRowTitle {
				row["description"] = cut(c, maxRowDescription)
			}
			rows = append(rows, row)
		}
		b["type"] = "interactive"
		b["interactive"] = map[string]any{"type": "list", "body": map[string]any{"text": bodyOf(m, maxListText)}, "action": map[string]any{
			"button": language.Of(listButton, m.Language), "sections": []any{map[string]any{"rows": rows}},
		}}
	}
	return b
}

// The channel's limits, in characters.
const (
	maxButtons        = 3
	maxButtonTitle    = 20
	maxRowTitle       = 24
	maxRowDescription = 72
	maxInteractive    = 1024 // of the text above buttons
	maxListText       = 4096 // of the text above a list
	maxCaption        = 1024
)

// contactRequest is the type of a message that asks for the person's number.
const contactRequest = "request_contact_info"

func choiceID(i int) string { return provider.ChoicePrefix + strconv.Itoa(i+1) }

// bodyOf returns the text above choices, which the channel requires.
func bodyOf(m *provider.Reply, most int) string {
	if strings.TrimSpace(m.Text) == "" {
		return "…"
	}
	return cut(m.Text, most)
}

func anyLonger(all []string, n int) bool {
	for _, s := range all {
		if utf8.RuneCountInString(s) > n {
			return true
		}
	}
	return false
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// listButton is the label of the button that opens a list of choices, by language.
var listButton = map[string]string{"en": "Choose", "es": "Elegir", "pt": "Escolher"} //nolint:gochecknoglobals // read-only

func mediaKind(mime string) string {
	switch kind, _, _ := strings.Cut(mime, "/"); kind {
	case "image", "video", "audio":
		return kind
	}
	return "document"
}
