package widget

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"

	"golang.org/x/text/language"

	"carillon/internal/edge/httpio"
)

//go:embed demo.html
var demoHTML string

//nolint:gochecknoglobals // read only
var demoPage = template.Must(template.New("demo").Parse(demoHTML))

// Demo holds the data that the demo's page embeds: its widgets and their access key.
type Demo struct {
	Widget string
	Voice  string // voice widget
	Key    string
}

// DemoPath is the path of the demo's page.
const DemoPath = "/demo"

// DemoRoute returns the route of the demo company's page, which a customer of Carillon would host on their own site.
func DemoRoute(d Deps, demo func() Demo) httpio.Route {
	return httpio.Route{Pattern: "GET " + DemoPath, Access: "none", Handle: func(w http.ResponseWriter, r *http.Request) error {
		_, pages := d.Addresses()
		return show(w, r, pages, demo())
	}}
}

func show(w http.ResponseWriter, r *http.Request, pages string, demo Demo) error {
	nonce := rand.Text()
	text := demoTextFor(r)
	var b bytes.Buffer
	if err := demoPage.Execute(&b, map[string]any{
		"Lang": text.Code, "Langs": demoTexts(), "Text": text, "Nonce": nonce, "Pages": pages, "Widget": demo.Widget, "Voice": demo.Voice,
		"Key": demo.Key,
	}); err != nil {
		return fmt.Errorf("write the demo's page: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", customerPolicy(nonce, originOf(pages)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Language")
	_, err := w.Write(b.Bytes())
	return err
}

// demoTextFor returns the texts in the language of the query, or else in the browser's preferred one.
func demoTextFor(r *http.Request) demoText {
	all := demoTexts()
	var tags []language.Tag
	for _, t := range all {
		if t.Code == r.URL.Query().Get("lang") {
			return t
		}
		tags = append(tags, language.Make(t.Code))
	}
	_, i := language.MatchStrings(language.NewMatcher(tags), r.Header.Get("Accept-Language"))
	return all[i]
}

// demoText holds the texts of the demo's page in one language.
type demoText struct {
	Code, Name, Language    string
	Title, Lead, Ask, Tours string
	Talk, Aloud             string
	All                     []demoTour
	Questions, Try, Note    string
	Asks                    []string
}

// demoTour is a tour, with the colors of its picture.
type demoTour struct {
	Name, About, Time         string
	Sky, Sun, Far, Near, SunX string
}

func demoTexts() []demoText {
	return []demoText{
		{
			Code: "en", Name: "English", Language: "Language", Title: "The city looks best from the water", Ask: "Ask us anything",
			Tours: "Our tours",
			Talk:  "Voice assistant",
			Aloud: "The voice assistant, also in the chat's header, answers aloud and shows captions. You can always type to it, and " +
				"talk to it in browsers that turn speech into text, such as Chrome. A teammate can take over by voice.",
			Lead: "Small boats, local skippers and a departure every hour. Two hours later you know the harbor better than most " +
				"people who live here.",
			All: demoTours([3][3]string{
				{"Harbor round trip", "Two hours past the docks, the bridges and the old lighthouse.", "2 hours"},
				{"Sunset cruise", "A glass of wine, the last light, and home with the lamps on.", "3 hours"},
				{"Seal bay", "Half a day out to the sandbanks, with binoculars for everyone.", "half a day"},
			}),
			Questions: "Try the chat", Asks: []string{
				"When are you open?", "How can I pay?", "What if the weather is bad?", "Can I bring my dog?",
				"I'd like to talk to a person",
			},
			Try: "The button in the corner is Carillon's chat. It answers from the demo company's knowledge and cites its " +
				"source. If it doesn't know, it says so, and it can connect you with a person. Sign in to " +
				"the panel as a teammate to be that person.",
			Note: "This page belongs to the demo. Harbour Tours and everything that it offers is made up.",
		},
		{
			Code: "es", Name: "Español", Language: "Idioma", Title: "La ciudad se ve mejor desde el agua", Ask: "Pregúntenos lo que quiera",
			Tours: "Nuestras excursiones",
			Talk:  "Asistente de voz",
			Aloud: "El asistente de voz, que también se abre desde la cabecera del chat, responde en voz alta y muestra subtítulos. " +
				"Siempre se le puede escribir, y hablar en navegadores que convierten la voz en texto, como Chrome. Alguien del " +
				"equipo puede continuar por voz.",
			Lead: "Barcos pequeños, patrones de aquí y una salida cada hora. Dos horas después conocerá el puerto mejor que " +
				"muchos de sus vecinos.",
			All: demoTours([3][3]string{
				{"Vuelta al puerto", "Dos horas por los muelles, los puentes y el viejo faro.", "2 horas"},
				{"Paseo al atardecer", "Una copa de vino, la última luz y la vuelta con los faroles encendidos.", "3 horas"},
				{"Bahía de las focas", "Medio día hasta los bancos de arena, con prismáticos para todos.", "medio día"},
			}),
			Questions: "Pruebe el chat", Asks: []string{
				"¿Cuál es el horario?", "¿Cómo puedo pagar?", "¿Y si hace mal tiempo?", "¿Puedo llevar a mi perro?",
				"Quiero hablar con una persona",
			},
			Try: "El botón de la esquina es el chat de Carillon. Responde con lo que sabe la empresa de la demostración y cita su " +
				"fuente; dice cuando no lo sabe, y llama a una persona. Entre en el panel como compañero de equipo para ser esa persona.",
			Note: "Esta página es de la demostración. Harbour Tours y todo lo que ofrece es inventado.",
		},
		{
			Code: "pt", Name: "Português", Language: "Idioma", Title: "A cidade é mais bonita vista da água", Ask: "Pergunte o que quiser",
			Tours: "Nossos passeios",
			Talk:  "Assistente de voz",
			Aloud: "O assistente de voz, que também se abre no topo do chat, responde em voz alta e mostra legendas. Sempre é possível " +
				"digitar, e falar em navegadores que transformam a fala em texto, como o Chrome. Uma pessoa da equipe pode " +
				"continuar por voz.",
			Lead: "Barcos pequenos, tripulação local e uma saída a cada hora. Duas horas depois, você conhece o porto melhor do " +
				"que muita gente que mora aqui.",
			All: demoTours([3][3]string{
				{"Volta pelo porto", "Duas horas pelas docas, pelas pontes e pelo velho farol.", "2 horas"},
				{"Passeio ao pôr do sol", "Uma taça de vinho, a última luz e a volta com as lanternas acesas.", "3 horas"},
				{"Baía das focas", "Meio dia até os bancos de areia, com binóculos para todos.", "meio dia"},
			}),
			Questions: "Experimente o chat",
			Asks: []string{
				"Qual é o horário?", "Como posso pagar?", "O que acontece se chover?", "Posso levar meu cachorro?",
				"Quero falar com uma pessoa",
			},
			Try: "O botão no canto é o chat do Carillon. Ele responde com o que a empresa da demonstração sabe e indica a " +
				"fonte; avisa quando não sabe e chama uma pessoa. Entre no painel como membro da equipe para ser essa pessoa.",
			Note: "Esta página é da demonstração. A Harbour Tours e tudo o que ela oferece são inventados.",
		},
	}
}

// demoTours combines the texts of the tours, each a name, a description and a duration, with their pictures.
func demoTours(texts [3][3]string) []demoTour {
	all := []demoTour{
		{Sky: "#8cc4e0", Sun: "#fff3d6", Far: "#2c86b4", Near: "#0b5c8e", SunX: "230"},
		{Sky: "#f4b183", Sun: "#f2762e", Far: "#9c5a6b", Near: "#573a5c", SunX: "150"},
		{Sky: "#cfe3dc", Sun: "#ffffff", Far: "#7fae9f", Near: "#3b7a6c", SunX: "80"},
	}
	for i, t := range texts {
		all[i].Name, all[i].About, all[i].Time = t[0], t[1], t[2]
	}
	return all
}
