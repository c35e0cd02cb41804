package whatsapp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"carillon/internal/provider"
)

// inbound is a message of a person, of any type; it fills the members of its type.
type inbound struct {
	From      string  `json:"from"`
	ID        string  `json:"id"`
	Timestamp seconds `json:"timestamp"`
	Type      string  `json:"type"`
	Context   struct {
		ID string `json:"id"`
	} `json:"context"`
	Text struct {
		Body string `json:"body"`
	} `json:"text"`
	Button struct {
		Payload string `json:"payload"`
		Text    string `json:"text"`
	} `json:"button"`
	Interactive struct {
		Type   string `json:"type"`
		Button choice `json:"button_reply"`
		List   choice `json:"list_reply"`
		Form   struct {
			Body string `json:"body"`
		} `json:"nfm_reply"`
	} `json:"interactive"`
	Image    inboundMedia `json:"image"`
	Video    inboundMedia `json:"video"`
	Audio    inboundMedia `json:"audio"`
	Document inboundMedia `json:"document"`
	Sticker  inboundMedia `json:"sticker"`
	Location struct {
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
		Name      string  `json:"name"`
		Address   string  `json:"address"`
	} `json:"location"`
	Contacts []struct {
		Name struct {
			Formatted string `json:"formatted_name"`
		} `json:"name"`
		Phones []struct {
			Phone string `json:"phone"`
		} `json:"phones"`
	} `json:"contacts"`
	Reaction struct {
		MessageID string `json:"message_id"`
		Emoji     string `json:"emoji"`
	} `json:"reaction"`
}

type choice struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type inboundMedia struct {
	ID       string `json:"id"`
	MimeType string `json:"mime_type"`
	Caption  string `json:"caption"`
	Filename string `json:"filename"`
}

type profile struct {
	WaID    string `json:"wa_id"`
	Profile struct {
		Name string `json:"name"`
	} `json:"profile"`
}

const (
	maxInboundText = 4096 // characters, as the channel has it
	maxInboundID   = 500  // bytes of any id of the channel
	maxPersonName  = 200  // bytes
)

// read returns what a person wrote; false where it names no message or no number.
func (m *inbound) read(names []profile) (provider.Inbound, bool) {
	x := provider.Inbound{ID: m.ID, From: m.From, At: m.Timestamp.instant(), ReplyTo: m.Context.ID}
	if !validInboundID(m.ID) || !validNumber(m.From) || x.At.IsZero() || len(m.Context.ID) > maxInboundID {
		return x, false
	}
	for _, p := range names {
		if p.WaID == m.From {
			x.Name = oneLine(p.Profile.Name)
		}
	}
	m.content(&x)
	if r := []rune(x.Text); len(r) > maxInboundText {
		x.Text = string(r[:maxInboundText])
	}
	x.Text = strings.ToValidUTF8(x.Text, "")
	return x, true
}

func (m *inbound) content(x *provider.Inbound) {
	x.Kind = provider.InboundText
	switch m.Type {
	case "text":
		x.Text = m.Text.Body
	case "button":
		x.Kind, x.Text, x.Payload = provider.InboundChoice, m.Button.Text, m.Button.Payload
	case "interactive":
		m.interactive(x)
	case "image":
		m.file(x, &m.Image)
	case "video":
		m.file(x, &m.Video)
	case "audio":
		m.file(x, &m.Audio)
	case "document":
		m.file(x, &m.Document)
	case "sticker":
		m.file(x, &m.Sticker)
	case "location":
		l := &m.Location
		place := strconv.FormatFloat(l.Latitude, 'f', -1, 64) + ", " + strconv.FormatFloat(l.Longitude, 'f', -1, 64)
		x.Text = strings.Join(notEmpty("📍 "+place, l.Name, l.Address), "\n")
	case "contacts":
		var lines []string
		for _, c := range m.Contacts {
			line := c.Name.Formatted
			for _, p := range c.Phones {
				line += " " + p.Phone
			}
			lines = append(lines, strings.TrimSpace(line))
		}
		x.Text = strings.Join(notEmpty(lines...), "\n")
	case "reaction":
		x.Kind, x.Text, x.ReplyTo = provider.InboundReaction, m.Reaction.Emoji, m.Reaction.MessageID
	default:
		x.Kind, x.Text = provider.InboundUnsupported, oneLine(m.Type)
	}
	if x.Kind == provider.InboundText && strings.TrimSpace(x.Text) == "" {
		x.Kind, x.Text = provider.InboundUnsupported, oneLine(m.Type)
	}
}

