package whatsapp

import (
	"cmp"
	"encoding/json"
	"math"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
)

// contents holds the members of a message. Only the member of its type is set.
type contents struct {
	Text struct {
		Body loose `json:"body"`
	} `json:"text"`
	Button struct {
		Payload loose `json:"payload"`
		Text    loose `json:"text"`
	} `json:"button"`
	Interactive struct {
		Type   string `json:"type"`
		Button choice `json:"button_reply"`
		List   choice `json:"list_reply"`
		Form   form   `json:"nfm_reply"`
		Calls  struct {
			Response string `json:"response"`
		} `json:"call_permission_reply"`
	} `json:"interactive"`
	Image    inboundMedia `json:"image"`
	Video    inboundMedia `json:"video"`
	Audio    inboundMedia `json:"audio"`
	Document inboundMedia `json:"document"`
	Sticker  inboundMedia `json:"sticker"`
	Location place        `json:"location"`
	Contacts []card       `json:"contacts"`
	Order    order        `json:"order"`
	Reaction struct {
		MessageID string `json:"message_id"`
		Emoji     string `json:"emoji"`
	} `json:"reaction"`
	Edit struct {
		Of      string `json:"original_message_id"`
		Message struct {
			Text struct {
				Body loose `json:"body"`
			} `json:"text"`
			Image    inboundMedia `json:"image"`
			Video    inboundMedia `json:"video"`
			Document inboundMedia `json:"document"`
		} `json:"message"`
	} `json:"edit"`
	Revoke struct {
		Of string `json:"original_message_id"`
	} `json:"revoke"`
	Unsupported struct {
		Type string `json:"type"`
	} `json:"unsupported"`
}

type choice struct {
	ID    loose `json:"id"`
	Title loose `json:"title"`
}

type inboundMedia struct {
	ID       loose `json:"id"`
	MimeType loose `json:"mime_type"`
	Caption  loose `json:"caption"`
	Filename loose `json:"filename"`
}

// loose is a text or a number; the channel sends either. Anything else becomes "".
type loose string

// UnmarshalJSON accepts both forms.
func (l *loose) UnmarshalJSON(b []byte) error {
	var s string
	switch {
	case json.Unmarshal(b, &s) == nil:
		*l = loose(s)
	case len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9'):
		*l = loose(b)
	}
	return nil
}

func (l loose) line() string { return oneLine(string(l)) }

// number returns a person's number, which may have a leading plus, or "" for anything else.
func (l loose) number() string {
	if s := strings.TrimPrefix(string(l), "+"); carillon.ValidNumber(s) {
		return s
	}
	return ""
}

// list is a JSON list. A single value in place of a list becomes its only entry.
type list[T any] []T

// UnmarshalJSON accepts both forms, and drops entries of another type.
func (l *list[T]) UnmarshalJSON(b []byte) error {
	if b[0] != '[' && string(b) != "null" {
		b = slices.Concat([]byte("["), b, []byte("]"))
	}
	return decode(b, (*[]T)(l))
}

type place struct {
	Latitude  loose `json:"latitude"`
	Longitude loose `json:"longitude"`
	Name      loose `json:"name"`
	Address   loose `json:"address"`
	URL       loose `json:"url"`
}

type product struct {
	Catalog loose `json:"catalog_id"`
	ID      loose `json:"product_retailer_id"`
}

type order struct {
	Catalog loose  `json:"catalog_id"`
	Text    string `json:"text"`
	Items   []struct {
		ID       loose `json:"product_retailer_id"`
		Quantity loose `json:"quantity"`
		Price    loose `json:"item_price"`
		Currency loose `json:"currency"`
	} `json:"product_items"`
}

type referral struct {
	SourceType loose  `json:"source_type"`
	SourceID   loose  `json:"source_id"`
	SourceURL  loose  `json:"source_url"`
	Headline   loose  `json:"headline"`
	Body       string `json:"body"`
	MediaType  loose  `json:"media_type"`
	Click      loose  `json:"ctwa_clid"`
}

