package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
)

// kind is the expected kind of response to a call with another company's data.
type kind int

const (
	foreign kind = iota // names Alpha's data: 401, 403 or 404
	empty               // filters a list of Beta by Alpha's data: those, or an empty list
	plain               // names Alpha's data, on a route for people: 400, 403 or 404
	own                 // names none of Alpha's data: anything but an internal error
)

// call is a way to call a route. Path parameters are set to each of Alpha's IDs in turn.
type call struct {
	kind   kind
	query  string
	body   string
	header []string
}

// routeCalls returns for every route the calls by which Beta may try to reach Alpha's data.
func routeCalls(c *companies, a *belongings) map[string][]call {
	const v1, betaAgent = "/functions/v1", "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbb2"
	message := func(recipient, template, agent string) string {
		b, _ := json.Marshal(map[string]any{
			"contact": map[string]any{"number": "34622333444"}, "recipient_id": recipient, "name_template": template,
			"language_template": "en_US",
			"notification_type": "transactional", "campaign_name": "curious", "agent_id": agent,
			"components_push": map[string]any{"body_text_0": "x"},
		})
		return string(b)
	}
	sends := []call{
		{body: message("alpha_main", "plain", betaAgent)},
		{body: message("15555550100", "plain", betaAgent)},
		{body: message("alpha_line", "plain", betaAgent)},
		{body: message("15555550101", "plain", betaAgent)},
	}
	fallback := func(line, agent string) call {
		f := fmt.Sprintf(`"fallback":{"channel":"call","after":"15m","recipient_id":%q,"agent_id":%q}}`, line, agent)
		return call{kind: plain, body: strings.TrimSuffix(message("beta_main", "plain", betaAgent), "}") + "," + f}
	}
	made := `{"name":"curious_%s","language":"en_US","content":"Hi","variables":[],"category":"UTILITY"}`
	edit, later, signed := `{"content":"Taken over"}`, `{"datetime_sending":"2098-01-01T00:00:00"}`, c.statuses(a, c.beta)
	panel := func(more ...call) []call {
		return append([]call{{query: "company=" + alphaID}, {query: "company=Alpha%20Secretive"}}, more...)
	}
	withBody := func(body string, calls []call) []call {
		for i := range calls {
			calls[i].body = body
		}
		return calls
	}
	resource := map[string]string{
		"agents": `{"name":"Curious"}`, "knowledge": `{"articles":[]}`,
		"flows":   `{"name":"Curious","trigger":{"event":"curious"},"steps":[{"say":"Hi"}]}`,
		"widgets": `{"name":"Curious"}`, "webhooks": `{"url":"https://beta.test/curious"}`,
		"secrets": `{"name":"curious","hosts":["beta.test"],"value":"curious-value"}`,
		"senders": `{"number":"15555550277","channel":"messaging","provider":"sandbox"}`,
		"tools":   `{"name":"curious","description":"Curious","http":{"url":"https://beta.test/curious"}}`,
		"sites":   `{"name":"Curious","knowledge":"alphafaq","address":"https://beta.test/"}`,
		"suites": `{"name":"curious","agent":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2",` +
			`"cases":[{"name":"curious","turns":[{"say":"swordfish","expect":{"contains":["a"]}}]}]}`,
	}
	all := map[string][]call{
		"POST " + v1 + "/auth": {{
			kind: own, query: "grant_type=password", body: `{"email":"owner@beta.test","password":"beta-horse-battery"}`,
		}},
		"POST " + v1 + "/auth/refresh": {{kind: own, body: `{"refresh_token":"nobody's"}`}},
		"POST " + v1 + "/auth/company": {{kind: own, query: "company=" + alphaID}},
		"POST " + v1 + "/auth/logout":  {{kind: own}},
		"GET " + v1 + "/auth/user":     {{kind: own}},
		"POST " + v1 + "/api_keys":     {{kind: own, query: "company=" + alphaID}},
		"GET /.well-known/jwks.json":   {{kind: own}},
		"GET /{$}":                     {{kind: own}},
		"GET /panel":                   {{kind: own}},
		"GET /panel/{path...}":         {{kind: own}},
		"GET /panel/assets/{file...}":  {{kind: own}},
		"GET /panel/push/worker.js":    {{kind: own}},
		"POST /panel/v1/session": {{
			kind: own, body: `{"email":"owner@beta.test","password":"beta-horse-battery"}`, header: []string{"X-Carillon-Panel", "1"},
		}},
		"GET /panel/v1/session":          {{kind: own, query: "company=" + alphaID}},
		"GET /panel/v1/session/setup":    {{kind: own}},
		"DELETE /panel/v1/session":       {{kind: own, query: "company=" + alphaID}},
		"GET /panel/v1/sessions":         {{kind: own, query: "company=" + alphaID}},
		"DELETE /panel/v1/sessions/{id}": {{}},
		"GET /healthz":                   {{kind: own}},
		"GET /readyz":                    {{kind: own}},
		"GET /openapi.json":              {{kind: own}},
		"POST " + v1 + "/notify": append(sends, call{body: message("beta_main", "alpha_plain", "")},
			call{body: a.sent, header: []string{"Idempotency-Key", "alphakey" + fmt.Sprint(len(a.sent))}},
			call{kind: own, body: message("beta_main", "plain", "")},
			fallback("alpha_line", betaAgent), fallback("15555550101", betaAgent),
			fallback("beta_line", "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2")),
		"POST " + v1 + "/notify/voice": append(sends,
			call{body: message("beta_line", "", "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2")},
			call{kind: own, body: message("beta_line", "", betaAgent)}),
		"GET " + v1 + "/notify": {
			{kind: own},
			{kind: own, query: "cursor=" + a.cursors["notify"]},
			{kind: empty, query: "sender=alpha_main"},
			{kind: empty, query: "sender=15555550102"},
			{kind: empty, query: "campaign=alphacampaign"},
			{kind: empty, query: "number=34611222333"},
			{kind: empty, query: "number=34611222333&campaign=alphacampaign&sender=alpha_main"},
		},
		"POST " + v1 + "/messages": append(eachBody(a.ids, `{"conversation_id":%q,"type":"text","text":"x"}`),
			append(append(eachBody(a.ids, `{"type":"read","message_id":%q}`),
				eachBody(a.ids, `{"recipient_id":%q,"to":{"number":"34622333444"},"type":"text","text":"x"}`)...),
				call{kind: own, body: `{"to":{"number":"34611222333"},"type":"text","text":"x"}`})...),
		"GET " + v1 + "/messages/{id}":        {{}},
		"GET " + v1 + "/notify/{id}":          {{}},
		"DELETE " + v1 + "/notify/{id}":       {{}},
		"PATCH " + v1 + "/notify/{id}":        {{body: later}},
		"GET " + v1 + "/calls/{id}":           {{}},
		"GET " + v1 + "/calls/{id}/recording": {{}},
		"GET " + v1 + "/usage":                {{kind: own, query: "company=" + alphaID}},
		"GET " + v1 + "/notify/templates": {
			{query: "phone_number=15555550100"},
			{query: "phone_number=15555550102"},
			{query: "phone_number=15555550101"},
			{kind: own, query: "phone_number=15555550200"},
		},
		"POST " + v1 + "/notify/templates": {
			{query: "phone_number=15555550100", body: fmt.Sprintf(made, "one")},
			{query: "phone_number=15555550102", body: fmt.Sprintf(made, "two")},
			{kind: own, body: fmt.Sprintf(made, "three")},
		},
		"GET " + v1 + "/notify/templates/{id}":         {{}},
		"PATCH " + v1 + "/notify/templates/{id}":       {{body: edit}},
		"DELETE " + v1 + "/notify/templates/{id}":      {{}},
		"POST " + v1 + "/notify/templates/{id}/submit": {{}},
		"GET " + v1 + "/notify/template/components":    eachQuery("template", a.ids, foreign),
		"GET " + v1 + "/suppressions":                  {{kind: own}, {kind: own, query: "cursor=" + a.cursors["suppressions"]}},
		"POST " + v1 + "/suppressions":                 {{kind: own, body: `{"number":"34622000009"}`}},
		"DELETE " + v1 + "/suppressions/{number}":      {{}},
		"GET /callbacks/whatsapp/{sender}":             {{query: "hub.mode=subscribe&hub.challenge=1&hub.verify_token=beta-verify-token"}},
		"POST /callbacks/whatsapp/{sender}": {{
			body: signed, header: []string{"X-Hub-Signature-256", c.beta.Sign([]byte(signed))},
		}},
		"GET /panel/v1/keys":         panel(call{kind: own}, call{kind: own, query: "cursor=" + a.cursors["keys"]}),
		"POST /panel/v1/keys":        withBody(`{"label":"curious"}`, panel(call{kind: own})),
		"DELETE /panel/v1/keys/{id}": panel(call{}),
		"GET /panel/v1/users":        panel(call{kind: own}, call{kind: own, query: "cursor=" + a.cursors["users"]}),
		"POST /panel/v1/users": withBody(
			`{"email":"new@beta.test","name":"New","password":"long-enough-password"}`, panel(call{kind: own})),
		"PATCH /panel/v1/users/{id}":           withBody(`{"role":"viewer"}`, panel(call{})),
		"DELETE /panel/v1/users/{id}":          panel(call{}),
		"POST /panel/v1/users/{id}/password":   withBody(`{"password":"long-enough-password"}`, panel(call{})),
		"DELETE /panel/v1/users/{id}/sessions": panel(call{}),
		"POST /panel/v1/user/password": {{
			kind: own, query: "company=" + alphaID, body: `{"password":"long-enough-password"}`,
		}},
		"DELETE /panel/v1/user/sessions": {{kind: own, query: "company=" + alphaID}},
		"GET /panel/v1/senders":          panel(call{kind: own}),
		"GET /panel/v1/campaigns":        panel(call{kind: own}),
		"GET /panel/v1/campaigns/one":    panel(call{query: "name=alphacampaign"}),
		"GET /panel/v1/campaigns/recipients": panel(append(eachCursor("campaign-recipients", a.sentIDs),
			call{kind: empty, query: "name=alphacampaign"})...),
		"GET /panel/v1/campaigns/reasons": panel(call{kind: own, query: "name=alphacampaign"}),
		"GET /panel/v1/campaigns/export":  panel(call{kind: own, query: "name=alphacampaign"}),
		"GET /panel/v1/notifications": panel(append(eachQuery("ids", slices.DeleteFunc(slices.Clone(a.sentIDs), func(id string) bool {
			return !carillon.ValidUUID(id)
		}), empty), call{kind: own}, call{kind: empty, query: "sender=alpha_main"}, call{kind: empty, query: "number=34611222333"},
			call{kind: empty, query: "campaign=alphacampaign"})...),
		"GET /panel/v1/search":                      panel(eachQuery("q", a.sentIDs, empty)...),
		"GET /panel/v1/notifications/lookup":        panel(eachQuery("q", a.sentIDs, empty)...),
		"GET /panel/v1/notifications/{id}":          panel(call{}),
		"GET /panel/v1/notifications/{id}/request":  panel(call{}),
		"GET /panel/v1/notifications/{id}/filled":   panel(call{}),
		"POST /panel/v1/notifications/{id}/cancel":  panel(call{}),
		"POST /panel/v1/notifications/{id}/move":    withBody(later, panel(call{})),
		"GET /panel/v1/notifications/{id}/resend":   panel(call{}),
		"POST /panel/v1/notifications/{id}/resend":  withBody(`{"recipients":[0]}`, panel(call{})),
		"GET /panel/v1/notifications/{id}/timeline": panel(call{}),
		"GET /panel/v1/events":                      panel(),
		"POST /panel/v1/templates/{id}/review":      withBody(`{"approve":true}`, panel(call{})),
		"GET /panel/v1/maintenance":                 panel(call{kind: own}),
		"POST /panel/v1/maintenance": withBody(`{"until":"`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+
			`"}`, panel(call{})),
		"DELETE /panel/v1/maintenance":      panel(call{}),
		"GET /panel/v1/numbers":             panel(call{}),
		"PUT /panel/v1/numbers/{number}":    withBody(`{"company":"`+betaID+`"}`, panel(call{})),
		"DELETE /panel/v1/numbers/{number}": panel(call{}),
		"GET /panel/v1/restored":            panel(call{}),
		"POST /panel/v1/restored":           withBody(`{"decision":"fail"}`, panel(call{})),
	}
	const alphaWidget, betaWidget, visitor = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa3", "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbb3",
		"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa4"
	begin := func(widget, more string) string {
		return `{"widget_id":"` + widget + `","customer_id":"` + visitor + `"` + more + `}`
	}
	all["GET "+v1+"/widgetWebView"] = []call{
		{kind: plain, query: "customer_id=ck_beta_live&widget_id=" + alphaWidget},
		{kind: plain, query: "customer_id=ck_gamma_live&widget_id=" + alphaWidget},
		{kind: own, query: "customer_id=ck_beta_live&widget_id=" + betaWidget},
	}
	all["GET "+v1+"/widgetWebView/{customer_id}/{widget_id}"] = []call{{kind: plain}}
	all["GET "+v1+"/widgetWebView/{customer_id}"] = []call{{kind: plain}}
	all["GET "+v1+"/widget"] = []call{{query: "widget_id=" + alphaWidget}, {kind: own, query: "widget_id=" + betaWidget}}
	all["POST "+v1+"/chat/session"] = []call{
		{kind: own, body: begin(betaWidget, "")}, {body: begin(alphaWidget, `,"identity":"forged"`)}, {body: begin(alphaID, "")},
	}
	for _, name := range []string{"files", "turns", "typing", "seen", "handoff", "contact", "rating", "score", "end"} {
		all["POST "+v1+"/chat/"+name] = []call{{body: begin(alphaWidget, "")}}
	}
	all["GET "+v1+"/chat/stream"] = []call{{}}
	const alphaVoice, betaVoice = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa5", "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbb5"
	for _, path := range []string{"", "/signed-url"} {
		all["GET "+v1+"/voice-widget"+path] = []call{
			{query: "id_widget=" + alphaVoice}, {query: "id_widget=" + alphaWidget}, {kind: own, query: "id_widget=" + betaVoice},
		}
	}
	for _, name := range []string{"search", "handoff", "handoff/end", "feedback"} {
		all["POST "+v1+"/voice-widget/"+name] = []call{{body: `{"query":"swordfish","rating":1}`}}
	}
	all["GET "+v1+"/voice-widget/chat-by-conversation"] = eachQuery("conversation_id", a.ids, foreign)
	all["POST /v1/convai/conversations/{id}/feedback"] = []call{{body: `{"rating":1}`}}
	// Anyone with Alpha's signed address may use it, but its parts alone open nothing.
	upgrade := []string{
		"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==",
	}
	at, _ := url.Parse(a.signed)
	part := at.Query()
	part.Del("token")
	all["GET /v1/convai/conversation"] = []call{
		{query: part.Encode(), header: upgrade}, {query: part.Encode() + "&token=" + part.Get("conversation"), header: upgrade},
	}
	all["GET /panel/v1/calls"] = panel(
		call{kind: own}, call{kind: empty, query: "line=alpha_line"}, call{kind: empty, query: "campaign=alphacampaign"},
		call{kind: empty, query: "number=34611222333"},
		call{kind: empty, query: "agent=aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2"}, call{kind: own, query: "direction=incoming"},
		call{kind: empty, query: "direction=incoming&line=alpha_line"},
	)
	all["GET /panel/v1/calls/outcomes"] = panel(
		call{kind: own}, call{kind: own, query: "campaign=alphacampaign"}, call{kind: own, query: "line=alpha_line"},
		call{kind: own, query: "agent=aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2"}, call{kind: own, query: "direction=incoming"},
	)
	now := time.Now().Unix()
	all["GET /panel/v1/conversations/times"] = panel(call{kind: own, query: fmt.Sprintf("bounds=%d,%d", now-30*86_400, now+86_400)})
	all["GET /panel/v1/calls/{id}"] = panel(call{})
	all["GET /panel/v1/calls/{id}/recording"] = panel(call{})
	all["POST /panel/v1/calls/{id}/hangup"] = panel(call{})
	all["GET /panel/v1/overview"] = panel(
		call{kind: own}, call{kind: own, query: "campaign=alphacampaign"}, call{kind: own, query: "sender=alpha_main"},
		call{kind: own, query: "template=alpha_plain"},
	)
	all["GET /panel/v1/overview/attention"] = panel(call{kind: own})
	all["GET /panel/v1/overview/first-steps"] = panel(call{kind: own})
	all["GET /panel/v1/usage"] = panel(call{kind: own})
	for _, path := range []string{"", "/export", "/prices"} {
		all["GET /panel/v1/charges"+path] = panel(call{kind: own, query: "by=template"})
	}
	all["PUT /panel/v1/charges/prices"] = panel(call{kind: own, body: `{"currency":"EUR","prices":[]}`})
	all["GET /panel/v1/activity/calls"] = panel(
		// Filters of Beta's own calls may name Alpha's data: older calls are only Alpha's.
		call{kind: empty, query: "to=2020-01-01T00:00:00Z"}, call{kind: empty, query: "code=alphacode"},
		call{kind: empty, query: "request_id=req_alpha"},
	)
	all["GET /panel/v1/activity/calls/{id}"] = panel(call{})
	all["GET /panel/v1/activity/accepted"] = panel(call{kind: own}, call{kind: empty, query: "request_id=req_alpha"})
	all["GET /panel/v1/activity/changes"] = panel(call{kind: own}, call{kind: empty, query: "kind=sender&object=alpha_main"})
	all["GET /panel/v1/activity/changes/{id}"] = panel(call{})
	all["GET /panel/v1/activity/authors"] = panel(call{kind: own})
	all["GET /panel/v1/suppressions"] = panel(call{kind: own}, call{kind: empty, query: "number=34611222333"},
		call{kind: own, query: "cursor=" + a.cursors["suppressions"]})
	all["GET /panel/v1/suppressions/export"] = panel(call{kind: own})
	all["POST /panel/v1/suppressions"] = withBody(`{"numbers":["34622000009"]}`, panel(call{kind: own}))
	all["DELETE /panel/v1/suppressions/{id}"] = panel(call{})
	who := []call{{kind: own, body: `{"number":"34611222333"}`}}
	for _, id := range a.ids {
		who = append(who, call{kind: plain, body: fmt.Sprintf(`{"contact_id":%q}`, id)})
	}
	for _, path := range []string{"", "/export", "/erase"} {
		all["POST "+v1+"/people"+path] = who
		all["POST /panel/v1/people"+path] = append(who, call{query: "company=" + alphaID, body: who[0].body})
	}
	all["POST "+v1+"/media"] = []call{{kind: own, body: "{}"}}
	all["GET "+v1+"/files/{id}"] = []call{{}, {query: "expires=4102444800&signature=" + strings.Repeat("0", 64)}}
	all["POST /panel/v1/conversations/{id}/files"] = panel(call{})
	all["GET /panel/v1/conversations/{id}/files/{file}"] = panel(call{})
	all["GET /chat-assets/{file...}"] = []call{{}}
	// the same for everyone
	for _, page := range []string{"/docs", "/docs/{page...}", "/docs/assets/{file}", "/docs/images/{file}", "/docs/search", "/llms.txt"} {
		all["GET "+page] = []call{{kind: own}}
	}
	all["GET /voice-assets/{file...}"] = []call{{}}
	all["GET /embed/{file}"] = []call{{}}
	all["GET /widget-logo/{id}/{digest}"] = []call{{}}
	all["GET /l/{token}"] = []call{{}}
	all["GET /try"] = []call{{kind: own, query: "widget=" + alphaWidget}}
	const conversations, one = "/panel/v1/conversations", "/panel/v1/conversations/{id}"
	all["GET "+conversations] = append(panel(call{kind: own}), eachNarrowed("contact", a.ids)...)
	all["GET "+conversations+"/counts"] = panel(call{kind: own})
	for name, body := range map[string]string{
		"POST /take": `{}`, "POST /answers": `{"client_id":"curious","text":"Curious"}`,
		"POST /notes":   `{"client_id":"curious","text":"Curious"}`,
		"POST /release": `{"to":"queue"}`, "POST /assign": `{"account_id":""}`, "POST /resolve": "", "POST /reopen": "",
		"PUT /tags": `{"tags":["curious"]}`, "POST /read": `{"seq":1}`, "POST /typing": "", "POST /viewing": "",
		"GET ": "", "GET /turns": "", "GET /contact": "", "PUT /contact": `{"name":"Curious"}`, "GET /reach": "",
		"POST /undo": `{"last_seq":1}`,
	} {
		method, path, _ := strings.Cut(name, " ")
		all[method+" "+one+path] = withBody(body, panel(call{}))
	}
	const browser = `{"endpoint":"https://push.example.com/alpha","keys":{"p256dh":"AA","auth":"AA"}}`
	all["GET /panel/v1/inbox/notices"] = panel(call{kind: own})
	all["PUT /panel/v1/inbox/notices"] = withBody(`{"push":true,"mail":false}`, panel(call{kind: own}))
	all["PUT /panel/v1/inbox/notices/team"] = withBody(`{"mail_after_minutes":5}`, panel(call{kind: own}))
	all["POST /panel/v1/inbox/browsers"] = withBody(browser, panel(call{kind: own}))
	all["DELETE /panel/v1/inbox/browsers/{id}"] = panel(call{})
	all["POST /panel/v1/inbox/browsers/{id}/test"] = panel(call{})
	all["GET "+one+"/turns"] = []call{{query: "after=0"}, {query: "after=0&company=" + alphaID}}
	const drawn = `{"flow":{"name":"Curious","trigger":{"event":"curious"},"steps":[{"say":"Hi"}]}}`
	all["GET /panel/v1/templates"] = panel(call{kind: own})
	all["POST /panel/v1/notifications"] = []call{
		{body: message("alpha_main", "plain", ""), header: []string{"Idempotency-Key", "curious"}},
		{kind: own, body: message("beta_main", "plain", ""), header: []string{"Idempotency-Key", "curious"}},
	}
	const sendJob = "/panel/v1/send/jobs/{id}"
	all["GET /panel/v1/send/jobs"] = panel(call{kind: own})
	all["POST /panel/v1/send/jobs"] = panel(call{kind: own})
	all["GET /panel/v1/send/sample"] = append(panel(call{kind: own, query: "format=csv"}), eachNarrowed("format=csv&template", a.ids)...)
	all["PATCH "+sendJob] = withBody(`{"version":0,"campaign":"curious"}`, panel(call{}))
	all["POST "+sendJob+"/send"] = withBody(`{"recipients":1}`, panel(call{}))
	all["POST "+sendJob+"/cancel"] = withBody(`{"accepted":true}`, panel(call{}))
	for _, name := range []string{
		"GET ", "DELETE ", "POST /check", "POST /pause", "POST /resume", "GET /rows", "GET /samples", "GET /rows.csv",
	} {
		method, path, _ := strings.Cut(name, " ")
		all[method+" "+sendJob+path] = panel(call{})
	}
	all["GET /panel/v1/templates/sync"] = panel(call{kind: own})
	all["POST /panel/v1/templates/sync"] = panel(call{kind: own})
	all["POST /panel/v1/templates"] = withBody(fmt.Sprintf(made, "four"),
		panel(call{kind: own}, call{kind: plain, query: "sender=alpha_main"}))
	all["GET /panel/v1/templates/{id}"] = panel(call{})
	all["PATCH /panel/v1/templates/{id}"] = withBody(edit, panel(call{}))
	all["DELETE /panel/v1/templates/{id}"] = panel(call{})
	all["POST /panel/v1/templates/{id}/submit"] = panel(call{})
	all["GET /panel/v1/templates/{id}/history"] = panel(call{})
	all["GET /panel/v1/templates/{id}/statistics"] = panel(call{})
	all["POST /panel/v1/templates/{id}/statistics"] = panel(call{})
	all["GET /panel/v1/flows/overview"] = panel(call{kind: own})
	all["POST /panel/v1/flows/drafts"] = withBody(drawn, panel(call{kind: own}))
	all["POST /panel/v1/flows/check"] = withBody(drawn, panel(call{kind: own}))
	all["POST /panel/v1/flows/try"] = withBody(drawn, panel(call{kind: own}))
	all["GET /panel/v1/flows/{id}/draft"] = panel(call{})
	all["PUT /panel/v1/flows/{id}/draft"] = withBody(drawn, panel(call{}))
	all["DELETE /panel/v1/flows/{id}/draft"] = panel(call{})
	all["POST /panel/v1/flows/{id}/publish"] = panel(call{})
	all["GET /panel/v1/flows/{id}/versions"] = panel(call{})
	all["GET /panel/v1/flows/{id}/versions/{version}"] = panel(call{})
	all["GET /panel/v1/flow-runs"] = append(panel(call{kind: own}), eachNarrowed("flow", a.ids)...)
	all["GET /panel/v1/flow-runs/{id}"] = panel(call{})
	all["POST /panel/v1/flow-runs/{id}/stop"] = panel(call{})
	const reply = `{"shortcut":"curious","text":"Curious"}`
	all["GET /panel/v1/canned-replies"] = panel(call{kind: own})
	all["POST /panel/v1/canned-replies"] = withBody(reply, panel(call{kind: own}))
	all["PUT /panel/v1/canned-replies/{id}"] = withBody(reply, panel(call{}))
	all["DELETE /panel/v1/canned-replies/{id}"] = panel(call{})
	all["POST /panel/v1/knowledge/import"] = withBody(`{"markdown":"# Curious"}`, panel(call{kind: own}))
	all["POST /panel/v1/knowledge/import/file"] = panel(call{kind: own})
	all["POST /panel/v1/knowledge/{id}/articles"] = withBody(`{"add":[{"title":"Curious","text":"Curious"}]}`, panel(call{}))
	all["PUT /panel/v1/knowledge/{id}/synonyms"] = withBody(`{"synonyms":["curious, swordfish"]}`, panel(call{}))
	const embeddings, server = "/panel/v1/knowledge/{id}/embeddings", `{"base_url":"http://127.0.0.1:1/v1","model":"curious"}`
	all["GET "+embeddings] = panel(call{})
	all["PUT "+embeddings] = withBody(server, panel(call{}))
	all["DELETE "+embeddings] = panel(call{})
	all["POST "+embeddings+"/try"] = withBody(server, panel(call{}))
	all["POST "+embeddings+"/make"] = withBody(`{}`, panel(call{}))
	all["GET /panel/v1/sites/{id}/state"] = panel(call{})
	all["GET /panel/v1/widget-sites"] = panel(call{kind: own})
	all["GET /panel/v1/widgets/{id}/seen"] = panel(call{})
	all["POST /panel/v1/widget-logos"] = panel(call{kind: own})
	all["POST /panel/v1/sites/{id}/look"] = withBody(`{}`, panel(call{}))
	all["GET /panel/v1/sites/{id}/looks/{look}"] = panel(call{})
	all["GET /panel/v1/tools/{id}/remote"] = panel(call{})
	all["POST /panel/v1/tools/{id}/try"] = withBody(`{"arguments":{}}`, panel(call{}))
	all["GET /panel/v1/agents/{id}/tests"] = panel(call{})
	all["GET /panel/v1/agents/{id}/tests/runs/{run}"] = panel(call{})
	all["POST /panel/v1/agents/{id}/tests/check"] = withBody(`{"source":"cases: []"}`, panel(call{}))
	all["POST /panel/v1/agents/{id}/tests/run"] = withBody(`{}`, panel(call{}))
	all["GET /panel/v1/knowledge/search"] = []call{
		{query: "q=swordfish&company=" + alphaID}, {kind: own, query: "q=swordfish"}, {kind: own, query: "q=swordfish&knowledge=alphafaq"},
	}
	all["GET /panel/v1/questions"] = panel(call{kind: own}, call{kind: empty, query: "agent_id=aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2"})
	all["DELETE /panel/v1/questions/{id}"] = panel(call{})
	const alphaAgent = "agent_id=aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2"
	ids, _ := json.Marshal(a.ids)
	questions := `{"questions":` + string(ids)
	all["GET /panel/v1/questions/groups"] = panel(call{kind: own}, call{kind: empty, query: alphaAgent})
	all["POST /panel/v1/questions/attach"] = withBody(questions+`,"knowledge":"alphafaq","article":0,"title":""}`, panel(call{}))
	all["POST /panel/v1/questions/resolve"] = withBody(questions+`}`, panel(call{kind: own}))
	for _, path := range []string{"", "/export"} {
		all["GET /panel/v1/answers"+path] = panel(call{kind: own}, call{kind: own, query: alphaAgent})
	}
	all["GET /panel/v1/answers/reviews"] = panel(call{kind: own}, call{kind: own, query: alphaAgent})
	all["GET /panel/v1/answers/articles"] = panel(call{kind: empty, query: "knowledge=alphafaq"})
	all["POST /panel/v1/agents/{id}/playground"] = withBody(`{"said":[{"contact":true,"text":"swordfish"}]}`, panel(call{}))
	all["POST /panel/v1/agents/{id}/speak"] = withBody(`{"text":"Curious"}`, panel(call{}))
	all["POST /panel/v1/agents/{id}/talk"] = withBody(`{}`, panel(call{}))
	all["POST /panel/v1/senders/{id}/check"] = panel(call{})
	all["POST /panel/v1/senders/{id}/subscribe"] = panel(call{})
	all["GET /panel/v1/senders/{id}/state"] = panel(call{})
	all["POST /panel/v1/senders/{id}/register"] = withBody(`{"pin":"123456"}`, panel(call{}))
	all["PUT /panel/v1/senders/{id}/pin"] = withBody(`{"pin":"123456"}`, panel(call{}))
	all["GET /panel/v1/sender-sign-up"] = panel(call{kind: own})
	all["POST /panel/v1/sender-sign-up"] = withBody(`{"authorization_code":"AQ","waba_id":"2000001"}`, panel(call{kind: own}))
	all["GET /panel/v1/senders/{id}/calls"] = panel(call{})
	all["PUT /panel/v1/senders/{id}/calls"] = withBody(`{"on":false}`, panel(call{}))
	all["POST /panel/v1/senders/{id}/history"] = withBody(`{}`, panel(call{}))
	all["POST /panel/v1/senders/check"] = withBody(`{"number":"15555550100","channel":"messaging","provider":"whatsapp"}`,
		panel(call{kind: plain}))
	all["GET /panel/v1/company"] = panel(call{kind: own})
	all["PUT /panel/v1/company"] = withBody(`{"name":"Alpha Secretive","version":"guessed","retention_days":-1}`, panel(call{kind: plain}))
	all["POST /panel/v1/senders/{id}/test-call"] = withBody(`{"number":"34600111222"}`, panel(call{}))
	const phone = `{"sender":"alpha_main","number":"34611222333",`
	all["GET /panel/v1/sandbox/phone"] = []call{
		{kind: plain, query: "sender=alpha_main&number=34611222333"},
		{query: "company=" + alphaID + "&sender=alpha_main&number=34611222333"},
	}
	all["GET /panel/v1/sandbox/phone/numbers"] = panel(call{kind: own}, call{kind: plain, query: "sender=alpha_main"})
	all["PUT /panel/v1/sandbox/phone"] = withBody(phone+`"unreachable":true}`, panel(call{kind: plain}))
	all["POST /panel/v1/sandbox/phone/messages"] = withBody(phone+`"client_id":"1","kind":"text","text":"Hi"}`, panel(call{kind: plain}))
	all["GET /panel/v1/conversations/{id}/templates"] = panel(call{})
	all["POST /panel/v1/conversations/{id}/templates"] = withBody(`{"client_id":"1","name":"plain","language":"en_US"}`, panel(call{}))
	all["GET /panel/v1/sandbox/calls"] = panel(call{kind: own})
	all["POST /panel/v1/sandbox/calls"] = withBody(`{"sender":"alpha_line","agent_id":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2"}`,
		panel(call{kind: plain}))
	all["GET /panel/v1/sandbox/calls/{id}/recording"] = panel(call{})
	all["GET "+one+"/voice"] = panel(call{})
	all["GET /try"] = []call{{kind: own}}
	all["GET /panel/v1/inbox/teammates"] = panel(call{kind: own})
	all["PUT /panel/v1/inbox/presence"] = withBody(`{"away":true}`, panel(call{kind: own}))
	all["GET /panel/v1/inbox/events"] = panel()
	for _, route := range c.app.Routes() {
		if strings.HasPrefix(route.Pattern, "OPTIONS ") {
			all[route.Pattern] = []call{{kind: own}}
		}
	}
	maps.Copy(all, teamCalls(panel, withBody))
	maps.Copy(all, hookCalls(panel, withBody))
	for kind, body := range resource {
		all["GET /panel/v1/"+kind] = panel(call{kind: own})
		all["POST /panel/v1/"+kind] = withBody(body, panel(call{kind: own}))
		all["GET /panel/v1/"+kind+"/{id}"] = panel(call{})
		all["PUT /panel/v1/"+kind+"/{id}"] = withBody(body, panel(call{}))
		all["DELETE /panel/v1/"+kind+"/{id}"] = panel(call{})
	}
	return all
}

