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

//go:embed try.html
var tryHTML string

//nolint:gochecknoglobals // read only
var tryPage = template.Must(template.New("try").Parse(tryHTML))

// TryRoute returns the route of a page that contains only the widget named in its query, so that a company can try a
// widget before embedding it.
func TryRoute(d Deps) httpio.Route {
	return httpio.Route{Pattern: "GET /try", Access: "none", Handle: func(w http.ResponseWriter, r *http.Request) error {
		_, pages := d.Addresses()
		return try(w, r, pages)
	}}
}

// tryText holds the page's texts in one language.
type tryText struct{ Code, Title, Text string }

func tryTexts() []tryText {
	return []tryText{
		{
			"en", "Your widget on an empty page",
			"The widget's button is in the corner. Messages here create a real conversation.",
		},
		{
			"es", "Su widget en una página vacía",
			"El botón del widget está en la esquina. Los mensajes crean una conversación real.",
		},
		{
			"pt", "Seu widget em uma página vazia",
			"O botão do widget está no canto. As mensagens criam uma conversa real.",
		},
	}
}

func try(w http.ResponseWriter, r *http.Request, pages string) error {
	texts := tryTexts()
	tags := make([]language.Tag, len(texts))
	for i, t := range texts {
		tags[i] = language.Make(t.Code)
	}
	_, i := language.MatchStrings(language.NewMatcher(tags), r.Header.Get("Accept-Language"))
	nonce := rand.Text()
	var b bytes.Buffer
	if err := tryPage.Execute(&b, struct {
		tryText
		Nonce, Pages string
	}{texts[i], nonce, pages}); err != nil {
		return fmt.Errorf("write the page to try a widget on: %w", err)
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

// customerPolicy returns the CSP that docs/reference/widgets.md recommends to customers, extended for the page's own
// scripts and styles.
func customerPolicy(nonce, origin string) string {
	return "default-src 'none'; style-src 'nonce-" + nonce + "'; script-src 'nonce-" + nonce + "' " + origin + "; connect-src " + origin +
		"; frame-src " + origin + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
