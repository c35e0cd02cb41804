package graphtest

import (
	"bytes"
	"encoding/json"
	"strings"
)

// fault returns the name of the invalid member of a message within the service window, or "". known reports whether a
// message with an id exists.
func (x *reply) fault(known func(id string) bool) string {
	for name, given := range map[string]bool{
		"text": x.Text != nil, "interactive": x.Interactive != nil, "image": x.Image != nil, "video": x.Video != nil,
		"audio": x.Audio != nil, "document": x.Document != nil, "sticker": x.Sticker != nil, "location": x.Location != nil,
		"reaction": x.Reaction != nil, "contacts": x.Contacts != nil,
	} {
		if given != (name == x.Type) {
			return name
		}
	}
	valid := true
	switch x.Type {
	case "text":
		valid = within(x.Text.Body, 1, 4096)
	case "interactive":
		return interactiveFault(x.Interactive)
	case "image", "video", "audio", "document", "sticker":
		l := map[string]*link{"image": x.Image, "video": x.Video, "audio": x.Audio, "document": x.Document, "sticker": x.Sticker}[x.Type]
		valid = l.valid(x.Type)
	case "location":
		valid = placeValid(x.Location)
	case "reaction":
		var r struct {
			ID    string  `json:"message_id"`
			Emoji *string `json:"emoji"`
		}
		valid = exact(x.Reaction, &r) && r.Emoji != nil && known(r.ID)
	case "contacts":
		valid = contactsValid(x.Contacts)
	default:
		return "type"
	}
	if !valid {
		return x.Type
	}
	return ""
}

// exact decodes a value, and reports whether it has the form of x without other members.
func exact(raw json.RawMessage, x any) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(x) == nil
}

func (l *link) valid(kind string) bool {
	switch {
	case !strings.HasPrefix(l.Link, "http"), !within(l.Caption, 0, 1024):
		return false
	case (kind == "audio" || kind == "sticker") && l.Caption != "":
		return false
	}
	return (kind == "document" || l.Filename == "") && (kind == "audio" || l.Voice == nil)
}

func placeValid(raw json.RawMessage) bool {
	var p struct {
		Latitude  *float64 `json:"latitude"`
		Longitude *float64 `json:"longitude"`
		Name      string   `json:"name"`
		Address   string   `json:"address"`
	}
	return exact(raw, &p) && p.Latitude != nil && p.Longitude != nil && *p.Latitude >= -90 && *p.Latitude <= 90 &&
		*p.Longitude >= -180 && *p.Longitude <= 180
}

func contactsValid(raw json.RawMessage) bool {
	var all []struct {
		Name struct {
			Formatted string `json:"formatted_name"`
			First     string `json:"first_name"`
			Last      string `json:"last_name"`
		} `json:"name"`
		Birthday string `json:"birthday"`
		Org      *struct {
			Company string `json:"company"`
			Title   string `json:"title"`
		} `json:"org"`
		Phones []struct {
			Phone string `json:"phone"`
			WaID  string `json:"wa_id"`
		} `json:"phones"`
		Emails []struct {
			Email string `json:"email"`
		} `json:"emails"`
		URLs []struct {
			URL string `json:"url"`
		} `json:"urls"`
		Addresses []struct {
			Street string `json:"street"`
		} `json:"addresses"`
	}
	if !exact(raw, &all) || len(all) < 1 || len(all) > 257 {
		return false
	}
	for _, c := range all {
		if c.Name.Formatted == "" || c.Name.First == "" && c.Name.Last == "" {
			return false
		}
	}
	return true
}

// interactive is an interactive message. The form of the action depends on the type.
type interactive struct {
	Type   string          `json:"type"`
	Header *header         `json:"header"`
	Body   *caption        `json:"body"`
	Footer *caption        `json:"footer"`
	Action json.RawMessage `json:"action"`
}

type caption struct {
	Text string `json:"text"`
}

type header struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Image    *link  `json:"image"`
	Video    *link  `json:"video"`
	Document *link  `json:"document"`
}

type entry struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// form describes a type of interactive messages.
type form struct {
	body     int    // maximum length of the body
	noBody   bool   // the body is optional
	header   string // none, text, must (a text) or any
	noFooter bool
	action   func(raw json.RawMessage) bool
}

var forms = map[string]form{
	"button":                   {body: 1024, header: "any", action: buttonsValid},
	"list":                     {body: 4096, header: "text", action: listValid},
	"cta_url":                  {body: 1024, header: "any", action: linkValid},
	"location_request_message": {body: 1024, noFooter: true, action: named("send_location")},
	"request_contact_info":     {body: 1024, noFooter: true, action: named("request_contact_info")},
	"call_permission_request":  {body: 1024, noFooter: true, action: named("call_permission_request")},
	"product":                  {body: 1024, noBody: true, action: productValid},
	"product_list":             {body: 1024, header: "must", action: productsValid},
	"flow":                     {body: 1024, header: "any", action: flowValid},
}

