// Package link serves counted links: it redirects their visitors to the address in the message's request, and has the
// visit counted. It sets no cookie and stores nothing about the visitor.
package link

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/text/language"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/send/notify"
)

const (
	redirectWithin = 5 * time.Second  // else the page says to try again
	countWithin    = 10 * time.Second // after the response
)

// Links are the links of the messages that were sent. Implemented by notify.Notify.
type Links interface {
	Visited(ctx context.Context, token string) (*notify.Visit, error)
	Count(ctx context.Context, v *notify.Visit, at time.Time) error
}

// Deps are the dependencies of the route.
type Deps struct {
	Links   Links
	Visits  *share.Share
	Proxies []netip.Prefix // trusted proxies
	Log     *slog.Logger
}

// Route returns the route of counted links.
func Route(d Deps) httpio.Route {
	return httpio.Route{Pattern: "GET " + content.LinkPath + "{token}", Access: "none", Handle: d.visit}
}

// visit redirects first and counts then, so that a visitor never waits for the count, nor does it prevent the visit.
func (d Deps) visit(w http.ResponseWriter, r *http.Request) error {
	within, cancel := context.WithTimeout(r.Context(), redirectWithin)
	defer cancel()
	place, err := d.Visits.Wait(within, share.Holder{Client: httpio.ClientNetwork(r, d.Proxies)})
	if err != nil {
		return show(w, r, http.StatusServiceUnavailable)
	}
	defer place.Release()
	v, err := d.Links.Visited(within, r.PathValue("token"))
	switch {
	case carillon.IsCode(err, carillon.NotFound):
		return show(w, r, http.StatusNotFound)
	case err != nil:
		httpio.Logger(r.Context(), d.Log).ErrorContext(r.Context(), "look up a counted link", "error", err)
		return show(w, r, http.StatusServiceUnavailable)
	}
	httpio.SetCompany(r.Context(), v.CompanyID)
	private(w.Header())
	w.Header().Set("Location", ascii(v.Destination))
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusFound)
	if r.Method != http.MethodGet || automatic(r.Header) {
		return nil
	}
	_ = http.NewResponseController(w).Flush() // else it leaves after the count
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), countWithin)
	defer cancel()
	if err := d.Links.Count(ctx, v, time.Now()); err != nil {
		httpio.Logger(ctx, d.Log).WarnContext(ctx, "count a click", "error", err)
	}
	return nil
}

// private sets the headers of every response: nobody keeps it, and the destination does not learn the token.
func private(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex, nofollow")
}

// ascii escapes what a header cannot hold. Browsers read it as the same address, also in the host.
func ascii(address string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(address) {
		if c := address[i]; c < 0x80 {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	return b.String()
}

// fetchers are parts of the names of programs that open links without a person, in lower case.
var fetchers = []string{ //nolint:gochecknoglobals // read only
	"bot", "crawl", "spider", "preview", "facebookexternalhit", "facebookcatalog", "meta-external", "whatsapp/", "slack-imgproxy",
	"skypeuripreview", "vkshare", "embedly", "quora link", "flipboard", "nuzzel", "bitlybot", "snap url", "viber", "google-safety",
	"googleimageproxy", "safebrowsing", "urlscan", "headlesschrome", "lighthouse",
}

// automatic reports whether a program fetched the link before a person asked for it.
func automatic(h http.Header) bool {
	for _, name := range []string{"Purpose", "Sec-Purpose", "X-Moz"} {
		if strings.Contains(strings.ToLower(h.Get(name)), "prefetch") || strings.Contains(strings.ToLower(h.Get(name)), "preview") {
			return true
		}
	}
	agent := strings.ToLower(h.Get("User-Agent"))
	for _, name := range fetchers {
		if strings.Contains(agent, name) {
			return true
		}
	}
	return false
}

//go:embed page.html
var pageHTML string

//nolint:gochecknoglobals // read only
var page = template.Must(template.New("link").Parse(pageHTML))

// text holds the page's texts in one language.
type text struct{ Code, Title, Text string }

// texts returns the texts of a page: the link leads nowhere, or cannot be looked up now.
func texts(status int) []text {
	if status == http.StatusNotFound {
		return []text{
			{
				"en", "This link doesn't work anymore",
				"It may have expired, or its address is incomplete. Ask the sender of the message for a new one.",
			},
			{
				"es", "Este enlace ya no funciona",
				"Puede haber caducado, o su dirección está incompleta. Pida uno nuevo a quien le envió el mensaje.",
			},
			{
				"pt", "Este link não funciona mais",
				"Ele pode ter expirado, ou o endereço está incompleto. Peça um novo a quem enviou a mensagem.",
			},
		}
	}
	return []text{
		{"en", "Please try again", "The link can't be opened at the moment. Try again in a minute."},
		{"es", "Inténtelo de nuevo", "El enlace no se puede abrir en este momento. Inténtelo de nuevo en un minuto."},
		{"pt", "Tente novamente", "O link não pode ser aberto no momento. Tente novamente em um minuto."},
	}
}

// show responds with a page instead of a redirect.
func show(w http.ResponseWriter, r *http.Request, status int) error {
	all := texts(status)
	tags := make([]language.Tag, len(all))
	for i, t := range all {
		tags[i] = language.Make(t.Code)
	}
	_, i := language.MatchStrings(language.NewMatcher(tags), r.Header.Get("Accept-Language"))
	nonce := rand.Text()
	var b bytes.Buffer
	if err := page.Execute(&b, struct {
		text
		Nonce string
	}{all[i], nonce}); err != nil {
		return err
	}
	h := w.Header()
	private(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+nonce+"'; base-uri 'none'; form-action 'none'; "+
		"frame-ancestors 'none'")
	h.Set("Vary", "Accept-Language")
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "60")
	}
	w.WriteHeader(status)
	_, err := w.Write(b.Bytes())
	return err
}
