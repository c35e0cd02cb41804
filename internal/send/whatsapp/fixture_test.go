package whatsapp

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

const notificationID = "0190c2a4-7b1e-7c3d-9a4f-2b6c8d0e1f22"

// kind is a template, a message for it, and the golden body of that message.
type kind struct {
	golden   string
	template carillon.Template
	content  provider.Content
}

// kinds covers everything that a message can consist of.
func kinds() []kind {
	header := func(text string) carillon.Component {
		return carillon.Component{Type: content.TypeHeader, Format: content.FormatText, Text: text}
	}
	media := func(format string) carillon.Component {
		return carillon.Component{
			Type: content.TypeHeader, Format: format,
			Example: &carillon.ComponentExample{HeaderHandle: []string{"4::aW1hZ2U="}},
		}
	}
	body := func(text string, example *carillon.ComponentExample) carillon.Component {
		return carillon.Component{Type: content.TypeBody, Text: text, Example: example}
	}
	buttons := func(b ...carillon.Button) carillon.Component {
		return carillon.Component{Type: content.TypeButtons, Buttons: b}
	}
	see := carillon.Button{Type: content.ButtonURL, Text: "Ver", URL: "https://ex.org/c/{{1}}", Example: []string{"https://ex.org/c/ab1"}}
	return append([]kind{
		{
			"positional_text_header_buttons", template("order_update", "es_ES", content.Positional,
				carillon.Component{
					Type: content.TypeHeader, Text: "Pedido {{1}}",
					Example: &carillon.ComponentExample{HeaderText: []string{"A-1"}},
				},
				body("Hola {{1}}, tu pedido {{2}} llega el {{3}}.",
					&carillon.ComponentExample{BodyText: [][]string{{"Ana", "A-1", "lunes"}}}),
				carillon.Component{Type: content.TypeFooter, Text: "Acme Travel"},
				buttons(carillon.Button{Type: content.ButtonURL, Text: "Ver", URL: "https://acme.test/p/{{1}}"},
					carillon.Button{Type: content.ButtonQuickReply, Text: "Gracias"})),
			provider.Content{
				HeaderText: "A-1", Body: []string{"Ana", "A-1", "lunes"},
				Buttons: []provider.ButtonValue{
					{Index: 0, Kind: "url", Value: "k8-22"}, {Index: 1, Kind: "quick_reply", Value: "thanks:7"},
				},
			},
		},
		{
			"image_header", template("visit_reminder", "es_ES", content.Positional, media(content.FormatImage),
				body("Hola {{1}}, su cita es a las {{2}}.", &carillon.ComponentExample{BodyText: [][]string{{"Ana", "10:30"}}}),
				buttons(see)),
			provider.Content{
				MediaURL: "https://cdn.example.org/a.jpg", Body: []string{"Ana", "10:30"},
				Buttons: []provider.ButtonValue{{Index: 0, Kind: "url", Value: "k8-22"}},
			},
		},
		{
			"video_header", template("tour", "en", content.Positional, media(content.FormatVideo), body("Take the tour.", nil)),
			provider.Content{MediaURL: "https://cdn.example.org/tour.mp4?v=2"},
		},
		{
			"document_header", template("invoice", "pt_BR", content.Positional, media(content.FormatDocument), body("Olá {{1}}!", nil)),
			provider.Content{
				MediaURL: "https://cdn.example.org/2026/Factura%20n%C2%BA%207.pdf?sig=x",
				Body:     []string{"\"Ana\" \\ José 🙂 <b>&"},
			},
		},
		{
			"named", template("visit_named", "es_ES", content.Named, carillon.Component{
				Type: content.TypeHeader, Format: content.FormatText, Text: "Hola {{nombre}}",
				Example: &carillon.ComponentExample{HeaderTextNamedParams: []carillon.NamedExample{{ParamName: "nombre", Example: "Ana"}}},
			}, body("Su cita es a las {{hora}} del {{dia}}, a las {{hora}} en punto.", &carillon.ComponentExample{
				BodyTextNamedParams: []carillon.NamedExample{{ParamName: "hora", Example: "10:30"}},
			}), carillon.Component{Type: content.TypeFooter, Text: "Clinica Ejemplo"},
				buttons(carillon.Button{Type: content.ButtonQuickReply, Text: "Confirmo"}, see)),
			provider.Content{
				HeaderText: "Ana", Body: []string{"10:30", "lunes"},
				Buttons: []provider.ButtonValue{{Index: 1, Kind: "url", Value: "ab1"}},
			},
		},
		{
			"without_variables", template("notice", "es", content.Positional, header("Aviso"), body("Cerramos el lunes.", nil)),
			provider.Content{},
		},
	}, append(newerKinds(), countedKind())...)
}

func template(name, language, format string, components ...carillon.Component) carillon.Template {
	return carillon.Template{
		Name: name, Language: language, Category: "UTILITY", ParameterFormat: format,
		Status: carillon.TemplateApproved, Components: components,
	}
}

func templates() []carillon.Template {
	var all []carillon.Template
	for _, k := range kinds() {
		all = append(all, k.template)
	}
	return all
}

// message returns a message of this kind for recipient n.
func (k *kind) message(n int) *provider.Outgoing {
	return &provider.Outgoing{
		Ref:    provider.Ref{NotificationID: notificationID, N: n, Attempt: 1},
		Number: "34600111222", Class: carillon.Utility, Template: &k.template, Content: k.content,
	}
}

// graph starts a fake of the channel and returns it with a sender that uses it.
func graph(t testing.TB, o graphtest.Options) (*graphtest.Server, *carillon.Sender) {
	t.Helper()
	s, err := graphtest.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, &carillon.Sender{UID: 7, ID: "main", Channel: carillon.Messaging, Provider: "whatsapp", Settings: s.Settings()}
}

func client(t testing.TB, o Options) *Client {
	t.Helper()
	c := New(o)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func golden(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, b); err != nil {
		t.Fatal(err)
	}
	return compact.String()
}