func interactiveFault(raw json.RawMessage) string {
	var i interactive
	if !exact(raw, &i) {
		return "interactive"
	}
	f, known := forms[i.Type]
	switch {
	case !known:
		return "interactive.type"
	case i.Body == nil && !f.noBody, i.Body != nil && !within(i.Body.Text, 1, f.body):
		return "interactive.body"
	case i.Footer != nil && (f.noFooter || !within(i.Footer.Text, 1, 60)):
		return "interactive.footer"
	case !f.takes(i.Header):
		return "interactive.header"
	case !f.action(i.Action):
		return "interactive.action"
	}
	return ""
}

// takes reports whether the message may have a header.
func (f *form) takes(h *header) bool {
	if h == nil {
		return f.header != "must"
	}
	media := map[string]*link{"image": h.Image, "video": h.Video, "document": h.Document}
	for kind, l := range media {
		if (l != nil) != (kind == h.Type) || l != nil && (l.Caption != "" || !l.valid(kind)) {
			return false
		}
	}
	if h.Type == "text" {
		return f.header != "" && within(h.Text, 1, 60)
	}
	return f.header == "any" && h.Text == "" && media[h.Type] != nil
}

func named(name string) func(raw json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var a struct {
			Name string `json:"name"`
		}
		return exact(raw, &a) && a.Name == name
	}
}

func buttonsValid(raw json.RawMessage) bool {
	var a struct {
		Buttons []struct {
			Type  string `json:"type"`
			Reply entry  `json:"reply"`
		} `json:"buttons"`
	}
	if !exact(raw, &a) || len(a.Buttons) < 1 || len(a.Buttons) > 3 {
		return false
	}
	ids, titles := map[string]bool{}, map[string]bool{}
	for _, b := range a.Buttons {
		if b.Type != "reply" || !within(b.Reply.Title, 1, 20) || !within(b.Reply.ID, 1, 256) || b.Reply.Description != "" ||
			ids[b.Reply.ID] || titles[b.Reply.Title] {
			return false
		}
		ids[b.Reply.ID], titles[b.Reply.Title] = true, true
	}
	return true
}

func listValid(raw json.RawMessage) bool {
	var a struct {
		Button   string `json:"button"`
		Sections []struct {
			Title string  `json:"title"`
			Rows  []entry `json:"rows"`
		} `json:"sections"`
	}
	if !exact(raw, &a) || !within(a.Button, 1, 20) || len(a.Sections) < 1 || len(a.Sections) > 10 {
		return false
	}
	ids := map[string]bool{}
	for _, section := range a.Sections {
		if !within(section.Title, min(len(a.Sections)-1, 1), 24) || len(section.Rows) == 0 {
			return false
		}
		for _, r := range section.Rows {
			if !within(r.Title, 1, 24) || !within(r.Description, 0, 72) || !within(r.ID, 1, 200) || ids[r.ID] {
				return false
			}
			ids[r.ID] = true
		}
	}
	return len(ids) <= 10
}

func linkValid(raw json.RawMessage) bool {
	var a struct {
		Name       string `json:"name"`
		Parameters struct {
			Text string `json:"display_text"`
			URL  string `json:"url"`
		} `json:"parameters"`
	}
	return exact(raw, &a) && a.Name == "cta_url" && within(a.Parameters.Text, 1, 20) && strings.HasPrefix(a.Parameters.URL, "http")
}

func productValid(raw json.RawMessage) bool {
	var a struct {
		Catalog string `json:"catalog_id"`
		Product string `json:"product_retailer_id"`
	}
	return exact(raw, &a) && a.Catalog != "" && a.Product != ""
}

func productsValid(raw json.RawMessage) bool {
	var a struct {
		Catalog  string `json:"catalog_id"`
		Sections []struct {
			Title string `json:"title"`
			Items []struct {
				Product string `json:"product_retailer_id"`
			} `json:"product_items"`
		} `json:"sections"`
	}
	if !exact(raw, &a) || a.Catalog == "" || len(a.Sections) < 1 || len(a.Sections) > 10 {
		return false
	}
	n := 0
	for _, section := range a.Sections {
		if !within(section.Title, min(len(a.Sections)-1, 1), 24) || len(section.Items) == 0 {
			return false
		}
		for _, item := range section.Items {
			if item.Product == "" {
				return false
			}
			n++
		}
	}
	return n <= 30
}

func flowValid(raw json.RawMessage) bool {
	var a struct {
		Name       string `json:"name"`
		Parameters struct {
			Version string `json:"flow_message_version"`
			ID      string `json:"flow_id"`
			Name    string `json:"flow_name"`
			Token   string `json:"flow_token"`
			Label   string `json:"flow_cta"`
			Action  string `json:"flow_action"`
			Payload *struct {
				Screen string         `json:"screen"`
				Data   map[string]any `json:"data"`
			} `json:"flow_action_payload"`
		} `json:"parameters"`
	}
	if !exact(raw, &a) || a.Name != "flow" {
		return false
	}
	p := &a.Parameters
	opens := p.Action == "" || p.Action == "navigate"
	return p.Version == "3" && (p.ID == "") != (p.Name == "") && p.Token != "" && within(p.Label, 1, 20) &&
		(opens || p.Action == "data_exchange" && p.Payload == nil) && (p.Payload == nil || p.Payload.Screen != "")
}
