package panel

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/text/language"

	"carillon"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/web"
)

//go:embed page.html
var pageHTML string

// pageText holds the texts of the status page in one language.
type pageText struct {
	Running, Open, NotBuilt, Addresses, Interface, Documentation, Description, Administration, Ready, Commands, FirstOwner, MakeKey, Send,
	All string
}

// page is the page at the address of the installation. It shows that the program runs, and links to the other pages.
// In a program compiled without the panel's pages, it also replaces the panel and explains how to build them.
type page struct {
	template *template.Template
	matcher  language.Matcher
	texts    []pageText // by index of the matcher's languages
	built    bool
}

func newPage(built bool) page {
	return page{
		built:    built,
		template: template.Must(template.New("page").Parse(pageHTML)),
		matcher:  language.NewMatcher([]language.Tag{language.English, language.Spanish, language.Portuguese}),
		texts: []pageText{
			{
				"Carillon is running", "Open the panel",
				"The panel's pages are not built into this program. Install Node 20 or later, run make, and start it again. Until " +
					"then it is administered by commands, and over its API.",
				"Addresses", "API for applications", "Documentation", "Its description (OpenAPI)", "API for administration",
				"Is it ready?",
				"First commands", "Create the first owner", "Create an API key", "Send a message", "All commands",
			},
			{
				"Carillon está en marcha", "Abrir el panel",
				"Este programa no contiene las páginas del panel. Instale Node 20 o posterior, ejecute make y vuelva a iniciarlo. " +
					"Hasta entonces se administra con comandos y a través de su API.",
				"Direcciones", "API para aplicaciones", "Documentación", "Su descripción (OpenAPI)", "API de administración",
				"¿Está listo?",
				"Primeros comandos", "Crear el primer propietario", "Crear una clave de API", "Enviar un mensaje", "Todos los comandos",
			},
			{
				"O Carillon está funcionando", "Abrir o painel",
				"Este programa não contém as páginas do painel. Instale o Node 20 ou mais recente, execute make e inicie o " +
					"programa de novo. Até lá, ele é administrado por comandos e pela sua API.",
				"Endereços", "API para aplicativos", "Documentação", "Sua descrição (OpenAPI)", "API de administração",
				"Está pronto?",
				"Primeiros comandos", "Criar o primeiro proprietário", "Criar uma chave de API", "Enviar uma mensagem",
				"Todos os comandos",
			},
		},
	}
}

// Pages returns the routes of pages for browsers, and the handler for the address of the installation. addresses is
// Deps.Addresses. With signUp, the page for the sign-up of numbers may load Facebook's scripts.
func Pages(files *web.Files, addresses func() (base, widget string), signUp bool) (routes []httpio.Route, root httpio.Handler) {
	p := newPage(files.Built())
	show := p.show
	if p.built {
		show = application{files, addresses, signUp}.show
	}
	return []httpio.Route{
		{Pattern: "GET " + member.SessionPath, Access: "none", Handle: show},
		{
			Pattern: "GET " + member.SessionPath + "/{path...}", Access: "none", Page: true,
			Handle: func(w http.ResponseWriter, r *http.Request) error {
				if strings.HasPrefix(r.URL.Path, member.Prefix+"/") || r.URL.Path == member.Prefix {
					return carillon.Absent("Route")
				}
				return show(w, r)
			},
		},
		{
			Pattern: "GET " + member.SessionPath + "/assets/{file...}", Access: "none",
			Handle: func(w http.ResponseWriter, r *http.Request) error {
				return files.Serve(w, r, web.Panel, "assets/"+r.PathValue("file"), web.Forever)
			},
		},
		{
			Pattern: "GET " + workerPath, Access: "none",
			Handle: func(w http.ResponseWriter, r *http.Request) error {
				w.Header().Set("Content-Security-Policy", "default-src 'none'")
				return files.Serve(w, r, web.Panel, "push/worker.js", 0)
			},
		},
	}, p.show
}

