package app_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/app"
	"carillon/internal/base/config"
)

func TestResourcesOfTheExampleAreRead(t *testing.T) {
	text, err := os.ReadFile("../base/config/testdata/provision.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := config.ParseProvision("example.yaml", text, app.ProvisionOptions())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range p.Companies[0].Resources {
		doc, err := json.Marshal(x.Resource)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, x.Kind.Name+" "+string(doc))
	}
	want := []string{
		`knowledge {"id":"faq","articles":[{"title":"Equipaje","text":"Puede llevar una maleta de 23 kg y un bolso de mano.",` +
			`"url":"https://acme.test/faq/equipaje"}]}`,
		`secret {"name":"shop_key","hosts":["api.acme.test"],"value":"change-me-to-the-key"}`,
		`agent {"id":"7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e11","name":"Recepción","language":"es","engine":"builtin",` +
			`"greeting":"Hola {{first_name}}, le llamamos de Acme Travel.","knowledge":["faq"],"tools":["search","handoff",` +
			`"hang_up"],"record":true,` +
			`"result":[{"name":"confirmed","type":"boolean"},{"name":"reason","type":"text"}]}`,
		`widget {"id":"1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e21","kind":"chat","name":"Web chat","agent":"Recepción","welcome":"Hola, ` +
			`¿en qué podemos ayudarle?",` +
			`"translations":{"en":"Hello, how can we help?","pt":"Olá, como podemos ajudar?"},"language":"es",` +
			`"appearance":{"primary_color":"#0b6e4f","position":"bottom-right","animation":"pulse","title":"Acme Travel"},` +
			`"allowed_origins":[],` +
			`"identity_secret":"change-me-to-32-random-bytes"}`,
		got[4],
		`flow {"name":"order-follow-up","trigger":{"event":"order-shipped"},"steps":[{"say":"Hola {{name}}, ¿recibió su pedido?"},` +
			`{"ask":"received","choices":["sí","no"]},{"if":"received == 'no'","then":[{"handoff":"support"}],` +
			`"else":[{"say":"¡Gracias!"}]}]}`,
	}
	if diff := cmp.Diff(want, got[:6]); diff != "" {
		t.Error(diff)
	}
	if len(got) != 7 || !strings.Contains(got[4], `"kind":"voice"`) || !strings.Contains(got[6], `"events":["*"]`) {
		t.Errorf("%d resources: %v", len(got), got[3:])
	}
}

// The set-up in docs/reference/tools.md is one.
func TestToolsOfTheReferenceAreRead(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	t.Setenv("SHOP_KEY", "12345678")
	p, err := config.ParseProvision("tools.yaml", []byte(text), app.ProvisionOptions())
	if err != nil || !found {
		t.Fatal(err)
	}
	var kinds []string
	for _, x := range p.Companies[0].Resources {
		kinds = append(kinds, x.Kind.Name)
	}
	if got := strings.Join(kinds, " "); got != "secret tool agent" {
		t.Error(got)
	}
}

