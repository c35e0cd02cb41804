package e2e

import "strings"

// hookCalls returns the calls to another company's webhook endpoints and events, in the API and the panel.
func hookCalls(panel func(...call) []call, withBody func(string, []call) []call) map[string][]call {
	const v1, endpoint = "/functions/v1", `{"url":"https://beta.test/curious-too"}`
	all := map[string][]call{
		"GET " + v1 + "/webhooks":                   {{kind: own}},
		"POST " + v1 + "/webhooks":                  {{kind: own, body: endpoint}},
		"GET " + v1 + "/webhooks/{id}":              {{}},
		"PUT " + v1 + "/webhooks/{id}":              {{body: endpoint}},
		"DELETE " + v1 + "/webhooks/{id}":           {{}},
		"GET " + v1 + "/events":                     {{kind: own}, {kind: own, query: "cursor=ZXZlbnRzOg"}},
		"GET " + v1 + "/events/{id}":                {{}},
		"POST " + v1 + "/events/{id}/replay":        {{}},
		"POST " + v1 + "/events/test":               {{kind: own, body: `{"type":"message.sent"}`}},
		"GET /panel/v1/webhook-events":              panel(call{kind: own}),
		"GET /panel/v1/webhook-events/{id}":         panel(call{}),
		"POST /panel/v1/webhook-events/{id}/replay": panel(call{}),
		"POST /panel/v1/webhook-events/test":        withBody(`{"type":"message.sent"}`, panel(call{kind: own})),
	}
	for name, body := range map[string]string{
		"GET /status": "", "GET /deliveries": "", "POST /test": `{"type":"message.sent"}`, "POST /rotate": `{}`,
		"POST /enable": `{"skip_waiting":true}`, "POST /replay": `{"failed":true}`,
	} {
		method, path, _ := strings.Cut(name, " ")
		all[method+" "+v1+"/webhooks/{id}"+path] = []call{{body: body}}
		all[method+" /panel/v1/webhooks/{id}"+path] = withBody(body, panel(call{}))
	}
	return all
}
