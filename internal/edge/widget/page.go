package widget

import (
	"fmt"
	"html"
	"net/http"
	"strings"

	"carillon"
	"carillon/internal/edge/httpio"
	"carillon/web"
)

// embedAge is how many seconds a page may keep an embed script, whose name stays.
const embedAge = 600

// Pages returns the routes of what an iframe and a customer's page load. Without a widget's id the address of the widgets'
// pages is the installation's, which root shows.
func Pages(d Deps, root httpio.Handler) []httpio.Route {
	p := pages{d.host(), d.Pages}
	return []httpio.Route{
		{Pattern: "GET /{$}", Access: "none", Handle: func(w http.ResponseWriter, r *http.Request) error {
			switch q := r.URL.Query(); {
			case q.Has("cw_id"):
				return p.chat(w, r)
			case q.Has("vw_id"):
				return p.voice(w, r)
			}
			return root(w, r)
		}},
		{Pattern: "GET /chat-assets/{file...}", Access: "none", Handle: func(w http.ResponseWriter, r *http.Request) error {
			return d.Pages.Serve(w, r, web.Chat, "chat-assets/"+r.PathValue("file"), web.Forever)
		}},
		{Pattern: "GET /voice-assets/{file...}", Access: "none", Handle: func(w http.ResponseWriter, r *http.Request) error {
			return d.Pages.Serve(w, r, web.Voice, "voice-assets/"+r.PathValue("file"), web.Forever)
		}},
		{Pattern: "GET /embed/{file}", Access: "none", Handle: func(w http.ResponseWriter, r *http.Request) error {
			return d.Pages.Serve(w, r, web.Embed, r.PathValue("file"), embedAge)
		}},
	}
}

type pages struct {
	host  *host
	files *web.Files
}

// chat serves the chat page of a widget to the sites that may show it. It holds nothing of the widget: whoever embeds it says
// what it shows, and the session checks who may talk.
func (d pages) chat(w http.ResponseWriter, r *http.Request) error {
	f, page, err := d.open(w, r, "chat", r.URL.Query().Get("cw_id"))
	if f == nil || err != nil {
		return err
	}
	base, _ := d.host.addresses()
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob: "+
		originOf(base)+
		"; connect-src 'self' "+originOf(base)+"; base-uri 'none'; form-action 'none'"+d.host.frameAncestors(f.Widget))
	_, err = w.Write(page) //nolint:gosec // a file of ours
	return err
}

// voice serves the page of a voice widget to the sites that may show it. Like the chat's it holds nothing of the widget.
func (d pages) voice(w http.ResponseWriter, r *http.Request) error {
	f, page, err := d.open(w, r, "voice", r.URL.Query().Get("vw_id"))
	if f == nil || err != nil {
		return err
	}
	a, err := d.host.agentOf(r.Context(), f)
	if err != nil {
		return err
	}
	base, _ := d.host.addresses()
	h, origin := w.Header(), originOf(base)
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' "+
		"data:; media-src 'self' blob:"+
		"; connect-src 'self' "+origin+" "+socketOf(origin)+socketsOf(a)+"; base-uri 'none'; form-action 'none'"+
		d.host.frameAncestors(f.Widget))
	h.Set("Permissions-Policy", "microphone=(self)")
	_, err = w.Write(page) //nolint:gosec // a file of ours
	return err
}

// open is the widget of a kind and the page that shows it; nil: it has responded that there is none.
func (d pages) open(w http.ResponseWriter, r *http.Request, kind, id string) (f *found, page []byte, err error) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	embeddable(h)
	if id = strings.ToLower(id); carillon.ValidUUID(id) {
		if f, err = d.host.find(r.Context(), kind, id); err != nil {
			return nil, nil, err
		}
	}
	if f == nil {
		return nil, nil, d.notice(w, http.StatusNotFound, "There is no "+kind+" widget with this id.")
	}
	if page, err = d.files.Page(kind); err != nil { // the app of a kind has its name
		return nil, nil, d.notice(
			w, http.StatusServiceUnavailable, "The pages of this installation are not built. Build them with `make`, which needs Node.",
		)
	}
	return f, page, nil
}

// embeddable has browsers show a page within pages that isolate themselves (Cross-Origin-Embedder-Policy of any value), which take only
// frames that do so too. Whose frames may show it, frame-ancestors says.
func embeddable(h http.Header) {
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// notice is a page of one sentence.
func (d pages) notice(w http.ResponseWriter, status int, text string) error {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'")
	w.WriteHeader(status)
	_, err := fmt.Fprintf(
		w,
		"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Widget</title></head><body><p>%s</p></body></html>\n",
		html.EscapeString(text),
	)
	return err
}