func TestFaultsOfResourcesStandAtTheirLines(t *testing.T) {
	for text, want := range map[string]string{
		`agents: [{name: a, tools: [sing]}]`: "a.yaml:3:32: tools must be " +
			"one of search, handoff, hang_up",
		`agents: [{name: a, tools: [search, search]}]`: "a.yaml:3:40: tools names the " +
			"same twice",
		`agents: [{name: a, engine: steam, language: spanish}]`: "a.yaml:3:32: engine must be " +
			"one of builtin, openai, elevenlabs",
		`agents: [{name: a, result: [{name: b, type: choice}]}]`: "a.yaml:3:33: choices must " +
			"stand where the type is choice, and only there",
		`agents: [{name: a, result: [{name: b}, {name: b}]}]`: "a.yaml:3:51: name names the " +
			"same twice",
		`agents: [{name: a, result: [{name: Two Words}]}]`: "a.yaml:3:40: name must be a " +
			"word such as confirmed",
		`agents: [{name: a, openai: {model: m}}]`:                   "a.yaml:3:32: base_url is required",
		`agents: [{name: a, openai: {base_url: "https://a.test"}}]`: "a.yaml:3:32: model is required",
		`agents: [{name: a, openai: {base_url: "https://a.test?hunter2=1", model: m}}]`: "a.yaml:3:43: base_url must " +
			"have no query and no fragment",
		`agents: [{name: a, openai: {base_url: "https://u:p@a.test", model: m}}]`: "a.yaml:3:43: base_url must " +
			"have no user and no password in it: addresses are shown and logged",
		`agents: [{name: a, openai: {base_url: "https://a.test", model: m, temperature: 3}}]`: "a.yaml:3:84: temperature must " +
			"be from 0 to 2",
		`agents: [{name: a, openai: {base_url: "https://a.test", model: m, temperature: hot}}]`: "a.yaml:3:84: temperature must " +
			"be a number, not a text",
		`agents: [{name: a, openai: {base_url: "https://a.test", model: m, temperature: .inf}}]`: "a.yaml:3:84: temperature must " +
			"be a number such as 0.2",
		`agents: [{name: a, openai: {base_url: "https://a.test", model: m, api_key: "hunter2 x"}}]`: "a.yaml:3:80: api_key must be " +
			"at most 1,000 printable characters without spaces",
		`agents: [{name: a, voice: {silence_ms: 0.5}}]`: "a.yaml:3:44: silence_ms must be a " +
			"whole number, not a number",
		`agents: [{name: a, voice: {speed: 3}}]`: "a.yaml:3:39: speed must be from 0.5 to 2",
		`agents: [{name: a, voice: {speaker: openai}}]`: "a.yaml:3:31: speaker_service must " +
			"stand where the speaker is openai",
		`agents: [{name: a, client_tools: [{name: t, description: d, parameters: text}]}]`: "a.yaml:3:77: parameters must be a " +
			"mapping, not a text",
		`agents: [{name: a, client_tools: [{name: t, description: d, parameters: {a: 0x1}}]}]`: "a.yaml:3:81: a must be a plain " +
			"decimal number",
		`agents: [{name: a, client_tools: [{name: t, description: d, parameters: {a: 1}}]}]`: "a.yaml:3:77: parameters must be the " +
			"JSON schema of an object",
		`agents: [{name: a, openai: {base_url: "https://a.test", model: m, key: x}}]`: `a.yaml:3:71: unknown field "key"`,
		`knowledge: [{articles: [{text: a, language: no language}]}]`: "a.yaml:3:49: language must be a language " +
			"such as es or pt-BR",
		`agents: [{name: a, id: b}]`:                         "a.yaml:3:28: id must be a UUID",
		`agents: [{engine: builtin}]`:                        "a.yaml:3:14: name is required",
		`knowledge: [{articles: [{title: a}]}]`:              "a.yaml:3:29: text is required",
		`knowledge: [{articles: [{text: a, url: nowhere}]}]`: "a.yaml:3:44: url must be an http or https address",
		`knowledge: [{id: a b}]`: "a.yaml:3:22: id must be 1 to 64 characters " +
			"of A-Z, a-z, 0-9, . _ and -",
		`flows: [{name: a, steps: [{say: a, ask: b}]}]`: "a.yaml:3:31: steps: Choose what this step does: exactly one of " +
			"say, ask, if, set, http, wait, send_template, place_call, goto, handoff and end.",
		`flows: [{name: a, steps: [{if: "x == 1", then: [{say: a, choices: [b]}]}]}]`: "a.yaml:3:71: choices belongs to a step with ask",
		`flows: [{name: a, steps: [{say: x, then: [{say: a}]}]}]`:                     "a.yaml:3:46: then belongs to a step with if",
		`flows: [{name: a, steps: [{say: a, sleep: b}]}]`:                             `a.yaml:3:40: unknown field "sleep"`,
		`flows: [{name: a, steps: [{wait: soon}]}]`: "a.yaml:3:38: wait must be a time such as " +
			"30s, 15m, 2h or 3d, from 1 second to 60 days",
		`flows: [{name: a, steps: [{if: x}]}]`: `a.yaml:3:36: if: This isn't a valid condition. ` +
			`Write x == 'yes'.`,
		`flows: [{name: a, steps: [{goto: b}]}]`:                        "a.yaml:3:38: goto must be the id of a step of this flow",
		`flows: [{name: a, steps: [{id: b, say: a}, {id: b, say: c}]}]`: "a.yaml:3:53: id names two steps",
		`flows: [{name: a, steps: [{ask: "two words"}]}]`: "a.yaml:3:37: ask must be a word of letters, digits and " +
			"_, such as order_id",
		`flows: [{name: a, steps: [{ask: b, choices: [Sí, si]}]}]`: "a.yaml:3:54: choices must differ from the other choices " +
			"by more than case and accents",
		`flows: [{name: a, steps: [{http: {url: "ftp://a.test"}}]}]`: "a.yaml:3:44: url must begin with https:// or http://",
		`flows: [{name: a, steps: [{http: {url: "https://{{host}}/"}}]}]`: "a.yaml:3:44: url must name its host: placeholders may " +
			"stand after it",
		`widgets: [{name: a, appearance: {primary_color: green}}]`: "a.yaml:3:53: primary_color must be a colour such as #0b6e4f",
		`widgets: [{name: a, appearance: {position: middle}}]`: "a.yaml:3:48: position must be one of bottom-right, " +
			"bottom-left, top-right, top-left",
		`widgets: [{name: a, allowed_origins: ["https://a.test/"]}]`: "a.yaml:3:43: allowed_origins must hold origins such as " +
			"https://www.example.com",
		`widgets: [{name: a, translations: {spanish: b}}]`: "a.yaml:3:40: spanish must stand under a language such as " +
			"es or pt-BR",
		`widgets: [{name: a, identity_secret: hunter2}]`:       "a.yaml:3:42: identity_secret must have 24 to 256 bytes",
		`widgets: [{name: a, texts: {es: {send: [Mandar]}}}]`:  "a.yaml:3:44: send must be a text, not a list",
		`widgets: [{name: a, texts: {es: Mandar}}]`:            "a.yaml:3:37: es must be a mapping of fields, not a text",
		`widgets: [{name: a, texts: {es: {"Send!": Mandar}}}]`: "a.yaml:3:38: Send! must be the name of a text of the page",
		`widgets: [{name: a, talk_to_person: maybe}]`:          "a.yaml:3:41: talk_to_person must be true or false, not a text",
		`widgets: [{name: a, hours: {timezone: Mars/Olympus}}]`: "a.yaml:3:43: timezone must be the name of a time zone such " +
			"as Europe/Madrid",
		`widgets: [{name: a, hours: {zone: Europe/Madrid}}]`: `a.yaml:3:33: unknown field "zone"`,
		`widgets: [{name: a, allowed_origins: ["https://a.test;x"]}]`: "a.yaml:3:43: allowed_origins must hold origins such as " +
			"https://www.example.com",
		`webhooks: [{events: ["*"]}]`:                                "a.yaml:3:16: url is required",
		`webhooks: [{url: "https://a.test", events: ["call.rang"]}]`: "a.yaml:3:49: events must be one of *, ",
		`webhooks: [{url: "https://a.test", secret: hunter2-hunter2}]`: "a.yaml:3:48: secret must be whsec_ and the base64 of 24 to " +
			"64 bytes",
	} {
		_, err := config.ParseProvision("a.yaml", []byte("companies:\n  - name: Acme\n    "+text+"\n"), app.ProvisionOptions())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got\n%v\nwant\n%s", text, err, want)
		}
	}
}

