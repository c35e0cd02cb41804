package whatsapp

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"carillon/internal/provider"
)

// inbound is a message of a person, of any type; it fills the members of its type.
type inbound struct {
	From             string  `json:"from"`
	FromUserID       string  `json:"from_user_id"`
	FromParentUserID string  `json:"from_parent_user_id"`
	ID               string  `json:"id"`
	Timestamp        seconds `json:"timestamp"`
	Type             string  `json:"type"`
	Context          struct {
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
		Origin string `json:"origin"`
		Name   struct {
			Formatted string `json:"formatted_name"`
		} `json:"name"`
		Phones []struct {
			Phone string `json:"phone"`
			WaID  string `json:"wa_id"`
		} `json:"phones"`
	} `json:"contacts"`
	Reaction struct {
		MessageID string `json:"message_id"`
		Emoji     string `json:"emoji"`
	} `json:"reaction"`
	System change `json:"system"`
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
	UserID  string `json:"user_id"`
	Profile struct {
		Name     string `json:"name"`
		Username string `json:"username"`
	} `json:"profile"`
}

const (
	maxInboundText = 4096 // characters, as the channel has it
	maxInboundID   = 500  // bytes of any id of the channel
	maxPersonName  = 200  // bytes
	maxPayload     = 256  // bytes of a button's or a choice's
	maxEmoji       = 64   // bytes: a family is 25, a flag of a region 28
	maxCards       = 20   // of contacts, and phones of each
)

// read returns what a person wrote; false where it names no message or nobody.
func (m *inbound) read(names []profile) (provider.Inbound, bool) {
	x := provider.Inbound{ID: m.ID, At: m.Timestamp.instant(), ReplyTo: m.Context.ID}
	m.who(&x, names)
	if !validInboundID(m.ID) || x.Person() == "" || x.At.IsZero() {
		return x, false
	}
	m.content(&x)
	if r := []rune(x.Text); len(r) > maxInboundText {
		x.Text = string(r[:maxInboundText])
	}
	x.Text, x.Payload = printed(x.Text), short(x.Payload, maxPayload)
	if !validInboundID(x.ReplyTo) {
		x.ReplyTo = ""
	}
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
		x.Text = strings.Join(notEmpty("📍 "+place, oneLine(l.Name), oneLine(l.Address)), "\n")
	case "contacts":
		x.Text, x.Shared = m.cards(), m.shared()
	case "reaction":
		x.Kind, x.Text, x.ReplyTo = provider.InboundReaction, short(m.Reaction.Emoji, maxEmoji), m.Reaction.MessageID
	case "system":
		m.system(x)
	default:
		x.Kind, x.Text = provider.InboundUnsupported, oneLine(m.Type)
	}
	if x.Kind == provider.InboundText && strings.TrimSpace(x.Text) == "" {
		x.Kind, x.Text = provider.InboundUnsupported, oneLine(m.Type)
	}
}

// cards are the names and phones of contacts, each on a line.
func (m *inbound) cards() string {
	var lines []string
	for _, c := range m.Contacts[:min(len(m.Contacts), maxCards)] {
		line := []string{oneLine(c.Name.Formatted)}
		for _, p := range c.Phones[:min(len(c.Phones), maxCards)] {
			line = append(line, oneLine(p.Phone))
		}
		lines = append(lines, strings.Join(notEmpty(line...), " "))
	}
	return strings.Join(notEmpty(lines...), "\n")
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
	x.File = &provider.InboundFile{ID: f.ID, Type: oneLine(f.MimeType), Name: oneLine(f.Filename)}
}

func validInboundID(s string) bool {
	return s != "" && len(s) <= maxInboundID && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' })
}

// oneLine is a short text of the channel, without line breaks.
func oneLine(s string) string { return short(s, maxPersonName) }

// short returns a text on one line, cut to `most` bytes, without characters that are not seen or that turn the direction of the text
// around it.
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

// printed is a text without control characters but line breaks and tabs.
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
		"messaging_product": "whatsapp", "recipient_type": "individual", "biz_opaque_callback_data": m.Ref.String(),
	}
	if m.To != "" {
		b["to"] = m.To
	} else { // an id in the place of a number is accepted, and reaches nobody
		b["recipient"] = m.UserID
	}
	switch n := len(m.Choices); {
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
	maxCaption        = 1024
)

func choiceID(i int) string { return provider.ChoicePrefix + strconv.Itoa(i+1) }

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
