package widget

import (
	"fmt"
	"html"
	"net/http"
	"strings"

	"carillon"
	"carillon/internal/httpio"
	"carillon/web"
)

// embedAge is how many seconds a page may keep an embed script, whose name stays.
const embedAge = 600

// Pages returns the routes of what an iframe and a customer's page load. Without a widget's id the address of the widgets'
// pages is the installation's, which root shows.
func Pages(d Deps, root httpio.Handler) []httpio.Route {
	p := pages{d}
	return []httpio.Route{
		{Pattern: "GET /{$}", Access: "none", Handle: func(w http.ResponseWriter, r *http.Request) error {
			if !r.URL.Query().Has("cw_id") {
				return root(w, r)
			}
			return p.chat(w, r)
		}},
		{Pattern: "GET /chat-assets/{file...}", Access: "none", Handle: func(w http.ResponseWriter, r *http.Request) error {
			return d.Pages.Serve(w, r, web.Chat, "chat-assets/"+r.PathValue("file"), web.Forever)
		}},
		{Pattern: "GET /embed/{file}", Access: "none", Handle: func(w http.ResponseWriter, r *http.Request) error {
			return d.Pages.Serve(w, r, web.Embed, r.PathValue("file"), embedAge)
		}},
	}
}

type pages struct{ Deps }

// chat serves the chat page of a widget to the sites that may show it. It holds nothing of the widget: whoever embeds it says
// what it shows, and the session checks who may talk.
func (d pages) chat(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	id := strings.ToLower(r.URL.Query().Get("cw_id"))
	var f *found
	if carillon.ValidUUID(id) {
		var err error
		if f, err = d.find(r.Context(), "chat", id); err != nil {
			return err
		}
	}
	if f == nil {
		return d.notice(w, http.StatusNotFound, "There is no chat widget with this id.")
	}
	page, err := d.Pages.Page(web.Chat)
	if err != nil {
		return d.notice(w, http.StatusServiceUnavailable, "The pages of this installation are not built. Build them with `make`, which needs Node.")
	}
	base, _ := d.Addresses()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob: "+originOf(base)+
		"; connect-src 'self' "+originOf(base)+"; base-uri 'none'; form-action 'none'"+d.frameAncestors(f.Widget))
	_, err = w.Write(page)
	return err
}

// notice is a page of one sentence.
func (d pages) notice(w http.ResponseWriter, status int, text string) error {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'")
	w.WriteHeader(status)
	_, err := fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Chat</title></head><body><p>%s</p></body></html>\n", html.EscapeString(text))
	return err
}
