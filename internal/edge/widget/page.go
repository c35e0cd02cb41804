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

// embedAge is the number of seconds that browsers may cache an embed script, whose name never changes.
const embedAge = 600

// Pages returns the routes of the resources loaded by an iframe and by a customer's page. Without a widget's id, the
// address of the widgets' pages is that of the installation, which root serves.
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
		{Pattern: "GET " + logoPath + "{id}/{digest}", Access: "none", Handle: p.logo},
		{Pattern: "GET /embed/{file}", Access: "none", Handle: func(w http.ResponseWriter, r *http.Request) error {
			return d.Pages.Serve(w, r, web.Embed, r.PathValue("file"), embedAge)
		}},
	}
}

type pages struct {
	host  *host
	files *web.Files
}

// chat serves the chat page of a widget to the sites that may embed it. The page contains no data of the widget: the
// embedding page provides the configuration, and the session check authorizes the visitor.
func (d pages) chat(w http.ResponseWriter, r *http.Request) error {
	f, page, err := d.open(w, r, "chat", r.URL.Query().Get("cw_id"))
	if f == nil || err != nil {
		return err
	}
	base, _ := d.host.addresses()
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob: "+
		originOf(base)+
		"; connect-src 'self' "+originOf(base)+"; base-uri 'none'; form-action 'none'"+d.host.frameAncestors(f.Widget))
	_, err = w.Write(page) //nolint:gosec // one of our files
	return err
}

// voice serves the page of a voice widget to the sites that may embed it. Like the chat page, it contains no data of
// the widget.
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
	_, err = w.Write(page) //nolint:gosec // one of our files
	return err
}

// open returns the widget of a kind and its page. If f is nil, it has already responded that there is none.
func (d pages) open(w http.ResponseWriter, r *http.Request, kind, id string) (f *companyWidget, page []byte, err error) {
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
	if page, err = d.files.Page(kind); err != nil { // the app has the name of the kind
		return nil, nil, d.notice(
			w, http.StatusServiceUnavailable, "The pages of this installation are not built. Build them with `make`, which needs Node.",
		)
	}
	return f, page, nil
}

// embeddable allows embedding the page in cross-origin isolated pages (any Cross-Origin-Embedder-Policy), which accept
// only frames with the same policy. frame-ancestors decides which sites may embed it.
func embeddable(h http.Header) {
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// notice responds with a page of one sentence.
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
