package graphtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
)

// Sample is a message of a person as the channel posts it, or as a fault of the channel might.
type Sample struct {
	Name string
	// Members are those of the message besides from, id and timestamp, or in their place.
	Members string
	// Text is a part of the text that a conversation shows; "": it has none.
	Text string
	// Declined says that nothing can be read of it: the person is asked for another form.
	Declined bool
	// Group is the group that it is written in.
	Group string
}

// Message is the sample as a message with these ids, from a member such as from or from_user_id. Called again with the same ids it is a
// repetition.
func (s *Sample) Message(from map[string]any, id string, at time.Time) (map[string]any, error) {
	m := map[string]any{"id": id, "timestamp": fmt.Sprint(at.Unix())}
	maps.Copy(m, from)
	return m, json.Unmarshal([]byte(s.Members), &m)
}

// SampleFiles are the files that samples name, by their ids.
func SampleFiles() map[string]File {
	return map[string]File{
		"png":  {Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\n of a sample")},
		"mp4":  {Type: "video/mp4", Data: []byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2")},
		"ogg":  {Type: "audio/ogg", Data: []byte("OggS\x00\x02" + strings.Repeat("\x00", 40))},
		"pdf":  {Type: "application/pdf", Data: []byte("%PDF-1.4\n%%EOF\n")},
		"webp": {Type: "image/webp", Data: []byte("RIFF\x20\x00\x00\x00WEBPVP8 " + strings.Repeat("\x00", 20))},
	}
}

// Samples are messages of every type that the channel has, and of every malformed form.
func Samples() []Sample {
	return []Sample{
		{Name: "text", Members: `{"type":"text","text":{"body":"Hola"}}`, Text: "Hola"},
		{Name: "text of 100 kB", Members: `{"type":"text","text":{"body":"` + strings.Repeat("Hola ", 20_000) + `"}}`, Text: "Hola Hola"},
		{Name: "text of a person who came by an ad", Members: `{"type":"text","text":{"body":"Hi"},"referral":{"source_url":"https://fb.test/1","source_id":"1","source_type":"ad",
			"headline":"Whales","body":"See them","media_type":"image","image_url":"https://fb.test/i","ctwa_clid":"clid-1","welcome_message":{"text":"Hello"}}}`, Text: "Hi"},
		{Name: "text about a product", Members: `{"type":"text","text":{"body":"Is it blue?"},"context":{"from":"15555550100","id":"wamid.x","referred_product":{"catalog_id":"1","product_retailer_id":"SKU-1"}}}`, Text: "Is it blue?"},
		{Name: "forwarded text", Members: `{"type":"text","text":{"body":"Look"},"context":{"forwarded":true,"frequently_forwarded":true}}`, Text: "Look"},
		{Name: "button of a template", Members: `{"type":"button","button":{"payload":"p","text":"Details"}}`, Text: "Details"},
		{Name: "button without a text", Members: `{"type":"button","button":{"payload":"more-details"}}`, Text: "more-details"},
		{Name: "button of a reply", Members: `{"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"b1","title":"Yes"}}}`, Text: "Yes"},
		{Name: "entry of a list", Members: `{"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"l1","title":"Seven","description":"o'clock"}}}`, Text: "Seven"},
		{
			Name: "form", Text: "Full name: Ana",
			Members: `{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":"flow","body":"Sent",
				"response_json":"{\"flow_token\":\"t\",\"screen_0_Full_name_0\":\"Ana\",\"screen_0_Sizes_1\":[\"L\",\"XL\"],\"agreed\":true,\"guests\":2}"}}}`,
		},
		{Name: "address", Members: `{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":"address_message","body":"Ana, 1 Main St",
			"response_json":"{\"saved_address_id\":\"a1\",\"values\":{\"in_pin_code\":\"400063\",\"city\":\"Mumbai\"}}"}}}`, Text: "Mumbai"},
		{Name: "form without answers", Members: `{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":"flow","body":"Sent","response_json":"{}"}}}`, Text: "Sent"},
		{Name: "form whose answers are no JSON", Members: `{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"body":"Sent","response_json":"{\"a\":"}}}`, Text: "Sent"},
		{Name: "form of another type", Members: `{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":[1,2]}}}`, Declined: true},
		{Name: "permission for calls", Members: `{"type":"interactive","interactive":{"type":"call_permission_reply","call_permission_reply":{"response":"accept","is_permanent":true,"response_source":"user_action"}}}`, Text: "accept"},
		{Name: "interactive of a new type", Members: `{"type":"interactive","interactive":{"type":"poll_reply","poll_reply":{"id":"1"}}}`, Declined: true},
		{Name: "order", Members: `{"type":"order","order":{"catalog_id":"c1","text":"Quickly please","product_items":[
			{"product_retailer_id":"SKU-1","quantity":2,"item_price":9.9,"currency":"EUR"},{"product_retailer_id":"SKU-2","quantity":"1","item_price":"5","currency":"EUR"}]}}`, Text: "2 × SKU-1: 9.9 EUR"},
		{Name: "order without products", Members: `{"type":"order","order":{"catalog_id":"c1","product_items":[]}}`, Declined: true},
		{
			Name: "contact cards", Text: "Ben +34 600 111 333 ben@acme.test Acme",
			Members: `{"type":"contacts","contacts":[{"name":{"formatted_name":"Ben","first_name":"Ben"},"phones":[{"phone":"+34 600 111 333","wa_id":"34600111333","type":"CELL"}],
				"emails":[{"email":"ben@acme.test","type":"WORK"}],"org":{"company":"Acme","title":"Sales"},"urls":[{"url":"https://acme.test"}],"addresses":[{"street":"1 Main St","city":"Vigo","country":"Spain"}]}]}`,
		},
		{Name: "contact card of a WhatsApp id alone", Members: `{"type":"contacts","contacts":[{"name":{"formatted_name":"Cat"},"phones":[{"wa_id":"34600111444"}]}]}`, Text: "+34600111444"},
		{Name: "contact card as a text alone", Members: `{"type":"contacts","contacts":[{"origin":"other","vcard":"BEGIN:VCARD\r\nVERSION:3.0\r\nN:Ruiz;Eva;;;\r\nFN:Eva Ruiz\r\nitem1.TEL;waid=34600111555:+34 600 111 555\r\nORG:Acme\\, Ltd;Sales\r\nEND:VCARD"}]}`, Text: "Eva Ruiz +34 600 111 555"},
		{Name: "no contact cards", Members: `{"type":"contacts","contacts":[]}`, Declined: true},
		{Name: "contact cards of another type", Members: `{"type":"contacts","contacts":{"name":"Ben"}}`, Declined: true},
		{Name: "location", Members: `{"type":"location","location":{"latitude":40.4168,"longitude":-3.7038,"name":"Sol","address":"Madrid","url":"https://maps.test"}}`, Text: "40.4168, -3.7038"},
		{Name: "location in texts", Members: `{"type":"location","location":{"latitude":"40.5","longitude":"-3.5"}}`, Text: "40.5, -3.5"},
		{Name: "location of another type", Members: `{"type":"location","location":"here"}`, Declined: true},
		{Name: "location that is none", Members: `{"type":"location","location":{"latitude":1000,"longitude":2}}`, Declined: true},
		{Name: "picture", Members: `{"type":"image","image":{"id":"png","mime_type":"image/png","sha256":"x","caption":"Look","url":"https://lookaside.test/1"}}`, Text: "Look"},
		{Name: "film", Members: `{"type":"video","video":{"id":"mp4","mime_type":"video/mp4"}}`},
		{Name: "voice message", Members: `{"type":"audio","audio":{"id":"ogg","mime_type":"audio/ogg; codecs=opus","voice":true}}`},
		{Name: "document", Members: `{"type":"document","document":{"id":"pdf","mime_type":"application/pdf","filename":"bill.pdf"}}`},
		{Name: "sticker", Members: `{"type":"sticker","sticker":{"id":"webp","mime_type":"image/webp","animated":true}}`},
		{Name: "picture that the channel lost", Members: `{"type":"image","errors":[{"code":131052,"title":"Media download error"}]}`, Declined: true},
		{Name: "picture without an id", Members: `{"type":"image","image":{"mime_type":"image/png"}}`, Declined: true},
		{Name: "file that is gone", Members: `{"type":"document","document":{"id":"no-such-file","mime_type":"application/pdf","filename":"gone.pdf"}}`, Text: "gone.pdf", Declined: true},
		{Name: "reaction", Members: `{"type":"reaction","reaction":{"message_id":"wamid.x","emoji":"👍"}}`, Text: "👍"},
		{Name: "reaction taken back", Members: `{"type":"reaction","reaction":{"message_id":"wamid.x"}}`},
		{Name: "edit", Members: `{"type":"edit","edit":{"original_message_id":"wamid.x","message":{"type":"text","text":{"body":"I meant two"}}}}`, Text: "I meant two"},
		{Name: "deletion", Members: `{"type":"revoke","revoke":{"original_message_id":"wamid.x"}}`},
		{Name: "another telephone", Members: `{"type":"system","system":{"body":"x","type":"customer_identity_changed"}}`},
		{Name: "unknown report", Members: `{"type":"system","system":{"body":"x","type":"user_grew_wings"}}`, Text: "user_grew_wings"},
		{Name: "opened chat", Members: `{"type":"request_welcome"}`, Text: "request_welcome"},
		{Name: "unsupported", Members: `{"type":"unsupported","errors":[{"code":131051}],"unsupported":{"type":"poll"}}`, Text: "poll", Declined: true},
		{Name: "unknown", Members: `{"type":"unknown","errors":[{"code":131051,"title":"Message type unknown"}]}`, Declined: true},
		{Name: "new type", Members: `{"type":"hologram_v9","hologram_v9":[[["deep"]]],"text":3,"contacts":{"a":1},"location":"here","later":{"more":null}}`, Text: "hologram_v9", Declined: true},
		{Name: "no type", Members: `{"text":{"body":"Hola"}}`, Declined: true},
		{Name: "type of another type", Members: `{"type":5,"text":{"body":"Hola"}}`, Declined: true},
		{Name: "missing member of its type", Members: `{"type":"text"}`, Declined: true},
		{Name: "text of another type", Members: `{"type":"text","text":["Hola"]}`, Declined: true},
		{Name: "empty text", Members: `{"type":"text","text":{"body":" \n "}}`, Declined: true},
		{Name: "no id", Members: `{"id":null,"type":"text","text":{"body":"Without an id"}}`, Text: "Without an id"},
		{Name: "no timestamp", Members: `{"timestamp":null,"type":"text","text":{"body":"Some time"}}`, Text: "Some time"},
		{Name: "timestamp of another type", Members: `{"timestamp":["now"],"type":"text","text":{"body":"Now"}}`, Text: "Now"},
		{Name: "group", Group: "group-1", Members: `{"type":"text","text":{"body":"Hola all"},"group_id":"group-1"}`, Text: "Hola all"},
		{Name: "unsupported in a group", Group: "group-2", Members: `{"type":"unsupported","errors":[{"code":131051}],"group_id":"group-2"}`},
	}
}
