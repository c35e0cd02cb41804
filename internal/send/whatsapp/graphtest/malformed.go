package graphtest

import "strings"

const hola = `{"type":"text","text":{"body":"Hola"}}`

// with returns a text message with further members.
func with(members string) string { return hola[:len(hola)-1] + "," + members + "}" }

// malformed returns messages in forms that the channel should not send, or does not send yet.
func malformed() []Sample {
	return append(malformedKinds(), malformedFrames()...)
}

// malformedKinds returns messages that are malformed in the member of their type.
func malformedKinds() []Sample {
	const edit, calls = `{"type":"edit","edit":`, `{"type":"interactive","interactive":{"type":"call_permission_reply"`
	return []Sample{
		{Name: "no type", Members: `{"text":{"body":"Hola"}}`, Declined: true},
		{Name: "type null", Members: `{"type":null,"text":{"body":"Hola"}}`, Declined: true},
		{Name: "empty type", Members: `{"type":"","text":{"body":"Hola"}}`, Declined: true},
		{Name: "type a number", Members: `{"type":5,"text":{"body":"Hola"}}`, Declined: true},
		{Name: "type a list", Members: `{"type":["text"],"text":{"body":"Hola"}}`, Declined: true},
		{Name: "type in capitals", Members: `{"type":"TEXT","text":{"body":"Hola"}}`, Text: "TEXT", Declined: true},
		{Name: "type of another version", Members: `{"type":"text_v2","text":{"body":"Hola"}}`, Text: "text_v2", Declined: true},
		{Name: "type of another member", Members: `{"type":"image","text":{"body":"Hola"}}`, Text: "image", Declined: true},
		{
			Name: "new type", Text: "hologram_v9", Declined: true,
			Members: `{"type":"hologram_v9","hologram_v9":[[["deep"]]],"text":3,
				"contacts":{"a":1},"location":"here","later":{"more":null}}`,
		},
		{Name: "missing member of its type", Members: `{"type":"text"}`, Declined: true},
		{Name: "null in the place of its member", Members: `{"type":"text","text":null}`, Declined: true},
		{Name: "text in the place of its member", Members: `{"type":"text","text":"Hola"}`, Declined: true},
		{Name: "list in the place of its member", Members: `{"type":"text","text":["Hola"]}`, Declined: true},
		{Name: "empty member", Members: `{"type":"text","text":{}}`, Declined: true},
		{Name: "text null", Members: `{"type":"text","text":{"body":null}}`, Declined: true},
		{Name: "text a number", Members: `{"type":"text","text":{"body":7}}`, Text: "7"},
		{Name: "text a list", Members: `{"type":"text","text":{"body":[["Hola"]]}}`, Declined: true},
		{Name: "empty text", Members: `{"type":"text","text":{"body":" \n "}}`, Declined: true},
		{Name: "text of 100 kB", Members: `{"type":"text","text":{"body":"` + strings.Repeat("Hola ", 20_000) + `"}}`, Text: "Hola Hola"},
		{Name: "control characters", Members: `{"type":"text","text":{"body":"a\u0000b\u202e 👩‍👩‍👧‍👦"}}`, Text: "👩‍👩‍👧‍👦"},
		{Name: "control characters alone", Members: `{"type":"text","text":{"body":"\u0000\u0007\u009b"}}`, Declined: true},
		{Name: "halves of characters", Members: `{"type":"text","text":{"body":"a\ud800b \udc00\ud83d"}}`, Text: "a\ufffdb"},
		{Name: "bytes that are no UTF-8", Members: `{"type":"text","text":{"body":"a ` + "\xff\xfe\xed\xa0\x80" + ` b"}}`, Text: "a "},
		{Name: "button of numbers", Members: `{"type":"button","button":{"payload":7,"text":8}}`, Text: "8"},
		{Name: "button of nothing", Members: `{"type":"button","button":{"payload":null}}`, Declined: true},
		{
			Name: "choice of numbers", Text: "2",
			Members: `{"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":1,"title":2}}}`,
		},
		{Name: "choice of nothing", Members: `{"type":"interactive","interactive":{"type":"list_reply"}}`, Declined: true},
		{Name: "interactive of another type", Members: `{"type":"interactive","interactive":[]}`, Text: "interactive", Declined: true},
		{Name: "permission without an answer", Members: calls + `}}`, Text: "call_permission_reply", Declined: true},
		{Name: "permission of a new answer", Members: calls + `,"call_permission_reply":{"response":"later"}}}`, Declined: true},
		{
			Name: "order of another type", Declined: true,
			Members: `{"type":"order","order":{"product_items":{"product_retailer_id":"SKU-1"}}}`,
		},
		{Name: "nothing in the place of cards", Members: `{"type":"contacts","contacts":[null,[],{}]}`, Declined: true},
		{Name: "place without one", Members: `{"type":"location","location":{"latitude":null,"longitude":null}}`, Declined: true},
		{
			Name: "picture whose id is a number", Text: "9",
			Members: `{"type":"image","image":{"id":7001,"mime_type":"image/png","caption":9}}`,
		},
		{Name: "picture whose id is a list", Members: `{"type":"image","image":{"id":["png"]}}`, Declined: true},
		{Name: "picture null", Members: `{"type":"image","image":null}`, Declined: true},
		{
			Name: "captioned picture that is gone", Text: "Look", FileLost: true,
			Members: `{"type":"image","image":{"id":"no-such-file","mime_type":"image/png","caption":"Look"}}`,
		},
		{
			Name: "program", Text: "setup.exe", Declined: true,
			Members: `{"type":"document","document":{"id":"exe","mime_type":"application/octet-stream","filename":"setup.exe"}}`,
		},
		{Name: "reaction without one", Members: `{"type":"reaction"}`, Declined: true},
		{Name: "reaction of another type", Members: `{"type":"reaction","reaction":"👍"}`, Declined: true},
		{Name: "reaction to nothing", Members: `{"type":"reaction","reaction":{"emoji":"👍"}}`, Text: "👍"},
		{Name: "edit without a message", Members: `{"type":"edit"}`, Declined: true},
		{Name: "edit of another type", Members: edit + `{"original_message_id":"wamid.x","message":["x"]}}`, Declined: true},
		{Name: "edit of nothing that is known", Members: edit + `{"message":{"text":{"body":"I meant two"}}}}`, Text: "I meant two"},
		{Name: "deletion of nothing that is known", Members: `{"type":"revoke"}`},
		{Name: "report without one", Members: `{"type":"system"}`, Text: "system"},
		{Name: "report of another type", Members: `{"type":"system","system":["user_changed_number"]}`, Text: "system"},
		{
			Name: "number that is none", Text: "user_changed_number",
			Members: `{"type":"system","system":{"type":"user_changed_number","wa_id":"+34"}}`,
		},
		{Name: "errors next to a text", Members: with(`"errors":[{"code":131051}]`), Text: "Hola"},
	}
}

