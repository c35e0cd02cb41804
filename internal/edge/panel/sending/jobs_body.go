package sending

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/bulk"
)

// change is a route that changes a job without a body.
func (x Jobs) change(do func(ctx context.Context, companyID, id string) (*bulk.View, error)) member.Handler {
	return member.ID("Job", func(r *http.Request, by member.Member, id string) (any, error) {
		v, err := do(r.Context(), by.CompanyID, id)
		return x.page(r, v, err)
	})
}

// readEdit reads a change of a job's settings.
func readEdit(r *http.Request) (e bulk.Edit, err error) {
	o, err := form.Object(r, "version", "number", "fields", "values", "template", "language", "sender", "campaign", "type", "event", "datetime_sending", "timezone")
	if err != nil {
		return e, err
	}
	if e.Version, err = whole(o.Find("version"), "version"); err != nil {
		return e, err
	}
	for _, f := range []struct {
		field string
		to    **string
		most  int
	}{
		{"template", &e.Template, form.MaxTemplateName},
		{"language", &e.Language, form.MaxName},
		{"sender", &e.Sender, form.MaxName},
		{"campaign", &e.Campaign, form.MaxCampaign},
		{"type", &e.Type, form.MaxName},
		{"event", &e.Event, form.MaxCampaign},
		{"datetime_sending", &e.At, form.MaxName},
		{"timezone", &e.Timezone, form.MaxName},
	} {
		if *f.to, err = form.Optional(o, f.field, func() (string, error) { return form.Text(o, f.field, f.most) }); err != nil {
			return e, err
		}
	}
	if e.Type != nil && *e.Type != "" {
		if _, ok := carillon.ParseClass(*e.Type); !ok {
			return e, carillon.InvalidValue("type", "One of transactional, utility, marketing", *e.Type)
		}
	}
	if o.Find("number").Present() {
		n, err := column(o.Find("number"), "number")
		if err != nil {
			return e, err
		}
		e.Number = &n
	}
	if e.Fields, err = readColumns(o); err != nil {
		return e, err
	}
	e.Values, err = readValues(o)
	return e, err
}

// readColumns reads which columns are fields of contacts; nil: it is not given.
func readColumns(o *jsonbody.Object) (map[string]int, error) {
	fields, given, err := o.Find("fields").Object("fields")
	if err != nil || !given {
		return nil, err
	}
	all := map[string]int{}
	for _, name := range fields.Keys() {
		if all[name], err = column(fields.Find(name), "fields."+carillon.Shorten(name)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readValues reads where the values of variables come from; nil: it is not given.
func readValues(o *jsonbody.Object) (map[string]bulk.Value, error) {
	values, given, err := o.Find("values").Object("values")
	if err != nil || !given {
		return nil, err
	}
	if len(values.Keys()) > form.MaxVariables {
		return nil, carillon.Invalid("values", "Too many")
	}
	all := map[string]bulk.Value{}
	for _, key := range values.Keys() {
		field := "values." + carillon.Shorten(key)
		one, given, err := values.Find(key).Object(field)
		if err == nil && !given {
			err = carillon.Missing(field)
		}
		if err != nil {
			return nil, err
		}
		var v bulk.Value
		if one.Find("column").Present() {
			n, err := column(one.Find("column"), field)
			if err != nil {
				return nil, err
			}
			v.Column = &n
		} else if v.Text, _, err = one.String(field, "text"); err != nil {
			return nil, err
		}
		if len(v.Text) > 4*form.MaxWritten {
			return nil, carillon.Invalid(field, "Too long")
		}
		all[key] = v
	}
	return all, nil
}

// column reads the number of a column, or -1.
func column(v jsonbody.Value, field string) (int, error) {
	if string(v.Raw()) == "-1" {
		return -1, nil
	}
	return whole(v, field)
}

// whole reads a number that counts something.
func whole(v jsonbody.Value, field string) (int, error) {
	if !v.Present() {
		return 0, carillon.Missing(field)
	}
	text := string(v.Raw())
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || strings.HasPrefix(text, "+") {
		return 0, carillon.BadFormat(field, carillon.Shorten(text), "Whole number", 1)
	}
	return n, nil
}
