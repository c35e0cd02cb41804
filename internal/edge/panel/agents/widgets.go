package agents

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/logo"
	"carillon/internal/base/resource"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/widgets"
)

// Widgets serves what belongs to widgets besides the resources: the sites that loaded them, and uploads of logos.
type Widgets struct {
	Gate    *member.Gate
	Store   *store.Store
	Kind    resource.Kind // of widgets
	Uploads *share.Share
}

// Routes returns the routes.
func (x Widgets) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/widget-sites", auth.MayReadResources, x.latest),
		member.Route(x.Gate, "GET", "/widgets/{id}/seen", auth.MayReadResources, member.ID("Widget", x.sites)),
		x.Gate.Upload("/widget-logos", auth.MayWriteResources, logo.MaxFile+1<<20, x.upload).Giving(uploadedLogo{}),
	}
}

// widgetSite is a site in a response.
type widgetSite struct {
	Widget string `json:"widget"` // id
	Origin string `json:"origin"` // empty: an app, or a page without an origin
	SeenAt string `json:"seen_at"`
}

func siteRows(all []widgets.Site) httpio.Rows[widgetSite] {
	rows := make([]widgetSite, len(all))
	for i, s := range all {
		rows[i] = widgetSite{s.WidgetID, s.Origin, carillon.FormatTime(s.SeenAt)}
	}
	return httpio.Rows[widgetSite]{Data: rows}
}

// latest returns for each widget the site that loaded it last.
func (x Widgets) latest(r *http.Request, by member.Member) (httpio.Rows[widgetSite], error) {
	all, err := x.Store.Widgets.Latest(r.Context(), by.CompanyID)
	return siteRows(all), err
}

// sites returns the sites that loaded a widget, latest first.
func (x Widgets) sites(r *http.Request, by member.Member, id string) (none httpio.Rows[widgetSite], err error) {
	if _, err := x.Store.Resources.Resource(r.Context(), by.CompanyID, x.Kind, id); err != nil {
		return none, err
	}
	all, err := x.Store.Widgets.Sites(r.Context(), by.CompanyID, id)
	return siteRows(all), err
}

// uploadedLogo is a stored logo.
type uploadedLogo struct {
	Logo string `json:"logo"` // for appearance.logo of a widget
}

// logosPerMinute bounds the uploads of a company.
const logosPerMinute = 20

// upload stores the logo in the part named file of a multipart body. A widget has it once it is saved with its digest.
func (x Widgets) upload(w http.ResponseWriter, r *http.Request, by member.Member) error {
	place, err := x.Uploads.Take(by.Holder())
	if err == nil {
		defer place.Release()
		_, err = x.Gate.Limits.Allow(r.Context(), "logos/"+by.CompanyID, logosPerMinute, 1)
	}
	if err != nil {
		httpio.LeaveBody(r.Context())
		return err
	}
	in, err := httpio.Upload(w, r, "file", logo.MaxFile)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	made, err := logo.Make(content)
	switch {
	case errors.Is(err, logo.ErrSVG):
		return carillon.Invalid("file", "Must be a PNG, JPEG or WebP picture; an SVG can contain scripts")
	case errors.Is(err, logo.ErrSize):
		return carillon.Invalid("file", "Must be a picture of at most 2,048 by 2,048 pixels")
	case errors.Is(err, logo.ErrFormat):
		return carillon.Invalid("file", "Must be a PNG, JPEG or WebP picture")
	case err != nil:
		return err
	}
	used, err := x.used(r.Context(), by.CompanyID)
	if err != nil {
		return err
	}
	digest := logo.Digest(made)
	if err := x.Store.Widgets.PutLogo(r.Context(), by.CompanyID, digest, made, used, time.Now()); err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, uploadedLogo{digest})
}

// used returns the digests of the logos that widgets of a company have.
func (x Widgets) used(ctx context.Context, companyID string) (digests []string, err error) {
	for after := ""; ; {
		part, err := x.Store.Resources.Resources(ctx, companyID, x.Kind, after, batch)
		if err != nil {
			return nil, err
		}
		for _, w := range part {
			if b, ok := w.(interface{ LogoDigest() string }); ok && b.LogoDigest() != "" {
				digests = append(digests, b.LogoDigest())
			}
			after = idOf(w)
		}
		if len(part) < batch {
			return digests, nil
		}
	}
}
