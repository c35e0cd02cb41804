package widget

import (
	"bytes"
	"cmp"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/edge/httpio"
)

//go:embed wrapper.html
var wrapperHTML string

//nolint:gochecknoglobals // read only
var wrapperPage = template.Must(template.New("wrapper").Parse(wrapperHTML))

// wrapper serves the page that embeds the chat, and the chat's configuration.
type wrapper struct {
	host *host
	log  *slog.Logger
}

func (d wrapper) routes() []httpio.Route {
	const access = "customer" // the access key is in customer_id
	return []httpio.Route{
		{Pattern: "GET " + prefix + "/widgetWebView", Access: access, Handle: d.plain(func(r *http.Request) (string, string) {
			q := r.URL.Query()
			return q.Get("customer_id"), q.Get("widget_id")
		})},
		{
			Pattern: "GET " + prefix + "/widgetWebView/{customer_id}/{widget_id}", Access: access,
			Handle: d.plain(func(r *http.Request) (string, string) {
				return r.PathValue("customer_id"), r.PathValue("widget_id")
			}),
		},
		// A missing path segment is treated like a missing parameter.
		{Pattern: "GET " + prefix + "/widgetWebView/{customer_id}", Access: access, Handle: d.plain(func(r *http.Request) (string, string) {
			return r.PathValue("customer_id"), ""
		})},
		{
			Pattern: "GET " + prefix + "/widget", Access: "key:" + string(auth.WidgetUse), CORS: httpio.CORS{AnyOrigin: true},
			Handle: httpio.Value(d.configuration),
		},
	}
}

// plain serves the wrapper page. Errors are one line of text.
func (d wrapper) plain(parameters func(r *http.Request) (key, id string)) httpio.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		embeddable(w.Header())
		key, id := parameters(r)
		err := d.page(w, r, key, id)
		var refused *plainError
		if !errors.As(err, &refused) {
			var e *carillon.Error
			if err == nil || errors.As(err, &e) && (e.Code == carillon.RateLimitExceeded || e.Code == carillon.ServiceUnavailable) {
				return err
			}
			httpio.Logger(r.Context(), d.log).ErrorContext(r.Context(), "serve the chat's wrapper page", "error", err)
			refused = &plainError{http.StatusInternalServerError, "The chat cannot be shown because of an unexpected error"}
		}
		h := w.Header()
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		w.WriteHeader(refused.status)
		_, err = fmt.Fprintln(w, refused.text)
		return err
	}
}

// plainError is an error of the wrapper page.
type plainError struct {
	status int
	text   string
}

func (e *plainError) Error() string { return e.text }

func (d wrapper) page(w http.ResponseWriter, r *http.Request, key, id string) error {
	switch {
	case strings.TrimSpace(key) == "":
		return &plainError{http.StatusBadRequest, "customer_id is missing: the company's access key"}
	case strings.TrimSpace(id) == "":
		return &plainError{http.StatusBadRequest, "widget_id is missing: the id of the chat widget"}
	case !carillon.ValidUUID(id):
		return &plainError{http.StatusBadRequest, "widget_id must be a UUID"}
	}
	p, err := d.host.auth.Principal(r.Context(), auth.PresentedKey{Key: key, Present: true}, "")
	switch {
	case carillon.IsCode(err, carillon.Unauthorized):
		return &plainError{http.StatusForbidden, "customer_id is not an active access key"}
	case err != nil:
		return err
	}
	httpio.SetCompany(r.Context(), p.Company.ID)
	switch refused := p.Company.Refusal(); {
	case carillon.IsCode(refused, carillon.ServiceUnavailable):
		return &plainError{http.StatusServiceUnavailable, "The company is being moved: try again in a moment"}
	case p.Company.Gone():
		return &plainError{http.StatusForbidden, "The company was moved to another installation"}
	case refused != nil:
		return &plainError{http.StatusForbidden, "The company is suspended"}
	case !p.Allows(auth.WidgetUse):
		return &plainError{http.StatusForbidden, "The access key lacks the scope " + string(auth.WidgetUse)}
	}
	if _, err := d.host.limits.Allow(r.Context(), "widget/"+p.Company.ID+"/"+
		d.host.address(r), p.Company.Limits.WidgetCallsPerMinute, 1); err != nil {
		return err
	}
	f, err := d.host.find(r.Context(), "chat", strings.ToLower(id))
	if err != nil {
		return err
	}
	if f == nil || f.company.ID != p.Company.ID {
		return &plainError{http.StatusNotFound, "The company has no chat widget with this id"}
	}
	q := r.URL.Query()
	data, err := d.host.data(r.Context(), f, q.Get("lang"), q.Get("showClose") != "false")
	if err != nil {
		return err
	}
	d.host.saw(r.Context(), f, originOf(r.Referer()))
	return d.write(w, f, data)
}

func (d wrapper) write(w http.ResponseWriter, f *companyWidget, data *Data) error {
	_, pages := d.host.addresses()
	nonce := rand.Text()
	text, err := json.Marshal(data) // <, > and & are escaped, so the text cannot end a script
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := wrapperPage.Execute(&b, map[string]any{
		"Lang": data.Language, "Title": titleOf(data), "Nonce": nonce, "Source": pages + "/?cw_id=" + url.QueryEscape(data.ID),
		"Origin": originOf(pages), "Data": template.JS(text), "Widget": data.ID, //nolint:gosec // JSON
	}); err != nil {
		return fmt.Errorf("write the wrapper page: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+nonce+"'; style-src 'nonce-"+nonce+"'; frame-src "+
		originOf(pages)+
		"; base-uri 'none'; form-action 'none'"+d.host.frameAncestors(f.Widget))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	_, err = w.Write(b.Bytes())
	return err
}

func titleOf(data *Data) string {
	if data.Appearance.Title != "" {
		return data.Appearance.Title
	}
	return data.CompanyName
}

// configuration returns the chat's configuration as JSON, for the embed script.
func (d wrapper) configuration(r *http.Request) (any, error) {
	f, _, err := d.host.keyed(r, "chat", "widget_id")
	if err != nil {
		return nil, err
	}
	x, err := d.host.data(r.Context(), f, r.URL.Query().Get("lang"), true)
	if err != nil {
		return nil, err
	}
	if r.URL.Query().Has("launcher") {
		x.Launcher = f.launcher(x.Language, cmp.Or(f.Appearance.Title, "Chat"))
	}
	d.host.saw(r.Context(), f, r.Header.Get("Origin"))
	return x, nil
}