const (
	maxOrder    = 100  // products
	maxAdText   = 1000 // bytes
	maxAddress  = 1000 // bytes of a URL
	maxKindName = 40
)

// kindName returns the channel's name for a kind of message, in a form that may be logged.
func kindName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return -1
	}, s)
	return s[:min(len(s), maxKindName)]
}

// fill reads the message's contents.
func (m *inbound) fill(x *provider.Inbound) {
	x.Kind, x.Type, x.Group = provider.InboundText, kindName(m.Type), short(string(m.Group), maxInboundID)
	x.Product, x.Referral = m.Context.Product.read(), m.Referral.read()
	switch m.Type {
	case "text":
		x.Text = string(m.Text.Body)
	case "button":
		x.Kind, x.Text, x.Payload = provider.InboundChoice, string(cmp.Or(m.Button.Text, m.Button.Payload)), string(m.Button.Payload)
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
		x.Place, x.Text = m.Location.read()
	case "contacts":
		x.Cards, x.Text = cards(m.Contacts)
		x.Shared = m.shared()
	case "order":
		x.Order, x.Text = m.Order.read()
	case "reaction":
		x.Kind, x.Text, x.ReplyTo = provider.InboundReaction, short(m.Reaction.Emoji, maxEmoji), m.Reaction.MessageID
		if x.Text == "" && x.ReplyTo == "" { // with ReplyTo: a removed reaction
			m.unsupported(x)
		}
	case "edit":
		e := &m.Edit.Message
		x.Kind, x.Event, x.ReplyTo = provider.InboundEvent, provider.InboundEdited, m.Edit.Of
		x.Text = string(cmp.Or(e.Text.Body, e.Image.Caption, e.Video.Caption, e.Document.Caption))
		// An empty text with a file means that the caption was removed.
		if x.Text == "" && cmp.Or(e.Image.ID, e.Video.ID, e.Document.ID) == "" {
			m.unsupported(x)
		}
	case "revoke":
		x.Kind, x.Event, x.ReplyTo = provider.InboundEvent, provider.InboundDeleted, m.Revoke.Of
	case "system":
		m.system(x)
	case "request_welcome": // the person opened the chat without writing
		x.Kind, x.Text = provider.InboundEvent, m.Type
	default:
		m.unsupported(x)
	}
	if (x.Kind == provider.InboundText || x.Kind == provider.InboundChoice) && strings.TrimSpace(printed(x.Text)) == "" {
		m.unsupported(x)
	}
}

// unsupported marks a message as unsupported. Its text becomes its type.
func (m *inbound) unsupported(x *provider.Inbound) {
	x.Kind, x.Event, x.Text = provider.InboundUnsupported, "", x.Type
	if m.Type == "unsupported" {
		x.Text = cmp.Or(kindName(m.Unsupported.Type), x.Type)
	}
}

func (m *inbound) interactive(x *provider.Inbound) {
	i := &m.Interactive
	x.Kind, x.Type = provider.InboundChoice, "choice"
	switch i.Type {
	case "button_reply":
		x.Text, x.Payload = string(cmp.Or(i.Button.Title, i.Button.ID)), string(i.Button.ID)
	case "list_reply":
		x.Text, x.Payload = string(cmp.Or(i.List.Title, i.List.ID)), string(i.List.ID)
	case "nfm_reply":
		x.Kind, x.Type = provider.InboundText, "form"
		x.Form, x.Text = i.Form.read()
	case "call_permission_reply":
		x.Kind, x.Type, x.Event, x.Text = provider.InboundEvent, i.Type, provider.InboundCalls, i.Calls.Response
		if x.Text != "accept" && x.Text != "reject" {
			m.unsupported(x)
		}
	default:
		x.Type = cmp.Or(kindName(i.Type), m.Type)
		m.unsupported(x)
	}
}

func (m *inbound) file(x *provider.Inbound, f *inboundMedia) {
	x.Kind, x.Text = provider.InboundMedia, string(f.Caption)
	if !validInboundID(string(f.ID)) {
		m.unsupported(x)
		return
	}
	x.File = &provider.InboundFile{ID: string(f.ID), Type: f.MimeType.line(), Name: f.Filename.line()}
}

