package graphtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Sample is a message of a person as the channel posts it, including malformed ones. Its members and contacts contain
// placeholders: NUMBER is the author's number, or null; AUTHOR is the member of contacts that identifies the author;
// NEWNUMBER and NEWID are the new identities after a change; NOW is the timestamp in seconds.
type Sample struct {
	Name string
	// Members are the members of the message; they are merged with from, id and timestamp, and may replace them.
	Members string
	// Contacts is the member contacts of the callback. Empty: it contains the author.
	Contacts string
	// Bare means that the message replaces the list of messages.
	Bare bool
	// Text is part of the text shown in a conversation. Empty if nothing is shown.
	Text string
	// Declined means that the message is unreadable and that the person is asked to send it in another form.
	Declined bool
	// FileLost means that the caption is shown and the person is asked for the file.
	FileLost bool
	// Group is the id of the group in which it is written.
	Group string
	// Renews means that the person has a different number or id afterwards. Silent means that the conversation does
	// not show the message.
	Renews, Silent bool
	// Unnamed means that the message has no author.
	Unnamed bool
}

// Asks reports whether the author is asked for something.
func (s *Sample) Asks() bool { return s.Declined || s.FileLost }

// Author is the author of a sample, known by a number or only by an id.
type Author struct{ Number, UserID, Name string }

// Address returns the author's number, or the id if there is no number.
func (a Author) Address() string { return cmp.Or(a.Number, a.UserID) }

// Renewed returns the author after a sample with Renews.
func (a Author) Renewed() Author {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, a.Address())
	digits = digits[max(0, len(digits)-8):]
	return Author{Number: "4479" + digits, UserID: "GB.9" + digits, Name: a.Name}
}

// Written is a sample written by an author. The same id again is a repetition.
type Written struct {
	*Sample
	By Author
	ID string
	At time.Time
}

func (w *Written) fill(s string) string {
	number, author := "null", fmt.Sprintf(`"user_id":%q`, w.By.UserID)
	if w.By.Number != "" {
		number, author = w.By.Number, fmt.Sprintf(`"wa_id":%q`, w.By.Number)
	}
	renewed := w.By.Renewed()
	return strings.NewReplacer(
		"NEWNUMBER", renewed.Number, "NEWID", renewed.UserID, "NUMBER", number, "AUTHOR", author, "NOW", fmt.Sprint(w.At.Unix()),
	).Replace(s)
}

// Shown returns the part of its text that a conversation shows.
func (w *Written) Shown() string { return w.fill(w.Text) }

// message returns the sample as a message. Values are not changed, even if they are invalid UTF-8.
func (w *Written) message() (json.RawMessage, error) {
	m := map[string]json.RawMessage{"id": fmt.Appendf(nil, "%q", w.ID), "timestamp": fmt.Appendf(nil, `"%d"`, w.At.Unix())}
	if w.By.Number != "" {
		m["from"] = fmt.Appendf(nil, "%q", w.By.Number)
	}
	if w.By.UserID != "" {
		m["from_user_id"] = fmt.Appendf(nil, "%q", w.By.UserID)
	}
	if err := json.Unmarshal([]byte(w.fill(w.Members)), &m); err != nil {
		return nil, fmt.Errorf("sample %s: %w", w.Name, err)
	}
	return json.Marshal(m)
}

// WrittenBody returns the body of a callback with samples and, if not empty, statuses. A sample with its own contacts,
// or a bare one, must be the only sample.
func WrittenBody(phoneNumberID, statuses string, all ...*Written) ([]byte, error) {
	var contacts, messages []string
	for _, w := range all {
		m, err := w.message()
		if err != nil {
			return nil, err
		}
		name, _ := json.Marshal(w.By.Name) // cannot fail for a string
		messages, contacts = append(messages, string(m)), append(contacts, w.fill(`{AUTHOR,"profile":{"name":`)+string(name)+`}}`)
	}
	first := all[0]
	value := fmt.Sprintf(`"metadata":{"display_phone_number":"15555550100","phone_number_id":%q}`, phoneNumberID)
	if first.Contacts != "" {
		value += `,"contacts":` + first.fill(first.Contacts)
	} else {
		value += `,"contacts":[` + strings.Join(contacts, ",") + `]`
	}
	if statuses != "" {
		value += `,"statuses":` + statuses
	}
	if first.Bare {
		value += `,"messages":` + messages[0]
	} else {
		value += `,"messages":[` + strings.Join(messages, ",") + `]`
	}
	return fmt.Appendf(nil, `{"object":"whatsapp_business_account","entry":[{"id":"2000001","time":%d,"changes":[
		{"field":"messages","value":{"messaging_product":"whatsapp",%s}}]}]}`, first.At.Unix(), value), nil
}