// eachNarrowed filters a list by a parameter, for each of the IDs that are UUIDs.
func eachNarrowed(name string, ids []string) (all []call) {
	for _, id := range ids {
		if carillon.ValidUUID(id) {
			all = append(all, call{kind: empty, query: name + "=" + id})
		}
	}
	return all
}

func eachQuery(name string, values []string, k kind) []call {
	var all []call
	for _, v := range values {
		all = append(all, call{kind: k, query: name + "=" + url.QueryEscape(v)})
	}
	return all
}

// eachBody returns a call with each value in its body.
func eachBody(values []string, body string) []call {
	var all []call
	for _, v := range values {
		all = append(all, call{kind: plain, body: fmt.Sprintf(body, v)})
	}
	return all
}

// eachCursor returns calls for the recipients of Beta's campaign, with a cursor at each of Alpha's notifications.
func eachCursor(list string, ids []string) []call {
	var all []call
	for _, id := range ids {
		if carillon.ValidUUID(id) {
			all = append(all, call{kind: own, query: "name=curious&cursor=" + httpio.EncodeCursor(list, id+"/0")})
		}
	}
	return all
}

// credential is one way for Beta, or for nobody, to authenticate.
type credential struct {
	name   string
	key    string // access_key in the query
	bearer func(t *testing.T) string
	scopes []string // of the key, or of the token made from it
	role   string   // of the user who has the token
	out    bool     // belongs to a suspended company
	turn   int      // if turns > 0: only used with the IDs whose index modulo turns is turn
	turns  int
}

