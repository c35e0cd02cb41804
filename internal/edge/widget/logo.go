package widget

import (
	"net/http"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/base/logo"
)

// logoPath is the path of logos, by the widget's id and the logo's digest.
const logoPath = "/widget-logo/"

// logoOf returns the address of a widget's logo, or "".
func (h *host) logoOf(w *Widget) string {
	if w.Appearance.Logo == "" {
		return ""
	}
	_, pages := h.addresses()
	return pages + logoPath + w.ID + "/" + w.Appearance.Logo
}

// logo serves a logo of the widget's company, also one that no stored widget has yet, for the preview in the panel.
func (d pages) logo(w http.ResponseWriter, r *http.Request) error {
	id, digest := strings.ToLower(r.PathValue("id")), r.PathValue("digest")
	if !carillon.ValidUUID(id) || !logo.ValidDigest(digest) {
		return carillon.Absent("Logo")
	}
	f, err := d.host.find(r.Context(), "", id)
	if err != nil {
		return err
	}
	if f == nil {
		return carillon.Absent("Logo")
	}
	content, err := d.host.widgets.Logo(r.Context(), f.company.ID, digest)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "image/png")
	h.Set("Content-Length", strconv.Itoa(len(content)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, err = w.Write(content)
	return err
}
