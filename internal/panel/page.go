package panel

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"

	"golang.org/x/text/language"

	"carillon/internal/httpio"
)

//go:embed page.html
var pageHTML string

// pageText are the texts of the status page in one language.
type pageText struct {
	Running, NoPanel, Addresses, Interface, Description, Administration, Ready, Commands, FirstOwner, MakeKey, Send, All string
}

// page is what a browser sees at the address of the installation and at that of the panel, which this version does not
// have: that the program runs, and where to go on.
type page struct {
	template *template.Template
	matcher  language.Matcher
	texts    []pageText // by index of the matcher's languages
}

func newPage() page {
	return page{
		template: template.Must(template.New("page").Parse(pageHTML)),
		matcher:  language.NewMatcher([]language.Tag{language.English, language.Spanish, language.Portuguese}),
		texts: []pageText{
			{
				"Carillon is running", "This version has no pages for administration yet. It is administered by commands, and over its interface.",
				"Addresses", "Interface for applications", "Its description (OpenAPI)", "Interface for administration", "Is it ready?",
				"First commands", "Make the first owner", "Make an access key", "Send a message", "All commands",
			},
			{
				"Carillon está en marcha", "Esta versión todavía no tiene páginas de administración. Se administra con comandos y a través de su interfaz.",
				"Direcciones", "Interfaz para aplicaciones", "Su descripción (OpenAPI)", "Interfaz de administración", "¿Está listo?",
				"Primeros comandos", "Crear el primer propietario", "Crear una clave de acceso", "Enviar un mensaje", "Todos los comandos",
			},
			{
				"O Carillon está a funcionar", "Esta versão ainda não tem páginas de administração. É administrada por comandos e através da sua interface.",
				"Endereços", "Interface para aplicações", "A sua descrição (OpenAPI)", "Interface de administração", "Está pronto?",
				"Primeiros comandos", "Criar o primeiro proprietário", "Criar uma chave de acesso", "Enviar uma mensagem", "Todos os comandos",
			},
		},
	}
}

// Pages returns the routes of what a browser sees, and what it sees at the address of the installation.
func Pages() (routes []httpio.Route, root httpio.Handler) {
	p := newPage()
	return []httpio.Route{{Pattern: "GET /panel", Access: "none", Handle: p.show}}, p.show
}

func (p page) show(w http.ResponseWriter, r *http.Request) error {
	tag, index := language.MatchStrings(p.matcher, r.Header.Get("Accept-Language"))
	base, _ := tag.Base()
	nonce := rand.Text()
	var b bytes.Buffer
	if err := p.template.Execute(&b, struct {
		Lang, Nonce string
		Text        pageText
	}{base.String(), nonce, p.texts[index]}); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+nonce+"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Language")
	_, err := w.Write(b.Bytes())
	return err
}