// credentials returns all credentials of Beta: keys with each scope and with all scopes but one, company tokens,
// users' tokens. Those with a part of the scopes take turns at the IDs; the key with all scopes and its token are used
// with each ID.
func (c *companies) credentials(t *testing.T) []credential {
	t.Helper()
	owner := c.signIn(t, "owner@beta.test", "beta-horse-battery")
	all := []credential{
		{name: "nobody"},
		{name: "a suspended company's key", key: "ck_gamma_live", scopes: []string{"*"}, out: true},
		{name: "a user of a suspended company", bearer: c.user("owner@gamma.test", "gamma-horse-battery"), role: "owner", out: true},
		{name: "owner", bearer: c.user("owner@beta.test", "beta-horse-battery"), role: "owner"},
		{name: "viewer", bearer: c.user("viewer@beta.test", "beta-horse-battery"), role: "viewer"},
		{name: "key", key: "ck_beta_live", scopes: []string{"*"}},
	}
	whole := len(all) + 2 // with the key of all scopes and its token
	add := func(name string, scopes []string, token bool) {
		body, _ := json.Marshal(map[string]any{"label": name, "scopes": scopes})
		key := c.field(t, "key", "POST", "/panel/v1/keys", string(body), "Authorization", "Bearer "+owner)
		all = append(all, credential{name: name, key: key, scopes: scopes})
		if !token { // a token has exactly the scopes of its key
			return
		}
		access := c.field(t, "access_token", "POST", withKey("/functions/v1/auth/company", key), "")
		all = append(all, credential{name: "company token of " + name, bearer: func(*testing.T) string { return access }, scopes: scopes})
	}
	var names []string
	for _, s := range auth.Scopes() {
		names = append(names, string(s))
	}
	add("key of all", []string{"*"}, true)
	for i, s := range names {
		if s != "*" {
			add("key of "+s, []string{s}, i == 1)
			add("key of all but "+s, slices.Delete(slices.Clone(names[1:]), i-1, i), i == 1)
		}
	}
	for i := range all[whole:] {
		all[whole+i].turn, all[whole+i].turns = i, len(all)-whole
	}
	return all
}

