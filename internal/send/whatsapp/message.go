package whatsapp

import (
	"strings"

	"carillon/internal/base/provider"
)

// freeForm adds an application's message to the body of a reply.
func freeForm(b map[string]any, m *provider.Message) {
	if m.ReplyTo != "" {
		b["context"] = map[string]any{"message_id": m.ReplyTo}
	}
	kind, content := m.Type, any(nil)
	switch m.Type {
	case provider.MessageText:
		content = map[string]any{"body": m.Text, "preview_url": m.PreviewURL}
	case provider.MessageImage, provider.MessageVideo, provider.MessageAudio, provider.MessageDocument, provider.MessageSticker:
		content = fileOf(m)
	case provider.MessageLocation:
		at := m.Location
		content = with(map[string]any{"latitude": at.Latitude, "longitude": at.Longitude}, "name", at.Name, "address", at.Address)
	case provider.MessageContacts:
		content = cardsOf(m.Contacts)
	case provider.MessageReaction:
		content = map[string]any{"message_id": m.Reaction.MessageID, "emoji": m.Reaction.Emoji}
	default:
		kind, content = "interactive", interactiveOf(m)
	}
	b["type"], b[kind] = kind, content
}

// with adds the pairs of name and text whose text is not empty.
func with(to map[string]any, pairs ...string) map[string]any {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			to[pairs[i]] = pairs[i+1]
		}
	}
	return to
}

func fileOf(m *provider.Message) map[string]any {
	f := with(map[string]any{"link": m.Media.URL}, "caption", m.Media.Caption, "filename", m.Media.Filename)
	if m.Media.Voice {
		f["voice"] = true
	}
	return f
}

func cardsOf(cards []provider.Card) []any {
	all := make([]any, len(cards))
	for i := range cards {
		c := &cards[i]
		x := map[string]any{"name": map[string]any{"formatted_name": c.Name, "first_name": c.Name}}
		if c.Company != "" || c.Title != "" {
			x["org"] = with(map[string]any{}, "company", c.Company, "title", c.Title)
		}
		with(x, "birthday", c.Birthday)
		for _, values := range []struct {
			list, key string
			of        []string
		}{{"phones", "phone", c.Numbers}, {"emails", "email", c.Emails}, {"urls", "url", c.URLs}, {"addresses", "street", c.Addresses}} {
			var entries []any
			for _, v := range values.of {
				entry := map[string]any{values.key: v}
				if values.key == "phone" { // with the id, the card has a button to write to the person
					entry["wa_id"] = strings.TrimPrefix(v, "+")
				}
				entries = append(entries, entry)
			}
			if entries != nil {
				x[values.list] = entries
			}
		}
		all[i] = x
	}
	return all
}

// interactiveOf returns an interactive message.
func interactiveOf(m *provider.Message) map[string]any {
	kind, action := actionOf(m)
	x := map[string]any{"type": kind, "action": action}
	if h := m.Header; h != nil {
		x["header"] = headerOf(h)
	}
	if m.Text != "" {
		x["body"] = map[string]any{"text": m.Text}
	}
	if m.Footer != "" {
		x["footer"] = map[string]any{"text": m.Footer}
	}
	return x
}

func headerOf(h *provider.MessageHeader) map[string]any {
	for kind, link := range map[string]string{"image": h.Image, "video": h.Video, "document": h.Document} {
		if link != "" {
			return map[string]any{"type": kind, kind: map[string]any{"link": link}}
		}
	}
	return map[string]any{"type": "text", "text": h.Text}
}

// actionOf returns the channel's type and action of an interactive message.
func actionOf(m *provider.Message) (kind string, action map[string]any) {
	switch m.Type {
	case provider.MessageButtons:
		var buttons []any
		for _, o := range m.Buttons {
			buttons = append(buttons, map[string]any{"type": "reply", "reply": map[string]any{"id": o.ID, "title": o.Title}})
		}
		return "button", map[string]any{"buttons": buttons}
	case provider.MessageList:
		var sections []any
		for _, s := range m.List.Sections {
			var rows []any
			for _, o := range s.Rows {
				rows = append(rows, with(map[string]any{"id": o.ID, "title": o.Title}, "description", o.Description))
			}
			sections = append(sections, with(map[string]any{"rows": rows}, "title", s.Title))
		}
		return "list", map[string]any{"button": m.List.Button, "sections": sections}
	case provider.MessageLink:
		return "cta_url", map[string]any{"name": "cta_url", "parameters": map[string]any{"display_text": m.Link.Title, "url": m.Link.URL}}
	case provider.MessageLocationRequest:
		return "location_request_message", map[string]any{"name": "send_location"}
	case provider.MessageContactRequest:
		return "request_contact_info", map[string]any{"name": "request_contact_info"}
	case provider.MessageCallPermission:
		return "call_permission_request", map[string]any{"name": "call_permission_request"}
	case provider.MessageProduct:
		return "product", map[string]any{"catalog_id": m.Product.Catalog, "product_retailer_id": m.Product.ID}
	case provider.MessageProducts:
		var sections []any
		for _, s := range m.Products.Sections {
			var items []any
			for _, id := range s.Products {
				items = append(items, map[string]any{"product_retailer_id": id})
			}
			sections = append(sections, with(map[string]any{"product_items": items}, "title", s.Title))
		}
		return "product_list", map[string]any{"catalog_id": m.Products.Catalog, "sections": sections}
	default:
		return "flow", map[string]any{"name": "flow", "parameters": flowOf(m.Flow)}
	}
}

// flowOf returns the parameters of a flow. Without a screen, the flow's server chooses the first one.
func flowOf(f *provider.MessageFlowForm) map[string]any {
	p := with(map[string]any{"flow_message_version": "3"},
		"flow_id", f.ID, "flow_name", f.Name, "flow_token", f.Token, "flow_cta", f.Button)
	p["flow_action"] = "data_exchange"
	if f.Screen != "" {
		payload := map[string]any{"screen": f.Screen}
		if len(f.Data) > 0 {
			payload["data"] = f.Data
		}
		p["flow_action"], p["flow_action_payload"] = "navigate", payload
	}
	return p
}