// workerPath is the service worker that shows web push messages. Its folder is its scope, in which there are no pages: it
// controls none.
const workerPath = member.SessionPath + "/push/worker.js"

// application is the panel's page, a single-page application.
type application struct {
	files     *web.Files
	addresses func() (base, widget string)
	signUp    bool
}

// signUpPath is the page that opens Facebook's dialog for the sign-up of a number. Its policy is wider than that of the others.
const signUpPath = member.SessionPath + "/senders/sign-up"

// Sources and settings for Facebook's dialog: its scripts, their requests, and the window that it opens.
const (
	dialogScripts  = " https://connect.facebook.net"
	dialogRequests = " https://www.facebook.com https://graph.facebook.com"
	dialogFrames   = " https://www.facebook.com https://web.facebook.com"
)

// Placeholders in the built page, which the server replaces when it serves the page.
const (
	nonceMark  = "CSP_NONCE"
	baseMark   = "CARILLON_BASE"
	widgetMark = "CARILLON_WIDGETS"
)

func (a application) show(w http.ResponseWriter, r *http.Request) error {
	built, err := a.files.Page(web.Panel)
	if err != nil {
		return fmt.Errorf("read the panel's page: %w", err)
	}
	base, widgets := a.addresses()
	nonce := rand.Text()
	text := strings.NewReplacer(
		nonceMark, nonce, baseMark, template.HTMLEscapeString(base), widgetMark, template.HTMLEscapeString(widgets),
	).Replace(string(built))
	frames := "'none'"
	if u, err := url.Parse(widgets); err == nil {
		frames = u.Scheme + "://" + u.Host
	}
	scripts, requests, opener := own(base, r.Host, "/assets/"), socketOrigin(base), "same-origin"
	if a.signUp && r.URL.Path == signUpPath {
		scripts, requests, frames = scripts+dialogScripts, requests+dialogRequests, strings.TrimPrefix(frames, "'none'")+dialogFrames
		opener = "same-origin-allow-popups" // the dialog reports to the page that opened it
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+nonce+"'"+scripts+"; worker-src"+
		own(base, r.Host, "/push/worker.js")+"; style-src 'nonce-"+
		nonce+"'; img-src 'self' data: blob:; font-src 'self'; "+
		"connect-src 'self'"+requests+"; media-src 'self'; frame-src "+frames+
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", opener)
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(self), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
	_, err = io.WriteString(w, text)
	return err
}

var hostForm = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// own returns the CSP sources of the panel's own files, for worklets and workers, which have no nonce: at the public address,
// and at the requested host.
func own(base, host, path string) (sources string) {
	if u, err := url.Parse(base); err == nil && hostForm.MatchString(u.Host) {
		sources = " " + u.Scheme + "://" + u.Host + member.SessionPath + path
		if strings.EqualFold(u.Host, host) {
			return sources
		}
	}
	if hostForm.MatchString(host) {
		sources += " " + host + member.SessionPath + path
	}
	return sources
}

// socketOrigin returns the CSP source of WebSockets at the public address, which 'self' does not cover in every
// browser.
func socketOrigin(base string) string {
	u, err := url.Parse(base)
	if err != nil || !hostForm.MatchString(u.Host) {
		return ""
	}
	return " " + strings.Replace(u.Scheme, "http", "ws", 1) + "://" + u.Host
}

func (p page) show(w http.ResponseWriter, r *http.Request) error {
	tag, index := language.MatchStrings(p.matcher, r.Header.Get("Accept-Language"))
	base, _ := tag.Base()
	nonce := rand.Text()
	var b bytes.Buffer
	if err := p.template.Execute(&b, struct {
		Lang, Nonce string
		Built       bool
		Text        pageText
	}{base.String(), nonce, p.built, p.texts[index]}); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set(
		"Content-Security-Policy",
		"default-src 'none'; style-src 'nonce-"+nonce+"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Language")
	_, err := w.Write(b.Bytes())
	return err
}