// user returns a function that returns a user's token; a new one for tests that may end the session.
func (c *companies) user(email, password string) func(t *testing.T) string {
	token := ""
	return func(t *testing.T) string {
		if strings.Contains(t.Name(), "logout") || strings.Contains(t.Name(), "DELETE_|panel|v1|session") {
			return c.signIn(t, email, password)
		}
		if token == "" {
			token = c.signIn(t, email, password)
		}
		return token
	}
}

// admitted reports whether a route is open to a credential, and if not, the status of the refusal.
func admitted(route httpio.Route, by credential) (bool, int) {
	kind, scope, _ := strings.Cut(route.Access, ":")
	if route.Pattern == "GET /functions/v1/suppressions" && slices.Contains(by.scopes, "suppressions:write") {
		scope = "suppressions:write" // write access includes read access
	}
	company := kind == "key" && by.scopes != nil || kind == "company" && by.key != ""
	switch {
	case kind == "none", kind == "customer", kind == "provider", kind == "user" && by.role != "":
		return true, 0
	case company && by.out:
		return false, 403
	case company && kind == "key" && !slices.Contains(by.scopes, "*") && !slices.Contains(by.scopes, scope):
		return false, 403
	case company, kind == "panel" && auth.Role(by.role).Can(auth.Permission(route.Permission)):
		return true, 0
	case kind == "panel" && by.role != "":
		return false, 403
	}
	return false, 401
}