// read returns a place and its text. The place is nil if it has no valid coordinates.
func (p *place) read() (*provider.Place, string) {
	name, address := p.Name.line(), p.Address.line()
	latitude, ok1 := degrees(p.Latitude, 90)
	longitude, ok2 := degrees(p.Longitude, 180)
	if !ok1 || !ok2 {
		return nil, strings.Join(notEmpty(name, address), "\n")
	}
	point := "📍 " + strconv.FormatFloat(latitude, 'f', -1, 64) + ", " + strconv.FormatFloat(longitude, 'f', -1, 64)
	at := &provider.Place{Latitude: latitude, Longitude: longitude, Name: name, Address: address, URL: short(string(p.URL), maxAddress)}
	return at, strings.Join(notEmpty(point, name, address), "\n")
}

func degrees(l loose, most float64) (float64, bool) {
	x, err := strconv.ParseFloat(string(l), 64)
	return x, err == nil && math.Abs(x) <= most
}

// read returns an order, or nil if it is empty, and its text with one product per line.
func (o *order) read() (*provider.Order, string) {
	x := &provider.Order{Catalog: o.Catalog.line(), Text: short(o.Text, maxAdText), Items: []provider.OrderItem{}}
	lines := []string{printed(o.Text)}
	for i := range o.Items[:min(len(o.Items), maxOrder)] {
		item := &o.Items[i]
		p := provider.OrderItem{
			Product: item.ID.line(), Quantity: cmp.Or(item.Quantity.line(), "1"), Price: item.Price.line(), Currency: item.Currency.line(),
		}
		if p.Product == "" {
			continue
		}
		x.Items = append(x.Items, p)
		line := p.Quantity + " × " + p.Product
		if p.Price != "" {
			line += ": " + strings.Join(notEmpty(p.Price, p.Currency), " ")
		}
		lines = append(lines, line)
	}
	if len(x.Items) == 0 {
		return nil, lines[0]
	}
	if len(o.Items) > maxOrder {
		lines = append(lines, "…")
	}
	return x, strings.Join(notEmpty(lines...), "\n")
}

func (p *product) read() *provider.Product {
	if p.ID == "" {
		return nil
	}
	return &provider.Product{Catalog: p.Catalog.line(), ID: p.ID.line()}
}

func (r *referral) read() *provider.Referral {
	x := &provider.Referral{
		SourceType: r.SourceType.line(), SourceID: r.SourceID.line(), SourceURL: short(string(r.SourceURL), maxAddress),
		Headline: r.Headline.line(), Body: short(r.Body, maxAdText), MediaType: r.MediaType.line(),
		Click: short(string(r.Click), maxInboundID),
	}
	if *x == (provider.Referral{}) {
		return nil
	}
	return x
}

// mediaTypes are the file types that the channel accepts, which are fewer than those of the contract: no GIF, AVI or
// MOV. A URL whose path has no extension is left to the channel.
var mediaTypes = map[string][]string{ //nolint:gochecknoglobals // a single read-only table
	content.FormatImage: {".jpg", ".jpeg", ".png"},
	content.FormatVideo: {".mp4", ".3gp", ".3gpp"},
}

// acceptsMedia reports whether the channel accepts a file with this URL in a header of this format.
func acceptsMedia(format, address string) bool {
	types, limited := mediaTypes[format]
	if !limited {
		return true
	}
	ext := strings.ToLower(path.Ext(lastSegment(address)))
	return ext == "" || slices.Contains(types, ext)
}

// fileName returns the name under which the recipient sees a document: the last part of the URL's path.
func fileName(address string) string {
	const longest = 240
	name := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return -1
		}
		return r
	}, lastSegment(address))
	for len(name) > longest {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	return name
}

func lastSegment(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	p := u.Path
	return p[strings.LastIndexByte(p, '/')+1:]
}
