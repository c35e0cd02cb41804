package notify

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/base/provider"
)

// Filled is a template with the values that one recipient of a notification gets.
type Filled struct {
	Components []carillon.Component `json:"components"`
	Values     map[string]string    `json:"values"`  // header_text_0 or header_image, body_text_N, button_url_N
	Changed    bool                 `json:"changed"` // the template has changed so that the request does not fit it any more
}

// Filled returns what recipient i of a notification gets, by the template as it is now. Errors: not_found, also where the template
// was deleted or the request is not kept.
func (x Sent) Filled(ctx context.Context, companyID, id string, i int) (*Filled, error) {
	n, err := x.load(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	if n.Channel == carillon.Voice || i < 0 || i >= n.Total {
		return nil, carillon.Absent("Message")
	}
	all, err := x.N.store.Templates.Templates(ctx, n.SenderUID)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(t *carillon.Template) bool { return t.ID == n.TemplateID })
	if at < 0 {
		return nil, carillon.Absent("Template")
	}
	f := &Filled{Components: all[at].Components, Values: map[string]string{}}
	if n.Body == "" {
		return f, nil
	}
	r, err := requestOf(n)
	if err != nil {
		return f, nil //nolint:nilerr // an older version took what this one does not: the template is shown without values
	}
	c, err := r.Content(all[at], i)
	if err != nil {
		f.Changed = true
		return f, nil //nolint:nilerr // that is what the error says
	}
	f.Values = valuesOf(all[at], &c)
	return f, nil
}

// valuesOf are the values of a content by the keys of a request.
func valuesOf(t *carillon.Template, c *provider.Content) map[string]string {
	values := map[string]string{}
	if c.HeaderText != "" {
		values["header_text_0"] = c.HeaderText
	}
	if c.MediaURL != "" && t.Shape != nil {
		values["header_"+strings.ToLower(t.Shape.HeaderFormat)] = c.MediaURL
	}
	for i, text := range c.Body {
		values["body_text_"+strconv.Itoa(i)] = text
	}
	for _, b := range c.Buttons {
		if b.Kind == "url" {
			values["button_url_"+strconv.Itoa(b.Index)] = b.Value
		}
	}
	return values
}
