package whatsapp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
)

// message is the body of a template message. Golden files check its form.
type message struct {
	Product       string `json:"messaging_product"`
	RecipientType string `json:"recipient_type"`
	To            string `json:"to,omitempty"`
	Recipient     string `json:"recipient,omitempty"` // the channel's id of a person; it would be lost in To
	Type          string `json:"type"`
	Data          string `json:"biz_opaque_callback_data"`
	Template      struct {
		Name     string `json:"name"`
		Language struct {
			Code string `json:"code"`
		} `json:"language"`
		Components []component `json:"components,omitempty"`
	} `json:"template"`
}

// component holds the values of one component of the template.
type component struct {
	Type       string          `json:"type"`
	SubType    string          `json:"sub_type,omitempty"`
	Index      string          `json:"index,omitempty"`
	Parameters []parameter     `json:"parameters,omitempty"`
	Cards      []cardComponent `json:"cards,omitempty"`
}

type cardComponent struct {
	Index      int         `json:"card_index"`
	Components []component `json:"components"`
}

// parameter is one value. Type names the member that is set.
type parameter struct {
	Type     string    `json:"type"`
	Name     string    `json:"parameter_name,omitempty"`
	Text     *string   `json:"text,omitempty"`
	Payload  *string   `json:"payload,omitempty"`
	Image    *media    `json:"image,omitempty"`
	Video    *media    `json:"video,omitempty"`
	Document *media    `json:"document,omitempty"`
	Location *location `json:"location,omitempty"`
	Product  *item     `json:"product,omitempty"`
	Coupon   *string   `json:"coupon_code,omitempty"`
	Offer    *offerEnd `json:"limited_time_offer,omitempty"`
	Action   *action   `json:"action,omitempty"`
	Minutes  int       `json:"ttl_minutes,omitempty"`
}

type media struct {
	Link     string `json:"link"`
	Filename string `json:"filename,omitempty"`
}

type location struct {
	Latitude  string `json:"latitude"`
	Longitude string `json:"longitude"`
	Name      string `json:"name"`
	Address   string `json:"address"`
}

type item struct {
	ID      string `json:"product_retailer_id"`
	Catalog string `json:"catalog_id,omitempty"`
}

type offerEnd struct {
	At int64 `json:"expiration_time_ms"`
}

// action is the value of a button of a catalog, of products or of a flow.
type action struct {
	Thumbnail string          `json:"thumbnail_product_retailer_id,omitempty"`
	Sections  []section       `json:"sections,omitempty"`
	FlowToken string          `json:"flow_token,omitempty"`
	FlowData  json.RawMessage `json:"flow_action_data,omitempty"`
}

type section struct {
	Title string `json:"title"`
	Items []item `json:"product_items"`
}

// encodeMessage returns the body of a template message. shape is that of the template.
func encodeMessage(m *provider.Outgoing, shape *carillon.Shape) ([]byte, error) {
	t := m.Template
	b := message{Product: "whatsapp", RecipientType: "individual", To: m.Number, Type: "template", Data: m.Ref.String()}
	if m.Number == "" {
		b.Recipient = m.UserID
	}
	b.Template.Name, b.Template.Language.Code = t.Name, t.Language
	named := t.ParameterFormat == content.Named
	all, err := components(&m.Content, shape, named)
	if err != nil {
		return nil, err
	}
	if len(m.Content.Cards) > 0 {
		carousel := component{Type: "carousel"}
		for i := range m.Content.Cards {
			card := content.CardShape(shape, i)
			if card == nil {
				return nil, fmt.Errorf("the template has no card %d", i)
			}
			parts, err := components(&m.Content.Cards[i], card, named)
			if err != nil {
				return nil, err
			}
			carousel.Cards = append(carousel.Cards, cardComponent{i, parts})
		}
		all = append(all, carousel)
	}
	b.Template.Components = all
	return encode(b)
}

// components returns the values of a template or of one card.
func components(c *provider.Content, shape *carillon.Shape, named bool) ([]component, error) {
	var all []component
	if p := headerParameters(c, shape, named); p != nil {
		all = append(all, component{Type: "header", Parameters: p})
	}
	if shape.OfferEnds {
		end := parameter{Type: "limited_time_offer", Offer: &offerEnd{c.OfferEnds}}
		all = append(all, component{Type: "limited_time_offer", Parameters: []parameter{end}})
	}
	if len(c.Body) > 0 {
		all = append(all, component{Type: "body", Parameters: texts(c.Body, shape.Markers, named)})
	}
	for i := range c.Buttons {
		b, err := button(&c.Buttons[i])
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

func headerParameters(c *provider.Content, shape *carillon.Shape, named bool) []parameter {
	switch format := shape.HeaderFormat; format {
	case "":
		return nil
	case content.FormatText:
		if shape.HeaderVariable == "" {
			return nil
		}
		return texts([]string{c.HeaderText}, []string{shape.HeaderVariable}, named)
	case content.FormatLocation:
		l := location{}
		if c.Location != nil {
			l = location(*c.Location)
		}
		return []parameter{{Type: "location", Location: &l}}
	case content.FormatProduct:
		p := item{}
		if c.Product != nil {
			p = item{ID: c.Product.ID, Catalog: c.Product.Catalog}
		}
		return []parameter{{Type: "product", Product: &p}}
	default:
		return []parameter{mediaParameter(format, c.MediaURL)}
	}
}

// button returns the values of a button.
func button(v *provider.ButtonValue) (component, error) {
	c := component{Type: "button", SubType: v.Kind, Index: strconv.Itoa(v.Index)}
	switch v.Kind {
	case "quick_reply":
		c.Parameters = []parameter{{Type: "payload", Payload: &v.Value}}
	case "copy_code":
		c.SubType, c.Parameters = "COPY_CODE", []parameter{{Type: "coupon_code", Coupon: &v.Value}}
	case "catalog":
		c.SubType, c.Parameters = "CATALOG", []parameter{{Type: "action", Action: &action{Thumbnail: v.Value}}}
	case "mpm":
		a := &action{Thumbnail: v.Value}
		all, reason := content.ParseSections(v.Products)
		if reason != "" {
			return c, fmt.Errorf("sections of products: %s", reason)
		}
		for _, s := range all {
			x := section{Title: s.Title}
			for _, id := range s.Products {
				x.Items = append(x.Items, item{ID: id})
			}
			a.Sections = append(a.Sections, x)
		}
		c.Parameters = []parameter{{Type: "action", Action: a}}
	case "flow":
		c.Parameters = []parameter{{Type: "action", Action: &action{FlowToken: v.Value, FlowData: json.RawMessage(v.Data)}}}
	case "voice_call":
		if v.Minutes > 0 {
			c.Parameters = append(c.Parameters, parameter{Type: "ttl_minutes", Minutes: v.Minutes})
		}
		if v.Value != "" {
			c.Parameters = append(c.Parameters, parameter{Type: "payload", Payload: &v.Value})
		}
	default: // the variable suffix of a URL
		c.Parameters = []parameter{{Type: "text", Text: &v.Value}}
	}
	return c, nil
}

func texts(values, names []string, named bool) []parameter {
	all := make([]parameter, len(values))
	for i := range values {
		all[i] = parameter{Type: "text", Text: &values[i]}
		if named {
			all[i].Name = names[i]
		}
	}
	return all
}

func mediaParameter(format, address string) parameter {
	p, file := parameter{Type: strings.ToLower(format)}, &media{Link: address}
	switch format {
	case content.FormatImage:
		p.Image = file
	case content.FormatVideo:
		p.Video = file
	default:
		file.Filename = fileName(address)
		p.Document = file
	}
	return p
}