func TestEveryFieldOfAWidgetIsRead(t *testing.T) {
	const text = `companies:
  - name: Acme
    widgets:
      - name: a
        talk_to_person: false
        texts: {es: {send: Mandar}, pt-BR: {send: Ir, close: Fechar}}
        hours: {timezone: Europe/Madrid, from: "09:00", to: "18:00", days: [mon, fri]}
      - {name: b}
`
	p, err := config.ParseProvision("a.yaml", []byte(text), app.ProvisionOptions())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range p.Companies[0].Resources {
		doc, _ := json.Marshal(x.Resource)
		got = append(got, string(doc))
	}
	want := []string{
		`{"kind":"chat","name":"a","welcome":"","translations":{},"language":"en","appearance":{},"allowed_origins":[],` +
			`"talk_to_person":false,` +
			`"texts":{"es":{"send":"Mandar"},"pt-BR":{"close":"Fechar","send":"Ir"}},` +
			`"hours":{"timezone":"Europe/Madrid","from":"09:00","to":"18:00","days":["mon","fri"]}}`,
		`{"kind":"chat","name":"b","welcome":"","translations":{},"language":"en","appearance":{},"allowed_origins":[]}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryFieldOfAnAgentsServerIsRead(t *testing.T) {
	t.Setenv("AI_KEY", "sk-from-the-environment")
	const text = `companies:
  - name: Acme
    knowledge: [{articles: [{text: Hola, language: es}]}]
    agents:
      - {name: a, engine: openai, persona: Be brief., openai: {base_url: "https://ai.test/v1/", model: m, api_key: {env: AI_KEY},
        temperature: 0.2}}
      - {name: b, openai: {base_url: "https://ai.test", model: m, temperature: 1}}
`
	p, err := config.ParseProvision("a.yaml", []byte(text), app.ProvisionOptions())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range p.Companies[0].Resources {
		doc, _ := json.Marshal(x.Resource)
		got = append(got, string(doc))
	}
	want := []string{
		`{"id":"default","articles":[{"title":"","text":"Hola","url":"","language":"es"}]}`,
		`{"name":"a","language":"en","engine":"openai","greeting":"","knowledge":[],"tools":[],"record":false,"result":[],` +
			`"persona":"Be brief.",` +
			`"openai":{"base_url":"https://ai.test/v1","model":"m","api_key":"sk-from-the-environment","temperature":0.2}}`,
		`{"name":"b","language":"en","engine":"builtin","greeting":"","knowledge":[],"tools":[],"record":false,"result":[],` +
			`"openai":{"base_url":"https://ai.test","model":"m","temperature":1}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryFieldOfAnAgentsVoiceIsRead(t *testing.T) {
	t.Setenv("SPEECH_KEY", "sk-from-the-environment")
	const text = `companies:
  - name: Acme
    agents:
      - name: a
        engine: elevenlabs
        elevenlabs: {agent_id: agent_1, api_key: {env: SPEECH_KEY}}
        voice:
          speaker: openai
          transcriber: vosk
          name: alloy
          speed: 1.2
          silence_ms: 500
          speaker_service: {base_url: "https://ai.test/v1/", model: m, api_key: {env: SPEECH_KEY}}
          transcriber_service: {base_url: "wss://vosk.test/"}
        client_tools:
          - name: show_page
            description: Shows a page
            phrases: [show me]
            parameters: {type: object, properties: {page: {type: string, enum: [a, "b"]}, n: {minimum: 1.5, nullable: true, default: null}}}
`
	p, err := config.ParseProvision("a.yaml", []byte(text), app.ProvisionOptions())
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := json.Marshal(p.Companies[0].Resources[0].Resource)
	want := `{"name":"a","language":"en","engine":"elevenlabs","greeting":"","knowledge":[],"tools":[],"record":false,"result":[],` +
		`"elevenlabs":{"base_url":"https://api.elevenlabs.io","agent_id":"agent_1","api_key":"sk-from-the-environment"},` +
		`"voice":{"speaker":"openai","transcriber":"vosk","name":"alloy","speed":1.2,"silence_ms":500,` +
		`"speaker_service":{"base_url":"https://ai.test/v1","model":"m","api_key":"sk-from-the-environment"},` +
		`"transcriber_service":{"base_url":"wss://vosk.test"}},` +
		`"client_tools":[{"name":"show_page","description":"Shows a page","parameters":{"properties":{"n":{"default":null,` +
		`"minimum":1.5,"nullable":true},` +
		`"page":{"enum":["a","b"],"type":"string"}},"type":"object"},"phrases":["show me"]}]}`
	if diff := cmp.Diff(want, string(doc)); diff != "" {
		t.Error(diff)
	}
}

func TestDemoNamesItsWidgetsByKind(t *testing.T) {
	p, facts, err := config.Demo(app.ProvisionOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range p.Companies[0].Resources {
		id, _ := x.Key()
		doc, _ := json.Marshal(x.Resource)
		if *id == facts.ChatWidgetID && !strings.Contains(string(doc), `"kind":"chat"`) ||
			*id == facts.VoiceWidgetID && !strings.Contains(string(doc), `"kind":"voice"`) {
			t.Errorf("%s", doc)
		}
	}
}
