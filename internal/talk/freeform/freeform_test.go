package freeform

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp"
	"carillon/internal/send/whatsapp/graphtest"
)

// valid are messages at the channel's limits, and their texts in the thread.
func valid() [][2]string {
	long := func(n int) string { return strings.Repeat("é", n) }
	rows := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"id":"%d%s","title":"%d%s","description":"%s"}`, i, long(199), i, long(23), long(72)))
		}
		return strings.Join(all, ",")
	}
	products := strings.Repeat(`"p",`, 14) + `"p"`
	return [][2]string{
		{`"type":"text","text":"` + long(4096) + `","preview_url":true`, long(4096)},
		{`"type":"text","text":"Hi","reply_to":"wamid.in"`, "Hi"},
		{`"type":"image","media":{"url":"https://a.test/x.jpg","caption":"` + long(1024) + `"}`, long(1024) + "\nhttps://a.test/x.jpg"},
		{`"type":"video","media":{"url":"https://a.test/x.mp4"}`, "https://a.test/x.mp4"},
		{`"type":"audio","media":{"url":"https://a.test/x.ogg","voice":true}`, "https://a.test/x.ogg"},
		{`"type":"sticker","media":{"url":"https://a.test/x.webp"}`, "https://a.test/x.webp"},
		{`"type":"document","media":{"url":"https://a.test/x","filename":"a.pdf","caption":"Bill"}`, "Bill\na.pdf\nhttps://a.test/x"},
		{`"type":"buttons","text":"` + long(1024) + `","buttons":[{"id":"` + long(256) + `","title":"` + long(20) + `"}]`, long(1024)},
		{`"type":"buttons","text":"Which?","header":{"image":"https://a.test/x.png"},"footer":"` + long(60) + `","buttons":[` +
			`{"id":"1","title":"A"},{"id":"2","title":"B"},{"id":"3","title":"C"}]`, "https://a.test/x.png\nWhich?\n" + long(60)},
		{`"type":"list","text":"` + long(4096) + `","header":{"text":"` + long(60) + `"},"list":{"button":"` + long(20) + `","sections":[` +
			`{"title":"` + long(24) + `","rows":[` + rows(9) + `]},{"title":"B","rows":[{"id":"b","title":"b"}]}]}`,
			long(60) + "\n" + long(4096)},
		{`"type":"link","text":"See","link":{"title":"Open","url":"https://a.test/?q=1"}`, "See\nOpen: https://a.test/?q=1"},
		{`"type":"location","location":{"latitude":0,"longitude":-180,"name":"Pier","address":"Sea"}`, "Pier, Sea, 0 -180"},
		{`"type":"location_request","text":"Where are you?"`, "Where are you?"},
		{`"type":"contact_request","text":"Your number?"`, "Your number?"},
		{`"type":"call_permission_request","text":"May we call you?"`, "May we call you?"},
		{`"type":"contacts","contacts":[{"name":"Ana","company":"Acme","numbers":["+34600111222"],` +
			`"addresses":["Sea 1"]}]`, "Ana, Acme, +34600111222"},
		{`"type":"product","product":{"catalog_id":"c","product_id":"123"}`, "Product 123"},
		{`"type":"products","header":{"text":"New"},"text":"Look","products":{"catalog_id":"c","sections":[{"title":"A","product_ids":[` +
			products + `]},{"title":"B","product_ids":[` + products + `]}]}`, "New\nLook\nA: Products " +
			strings.TrimSuffix(strings.Repeat("p, ", 15), ", ") + "\nB: Products " + strings.TrimSuffix(strings.Repeat("p, ", 15), ", ")},
		{`"type":"flow","text":"Book","flow":{"id":"7","button":"Begin","token":"t","screen":"FIRST","data":{"a":1}}`, "Book"},
		{`"type":"flow","text":"Book","flow":{"name":"book","button":"Begin","token":"t"}`, "Book"},
		{`"type":"reaction","reaction":{"message_id":"wamid.in","emoji":"👍"}`, "👍"},
		{`"type":"reaction","reaction":{"message_id":"wamid.in","emoji":""}`, "Reaction removed"},
	}
}

func read(members string) (*Request, error) {
	return Read([]byte(`{"to":{"number":"34600111222"},` + members + `}`))
}

// The stand-in knows the channel's limits independently.
func TestTheChannelTakesEveryMessage(t *testing.T) {
	s, err := graphtest.New(graphtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s.Wrote("34600111222", "wamid.in", time.Now())
	sender := &carillon.Sender{UID: 7, ID: "main", Channel: carillon.Messaging, Provider: "whatsapp", Settings: s.Settings()}
	c := whatsapp.New(whatsapp.Options{})
	t.Cleanup(c.CloseIdleConnections)
	seq := int64(0)
	for _, x := range valid() {
		members, text := x[0], x[1]
		r, err := read(members)
		if err != nil {
			t.Errorf("%.80s: %v", members, details(err))
			continue
		}
		if got := Text(&r.Message); got != text {
			t.Errorf("%.80s: the text is %q", members, got)
		}
		seq++
		out := c.SendReply(t.Context(), sender, &provider.Reply{
			Ref: provider.ReplyRef{ConversationID: "0199f000-0000-7000-8000-000000000001", Seq: seq, Attempt: 1}, To: "34600111222",
			Message: &r.Message,
		})
		if out.Verdict != provider.Sent {
			t.Errorf("%.80s: %+v", members, out)
		}
	}
}

func details(err error) string {
	if e, ok := errors.AsType[*carillon.Error](err); ok {
		return fmt.Sprint(e.Details.Find("field"), ": ", e.Details.Find("reason"))
	}
	return fmt.Sprint(err)
}

func TestWhatTheChannelRefusesIsRefusedWithItsField(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	buttons := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"id":"%d","title":"%d"}`, i, i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	list := func(sections string) string {
		return `"type":"list","text":"a","list":{"button":"a","sections":[` + sections + `]}`
	}
	for members, field := range map[string]string{
		`"text":"a"`:                                                                                          "type",
		`"type":"fax","text":"a"`:                                                                             "type",
		`"type":"text"`:                                                                                       "text",
		`"type":"text","text":" "`:                                                                            "text",
		`"type":"text","text":7`:                                                                              "text",
		`"type":"text","text":"a","size":1`:                                                                   "size",
		`"type":"text","text":"a","footer":""`:                                                                "footer",
		`"type":"text","text":"a","typing":true`:                                                              "typing",
		`"type":"text","text":"` + x(4097) + `"`:                                                              "text",
		`"type":"location_request","text":"` + x(1025) + `"`:                                                  "text",
		`"type":"buttons","text":"` + x(1025) + `","buttons":` + buttons(1):                                   "text",
		`"type":"buttons","text":"a","buttons":` + buttons(4):                                                 "buttons",
		`"type":"buttons","text":"a","buttons":[]`:                                                            "buttons",
		`"type":"buttons","text":"a","buttons":[{"id":"1","title":"` + x(21) + `"}]`:                          "buttons.0.title",
		`"type":"buttons","text":"a","buttons":[{"id":"` + x(257) + `","title":"a"}]`:                         "buttons.0.id",
		`"type":"buttons","text":"a","buttons":[{"id":"1","title":"a"},{"id":"1","title":"b"}]`:               "buttons.1.id",
		`"type":"buttons","text":"a","buttons":[{"id":"1","title":"a"},{"id":"2","title":"a"}]`:               "buttons.1.title",
		`"type":"buttons","text":"a","buttons":[{"id":"choice.1","title":"a"}]`:                               "buttons.0.id",
		`"type":"buttons","text":"a","buttons":[{"id":"1","title":"a","description":"b"}]`:                    "buttons.0.description",
		`"type":"buttons","text":"a","buttons":` + buttons(1) + `,"footer":"` + x(61) + `"`:                   "footer",
		`"type":"buttons","text":"a","buttons":` + buttons(1) + `,"header":{"text":"` + x(61) + `"}`:          "header.text",
		`"type":"buttons","text":"a","buttons":` + buttons(1) + `,"header":{}`:                                "header",
		`"type":"buttons","text":"a","buttons":` + buttons(1) + `,"header":{"image":"http://a.test/a.png"}`:   "header.image",
		`"type":"list","text":"a","list":{"button":"` + x(21) + `","sections":[{"rows":` + buttons(1) + `}]}`: "list.button",
		list(``):                             "list.sections",
		list(`{"rows":[]}`):                  "list.sections.0.rows",
		list(`{"rows":` + buttons(11) + `}`): "list.sections.0.rows",
		list(`{"title":"a","rows":` + buttons(6) + `},{"title":"b","rows":[{"id":"a","title":"a"},{"id":"b","title":"a"},` +
			`{"id":"c","title":"a"},{"id":"d","title":"a"},{"id":"e","title":"a"}]}`): "list.sections",
		list(`{"title":"a","rows":` + buttons(1) + `},{"rows":[{"id":"a","title":"a"}]}`):  "list.sections.1.title",
		list(`{"title":"` + x(25) + `","rows":` + buttons(1) + `}`):                        "list.sections.0.title",
		list(`{"rows":[{"id":"1","title":"` + x(25) + `"}]}`):                              "list.sections.0.rows.0.title",
		list(`{"rows":[{"id":"1","title":"a","description":"` + x(73) + `"}]}`):            "list.sections.0.rows.0.description",
		list(`{"rows":[{"id":"` + x(201) + `","title":"a"}]}`):                             "list.sections.0.rows.0.id",
		list(`{"rows":`+buttons(1)+`}`) + `,"header":{"image":"https://a.test/a.png"}`:     "header",
		`"type":"link","text":"a","link":{"title":"` + x(21) + `","url":"https://a.test"}`: "link.title",
		`"type":"link","text":"a","link":{"title":"a","url":"ftp://a.test"}`:               "link.url",
		`"type":"image"`:            "media",
		`"type":"image","media":{}`: "media.url",
		`"type":"image","media":{"url":"http://a.test/a.png"}`:                                          "media.url",
		`"type":"image","media":{"url":"https://127.0.0.1/a.png"}`:                                      "media.url",
		`"type":"image","media":{"url":"https://a.test/a.exe"}`:                                         "media.url",
		`"type":"image","media":{"url":"https://a.test/a.png","caption":"` + x(1025) + `"}`:             "media.caption",
		`"type":"audio","media":{"url":"https://a.test/a.ogg","caption":"a"}`:                           "media.caption",
		`"type":"image","media":{"url":"https://a.test/a.png","filename":"a.png"}`:                      "media.filename",
		`"type":"video","media":{"url":"https://a.test/a.mp4","voice":true}`:                            "media.voice",
		`"type":"location","location":{"latitude":1}`:                                                   "location.longitude",
		`"type":"location","location":{"latitude":91,"longitude":0}`:                                    "location.latitude",
		`"type":"contacts","contacts":[{}]`:                                                             "contacts.0.name",
		`"type":"contacts","contacts":[` + strings.Repeat(`{"name":"a"},`, 257) + `{"name":"a"}]`:       "contacts",
		`"type":"product","product":{"catalog_id":"1"}`:                                                 "product.product_id",
		`"type":"products","text":"a","products":{"catalog_id":"1","sections":[{"product_ids":["1"]}]}`: "header",
		`"type":"products","header":{"text":"a"},"text":"a","products":{"catalog_id":"1","sections":[{"product_ids":[` +
			strings.Repeat(`"1",`, 30) + `"1"]}]}`: "products.sections.0.product_ids",
		`"type":"flow","text":"a","flow":{"button":"a","token":"t"}`:                         "flow.id",
		`"type":"flow","text":"a","flow":{"id":"1","name":"a","button":"a","token":"t"}`:     "flow.name",
		`"type":"flow","text":"a","flow":{"id":"1","button":"a"}`:                            "flow.token",
		`"type":"flow","text":"a","flow":{"id":"1","button":"a","token":"t","data":{"a":1}}`: "flow.data",
		`"type":"reaction","reaction":{"message_id":"1","emoji":"a b"}`:                      "reaction.emoji",
		`"type":"reaction","reaction":{"message_id":"1","emoji":"a"},"reply_to":"1"`:         "reply_to",
		`"type":"read","message_id":"1"`:                                                     "message_id",
		`"type":"text","text":"a","conversation_id":"0199f000-0000-7000-8000-000000000001"`:  "to",
	} {
		_, err := read(members)
		e, ok := errors.AsType[*carillon.Error](err)
		if !ok || e.Code != carillon.ValidationFailed || e.Details.Find("field") != field {
			t.Errorf("%.90s: %s, want %s", members, details(err), field)
		}
	}
	for to, field := range map[string]string{
		``: "to", `"to":{},`: "to.number", `"to":{"number":"+34600111222"},`: "to.number", `"to":{"user_id":"34600111222"},`: "to.user_id",
		`"to":{"number":"34600111222","user_id":"ES.1"},`: "to.user_id", `"conversation_id":"7",`: "conversation_id",
	} {
		if _, err := Read([]byte(`{` + to + `"type":"text","text":"a"}`)); !strings.HasPrefix(details(err), field+":") {
			t.Errorf("%s: %s", to, details(err))
		}
	}
	if r, err := Read([]byte(`{"type":"read","message_id":"1","typing":true}`)); err != nil || !r.Typing {
		t.Errorf("%+v, %v", r, err)
	}
}