// SampleFiles returns the files that samples refer to, by id.
func SampleFiles() map[string]File {
	return map[string]File{
		"png":  {Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\n of a sample")},
		"mp4":  {Type: "video/mp4", Data: []byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2")},
		"ogg":  {Type: "audio/ogg", Data: []byte("OggS\x00\x02" + strings.Repeat("\x00", 40))},
		"pdf":  {Type: "application/pdf", Data: []byte("%PDF-1.4\n%%EOF\n")},
		"7001": {Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\n of another sample")},
		"exe":  {Type: "application/octet-stream", Data: []byte("MZ\x90\x00\x03\x00\x00\x00\x04\x00")},
		"webp": {Type: "image/webp", Data: []byte("RIFF\x20\x00\x00\x00WEBPVP8 " + strings.Repeat("\x00", 20))},
	}
}

// Samples returns messages of every type of the channel, and in every malformed form.
func Samples() []Sample {
	return append(wellFormed(), malformed()...)
}

// wellFormed returns messages of every type, as the channel sends them.
func wellFormed() []Sample {
	return []Sample{
		{Name: "text", Members: `{"type":"text","text":{"body":"Hola"}}`, Text: "Hola"},
		{
			Name: "text of a person who came by an ad",
			Members: `{"type":"text","text":{"body":"Hi"},"referral":{"source_url":"https://fb.test/1","source_id":"1","source_type":"ad",
			"headline":"Whales","body":"See them","media_type":"image","image_url":"https://fb.test/i","ctwa_clid":"clid-1",
				"welcome_message":{"text":"Hello"}}}`, Text: "Hi",
		},
		{
			Name: "text about a product", Members: `{"type":"text","text":{"body":"Is it blue?"},"context":{"from":"15555550100",` +
				`"id":"wamid.x","referred_product":{"catalog_id":"1","product_retailer_id":"SKU-1"}}}`, Text: "Is it blue?",
		},
		{
			Name: "forwarded text", Members: `{"type":"text","text":{"body":"Look"},"context":{"forwarded":true,` +
				`"frequently_forwarded":true}}`, Text: "Look",
		},
		{Name: "button of a template", Members: `{"type":"button","button":{"payload":"p","text":"Details"}}`, Text: "Details"},
		{Name: "button without a text", Members: `{"type":"button","button":{"payload":"more-details"}}`, Text: "more-details"},
		{
			Name: "button of a reply", Members: `{"type":"interactive","interactive":{"type":"button_reply",` +
				`"button_reply":{"id":"b1","title":"Yes"}}}`, Text: "Yes",
		},
		{
			Name: "entry of a list", Members: `{"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"l1",` +
				`"title":"Seven","description":"o'clock"}}}`, Text: "Seven",
		},
		{
			Name: "form", Text: "Full name: Ana",
			Members: `{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":"flow","body":"Sent",
				"response_json":"{\"flow_token\":\"t\",` +
				`\"screen_0_Full_name_0\":\"Ana\",\"screen_0_Sizes_1\":[\"L\",\"XL\"],\"agreed\":true,\"guests\":2}"}}}`,
		},
		{
			Name: "address",
			Members: `{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":"address_message","body":"Ana, 1 Main St",
			"response_json":"{\"saved_address_id\":\"a1\",\"values\":{\"in_pin_code\":\"400063\",\"city\":\"Mumbai\"}}"}}}`,
			Text: "Mumbai",
		},
		{
			Name: "form without answers", Members: `{"type":"interactive","interactive":{"type":"nfm_reply",` +
				`"nfm_reply":{"name":"flow","body":"Sent","response_json":"{}"}}}`, Text: "Sent",
		},
		{
			Name: "form whose answers are no text", Text: "name: Eva",
			Members: `{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"body":"Sent","response_json":{"name":"Eva"}}}}`,
		},
		{
			Name: "form whose answers are no JSON", Text: `{"a":`,
			Members: `{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"body":"Sent","response_json":"{\"a\":"}}}`,
		},
		{
			Name: "form of another type", Text: "[1,2]",
			Members: `{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":[1,2]}}}`,
		},
		{
			Name: "permission for calls", Members: `{"type":"interactive","interactive":{"type":"call_permission_reply",` +
				`"call_permission_reply":{"response":"accept","is_permanent":true,"response_source":"user_action"}}}`, Text: "accept",
		},
		{
			Name:    "interactive of a new type",
			Members: `{"type":"interactive","interactive":{"type":"poll_reply","poll_reply":{"id":"1"}}}`, Declined: true,
		},
		{Name: "order", Members: `{"type":"order","order":{"catalog_id":"c1","text":"Quickly please","product_items":[
			{"product_retailer_id":"SKU-1","quantity":2,"item_price":9.9,"currency":"EUR"},{"product_retailer_id":"SKU-2",
				"quantity":"1","item_price":"5","currency":"EUR"}]}}`, Text: "2 × SKU-1: 9.9 EUR"},
		{Name: "order without products", Members: `{"type":"order","order":{"catalog_id":"c1","product_items":[]}}`, Declined: true},
		{
			Name: "contact cards", Text: "Ben +34 600 111 333 ben@acme.test Acme",
			Members: `{"type":"contacts","contacts":[{"name":{"formatted_name":"Ben","first_name":"Ben"},
				"phones":[{"phone":"+34 600 111 333","wa_id":"34600111333","type":"CELL"}],
				"emails":[{"email":"ben@acme.test","type":"WORK"}],"org":{"company":"Acme","title":"Sales"},
					"urls":[{"url":"https://acme.test"}],"addresses":[{"street":"1 Main St","city":"Vigo","country":"Spain"}]}]}`,
		},
		{
			Name:    "contact card of a WhatsApp id alone",
			Members: `{"type":"contacts","contacts":[{"name":{"formatted_name":"Cat"},"phones":[{"wa_id":"34600111444"}]}]}`,
			Text:    "+34600111444",
		},
		{
			Name: "contact card as a text alone", Members: `{"type":"contacts","contacts":[{"origin":"other",` +
				`"vcard":"BEGIN:VCARD\r\nVERSION:3.0\r\nN:Ruiz;Eva;;;\r\nFN:Eva Ruiz\r\nitem1.TEL;waid=34600111555:+34 600 111 ` +
				`555\r\nORG:Acme\\, Ltd;Sales\r\nEND:VCARD"}]}`, Text: "Eva Ruiz +34 600 111 555",
		},
		{Name: "no contact cards", Members: `{"type":"contacts","contacts":[]}`, Declined: true},
		{Name: "contact cards of another type", Members: `{"type":"contacts","contacts":{"name":"Ben"}}`, Declined: true},
		{
			Name: "location", Members: `{"type":"location","location":{"latitude":40.4168,"longitude":-3.7038,"name":"Sol",` +
				`"address":"Madrid","url":"https://maps.test"}}`, Text: "40.4168, -3.7038",
		},
		{Name: "location in texts", Members: `{"type":"location","location":{"latitude":"40.5","longitude":"-3.5"}}`, Text: "40.5, -3.5"},
		{Name: "location of another type", Members: `{"type":"location","location":"here"}`, Declined: true},
		{Name: "location that is none", Members: `{"type":"location","location":{"latitude":1000,"longitude":2}}`, Declined: true},
		{
			Name: "picture", Members: `{"type":"image","image":{"id":"png","mime_type":"image/png","sha256":"x","caption":"Look",` +
				`"url":"https://lookaside.test/1"}}`, Text: "Look",
		},
		{Name: "film", Members: `{"type":"video","video":{"id":"mp4","mime_type":"video/mp4"}}`},
		{Name: "voice message", Members: `{"type":"audio","audio":{"id":"ogg","mime_type":"audio/ogg; codecs=opus","voice":true}}`},
		{Name: "document", Members: `{"type":"document","document":{"id":"pdf","mime_type":"application/pdf","filename":"bill.pdf"}}`},
		{Name: "sticker", Members: `{"type":"sticker","sticker":{"id":"webp","mime_type":"image/webp","animated":true}}`},
		{
			Name:    "picture that the channel lost",
			Members: `{"type":"image","errors":[{"code":131052,"title":"Media download error"}]}`, Declined: true,
		},
		{Name: "picture without an id", Members: `{"type":"image","image":{"mime_type":"image/png"}}`, Declined: true},
		{
			Name: "file that is gone", Members: `{"type":"document","document":{"id":"no-such-file","mime_type":"application/pdf",` +
				`"filename":"gone.pdf"}}`, Text: "gone.pdf", Declined: true,
		},
		{Name: "reaction", Members: `{"type":"reaction","reaction":{"message_id":"wamid.x","emoji":"👍"}}`, Text: "👍"},
		{Name: "reaction taken back", Members: `{"type":"reaction","reaction":{"message_id":"wamid.x"}}`},
		{
			Name: "edit", Members: `{"type":"edit","edit":{"original_message_id":"wamid.x","message":{"type":"text",` +
				`"text":{"body":"I meant two"}}}}`, Text: "I meant two",
		},
		{Name: "deletion", Members: `{"type":"revoke","revoke":{"original_message_id":"wamid.x"}}`},
		{
			Name: "another number", Renews: true, Text: "NEWNUMBER",
			Members: `{"type":"system","system":{"type":"user_changed_number","body":"x","wa_id":"NEWNUMBER","user_id":"NEWID"}}`,
		},
		{Name: "another id", Silent: true, Members: `{"type":"system","system":{"type":"user_changed_user_id","user_id":"NEWID"}}`},
		{Name: "another telephone", Members: `{"type":"system","system":{"body":"x","type":"customer_identity_changed"}}`},
		{Name: "unknown report", Members: `{"type":"system","system":{"body":"x","type":"user_grew_wings"}}`, Text: "user_grew_wings"},
		{Name: "opened chat", Members: `{"type":"request_welcome"}`, Text: "request_welcome"},
		{
			Name: "unsupported", Members: `{"type":"unsupported","errors":[{"code":131051}],"unsupported":{"type":"poll"}}`,
			Text: "poll", Declined: true,
		},
		{Name: "unknown", Members: `{"type":"unknown","errors":[{"code":131051,"title":"Message type unknown"}]}`, Declined: true},
		{Name: "group", Group: "group-1", Members: `{"type":"text","text":{"body":"Hola all"},"group_id":"group-1"}`, Text: "Hola all"},
		{
			Name: "unsupported in a group", Group: "group-2",
			Members: `{"type":"unsupported","errors":[{"code":131051}],"group_id":"group-2"}`,
		},
	}
}