func (m *inbound) interactive(x *provider.Inbound) {
	x.Kind = provider.InboundChoice
	switch m.Interactive.Type {
	case "button_reply":
		x.Text, x.Payload = m.Interactive.Button.Title, m.Interactive.Button.ID
	case "list_reply":
		x.Text, x.Payload = m.Interactive.List.Title, m.Interactive.List.ID
	case "nfm_reply":
		x.Kind, x.Text = provider.InboundText, m.Interactive.Form.Body
	default:
		x.Kind, x.Text = provider.InboundUnsupported, oneLine(m.Interactive.Type)
	}
}

func (m *inbound) file(x *provider.Inbound, f *inboundMedia) {
	x.Kind, x.Text = provider.InboundMedia, f.Caption
	if !validInboundID(f.ID) || len(f.MimeType) > maxPersonName {
		x.Kind, x.Text = provider.InboundUnsupported, oneLine(m.Type)
		return
	}
	x.File = &provider.InboundFile{ID: f.ID, Type: f.MimeType, Name: oneLine(f.Filename)}
}

func validInboundID(s string) bool {
	return s != "" && len(s) <= maxInboundID && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' })
}

func validNumber(s string) bool {
	return len(s) >= 5 && len(s) <= 20 && strings.Trim(s, "0123456789") == ""
}

// oneLine is a short text of the channel, without line breaks.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) > maxPersonName {
		s = strings.ToValidUTF8(s[:maxPersonName], "")
	}
	return s
}

func notEmpty(all ...string) (some []string) {
	for _, s := range all {
		if s != "" {
			some = append(some, s)
		}
	}
	return some
}

// replyReceipt returns false for a status that is not of one of our replies, or that is not stored.
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

// replyMessage is the body of a reply.
func replyMessage(m *provider.Reply) map[string]any {
	b := map[string]any{
		"messaging_product": "whatsapp", "recipient_type": "individual", "to": m.To, "biz_opaque_callback_data": m.Ref.String(),
	}
	switch n := len(m.Choices); {
	case m.File != nil:
		kind := mediaKind(m.File.Type)
		f := map[string]any{"link": m.File.URL}
		if m.Text != "" && kind != "audio" {
			f["caption"] = m.Text
		}
		if kind == "document" {
			f["filename"] = m.File.Name
		}
		b["type"], b[kind] = kind, f
	case n == 0:
		b["type"], b["text"] = "text", map[string]any{"body": m.Text, "preview_url": false}
	case n <= maxButtons && !anyLonger(m.Choices, maxButtonTitle):
		var buttons []any
		for i, c := range m.Choices {
			buttons = append(buttons, map[string]any{"type": "reply", "reply": map[string]any{"id": choiceID(i), "title": c}})
		}
		b["type"] = "interactive"
		b["interactive"] = map[string]any{"type": "button", "body": map[string]any{"text": bodyOf(m)}, "action": map[string]any{"buttons": buttons}}
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
		b["interactive"] = map[string]any{"type": "list", "body": map[string]any{"text": bodyOf(m)}, "action": map[string]any{
			"button": listButton(m.Language), "sections": []any{map[string]any{"rows": rows}},
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
	maxInteractive    = 1024 // of the text above choices
)

func choiceID(i int) string { return fmt.Sprintf("choice.%d", i+1) }

// bodyOf is the text above choices, which the channel demands.
func bodyOf(m *provider.Reply) string {
	if strings.TrimSpace(m.Text) == "" {
		return "…"
	}
	return cut(m.Text, maxInteractive)
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

// listButton opens a list of choices.
func listButton(language string) string {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	switch base {
	case "es":
		return "Elegir"
	case "pt":
		return "Escolher"
	}
	return "Choose"
}

func mediaKind(mime string) string {
	switch kind, _, _ := strings.Cut(mime, "/"); kind {
	case "image", "video", "audio":
		return kind
	}
	return "document"
}