// malformedFrames returns text messages that are malformed in their ids and times, or in the members around them.
func malformedFrames() []Sample {
	known := func(name, contacts string) Sample {
		return Sample{Name: name, Members: hola, Contacts: contacts, Text: "Hola"}
	}
	return []Sample{
		{Name: "no id", Members: with(`"id":null`), Text: "Hola"},
		{Name: "empty id", Members: with(`"id":""`), Text: "Hola"},
		{Name: "id a number", Members: with(`"id":7`), Text: "Hola"},
		{Name: "id of two words", Members: with(`"id":"two words"`), Text: "Hola"},
		{Name: "long id", Members: with(`"id":"` + strings.Repeat("x", 600) + `"`), Text: "Hola"},
		{Name: "unsupported without an id", Members: `{"id":null,"type":"unsupported"}`, Text: "unsupported", Declined: true},
		{Name: "no timestamp", Members: with(`"timestamp":null`), Text: "Hola"},
		{Name: "timestamp a number", Members: with(`"timestamp":NOW`), Text: "Hola"},
		{Name: "timestamp a list", Members: with(`"timestamp":["now"]`), Text: "Hola"},
		{Name: "timestamp in milliseconds", Members: with(`"timestamp":"NOW000"`), Text: "Hola"},
		{Name: "timestamp with a fraction", Members: with(`"timestamp":NOW.5`), Text: "Hola"},
		{Name: "timestamp before all time", Members: with(`"timestamp":-5`), Text: "Hola"},
		{Name: "timestamp to come", Members: with(`"timestamp":"4102444800"`), Text: "Hola"},
		{Name: "unsupported of a time to come", Members: `{"type":"unsupported","timestamp":"4102444800"}`, Declined: true},
		{Name: "author's number a number", Members: with(`"from":NUMBER`), Text: "Hola"},
		{Name: "author's number with a plus", Members: with(`"from":"+NUMBER"`), Text: "Hola"},
		{Name: "author's parent too", Members: with(`"from_parent_user_id":"US.ENT.118157"`), Text: "Hola"},
		{Name: "unnamed", Members: with(`"from":null,"from_user_id":null`), Unnamed: true},
		{Name: "named by what is no name", Members: with(`"from":"no number","from_user_id":"no id"`), Unnamed: true},
		{
			Name: "named by another type", Unnamed: true,
			Members: `{"from":{"n":NUMBER},"from_user_id":[[]],"type":"image","image":{"id":"png"}}`,
		},
		{Name: "unnamed of an unknown type", Members: `{"from":"","from_user_id":"","type":"hologram_v9"}`, Unnamed: true},
		{Name: "in the place of its list", Members: hola, Bare: true, Text: "Hola"},
		{Name: "answer to nothing that is known", Members: with(`"context":{"from":"15555550100","id":"wamid.unknown"}`), Text: "Hola"},
		{Name: "context of another type", Members: with(`"context":[1]`), Text: "Hola"},
		{Name: "new members", Members: with(`"new_in_v99":{"a":[1,{"b":null}]},"text":{"body":"Hola","preview":[[{}]]}`), Text: "Hola"},
		{Name: "nested a thousand times", Members: with(`"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000)), Text: "Hola"},
		{Name: "no group", Members: with(`"group_id":null`), Text: "Hola"},
		{Name: "empty group", Members: with(`"group_id":" "`), Text: "Hola"},
		{Name: "group a number", Group: "12036304", Members: with(`"group_id":12036304`), Text: "Hola"},
		{
			Name: "reaction in a group", Group: "group-3", Text: "👍",
			Members: `{"type":"reaction","reaction":{"message_id":"x","emoji":"👍"},"group_id":"group-3"}`,
		},
		{
			Name: "lost file in a group", Group: "group-4", Text: "gone.pdf",
			Members: `{"type":"document","document":{"id":"no-such-file","filename":"gone.pdf"},"group_id":"group-4"}`,
		},
		known("contacts null", `null`), known("contacts an object", `{}`), known("contacts a text", `"contacts"`),
		known("contact null", `[null]`), known("empty contact", `[{}]`), known("contact a list", `[[]]`), known("no contacts", `[]`),
		known("contact of nulls", `[{"wa_id":null,"user_id":null,"profile":null}]`),
		known("contact of numbers", `[{"wa_id":7,"profile":{"name":7}}]`),
		known("contact's profile a text", `[{"profile":"Ana"}]`),
		known("contact of a name alone", `[{"profile":{"name":"Ana","username":"ana.r"}}]`),
		known("contact of somebody else's number", `[{"wa_id":"34999999999","profile":{"name":"Somebody else"}}]`),
		known("contact of somebody else's id", `[{"user_id":"US.99999999","profile":{"name":"Somebody else"}}]`),
		known("contact of neither", `[{"user_id":"no id","wa_id":"no number","profile":{"name":"Ana"}}]`),
		known("contact in the place of its list", `{AUTHOR,"profile":{"name":"Ana"}}`),
		known("username null", `[{AUTHOR,"profile":{"name":"Ana","username":null}}]`),
		known("long names", `[{AUTHOR,"profile":{"name":"`+strings.Repeat("n", 5000)+`","username":"`+strings.Repeat("u", 5000)+`"}}]`),
		known("names of control characters", `[{AUTHOR,"profile":{"name":"\u0000\u202e","username":"\u0000"}}]`),
		known("contact with a parent", `[{AUTHOR,"parent_user_id":"US.ENT.1","profile":{"name":"Ana"}}]`),
		known("second contact", `[{"user_id":"US.99999999"},{AUTHOR,"profile":{"name":"Ana"}}]`),
		known("contact twice", `[{AUTHOR,"profile":{"name":"Ana"}},{AUTHOR,"profile":{"name":"Ana"}}]`),
	}
}
