package content

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
)

func catalogue() []*carillon.Template {
	list := []*carillon.Template{}
	for _, c := range []struct {
		name, language string
		status         carillon.TemplateStatus
	}{
		{"order_update", "es_ES", carillon.TemplateApproved},
		{"order_update", "en", carillon.TemplateApproved},
		{"order_update", "pt_PT", carillon.TemplateApproved},
		{"order_update", "pt_BR", carillon.TemplateApproved},
		{"order_update", "de_DE", carillon.TemplatePending},
		{"order_update", "fr_FR", carillon.TemplateApproved},
		{"order_update", "fr_CA", carillon.TemplatePaused},
		{"order_update", "it", carillon.TemplateRejected},
		{"order_update", "it_IT", carillon.TemplateApproved},
		{"welcome", "es", carillon.TemplateApproved},
		{"secret", "es", carillon.TemplateDraft},
	} {
		list = append(list, &carillon.Template{Name: c.name, Language: c.language, Status: c.status})
	}
	return list
}

func TestFindTemplate(t *testing.T) {
	for _, c := range []struct{ name, language, found string }{
		{"order_update", "es_ES", "es_ES"},
		{"order_update", "en", "en"},
		{"order_update", "es", "es_ES"},
		{"order_update", "fr", "fr_FR"},
	} {
		got, err := FindTemplate(catalogue(), c.name, c.language)
		if err != nil || got.Language != c.found {
			t.Errorf("%s %s: %v, %v", c.name, c.language, got, err)
		}
	}
}

func TestFindTemplateRefuses(t *testing.T) {
	all := "Did you mean order_update (en, es_ES, fr_FR, it_IT, pt_BR, pt_PT)?"
	for _, c := range []struct {
		name, language string
		code           carillon.Code
		details        carillon.Details
	}{
		{
			"order_update", "pt", carillon.TemplateNotFound, carillon.Details{
				{Key: "template_name", Value: "order_update"}, {Key: "language", Value: "pt"}, {Key: "suggestion", Value: all},
			},
		},
		{
			"order_update", "de", carillon.TemplateNotFound, carillon.Details{
				{Key: "template_name", Value: "order_update"}, {Key: "language", Value: "de"}, {Key: "suggestion", Value: all},
			},
		},
		{
			"order_update", "es_MX", carillon.TemplateNotFound, carillon.Details{
				{Key: "template_name", Value: "order_update"}, {Key: "language", Value: "es_MX"}, {Key: "suggestion", Value: all},
			},
		},
		{
			"order_updat", "e", carillon.TemplateNotFound, carillon.Details{
				{Key: "template_name", Value: "order_updat"}, {Key: "language", Value: "e"}, {Key: "suggestion", Value: all},
			},
		},
		{
			"wellcome", "<script>", carillon.TemplateNotFound, carillon.Details{
				{Key: "template_name", Value: "wellcome"},
				{Key: "language", Value: "<script>"},
				{Key: "suggestion", Value: "Did you mean welcome (es)?"},
			},
		},
		{
			"WELCOME", "es", carillon.TemplateNotFound, carillon.Details{
				{Key: "template_name", Value: "WELCOME"},
				{Key: "language", Value: "es"},
				{Key: "suggestion", Value: "Did you mean welcome (es)?"},
			},
		},
		{
			"order_update", "it", carillon.TemplateNotApproved, carillon.Details{
				{Key: "template_name", Value: "order_update"},
				{Key: "current_status", Value: "rejected"},
				{Key: "required_status", Value: "approved"},
			},
		},
		{
			"secret", "es", carillon.TemplateNotApproved, carillon.Details{
				{Key: "template_name", Value: "secret"},
				{Key: "current_status", Value: "draft"},
				{Key: "required_status", Value: "approved"},
			},
		},
	} {
		_, err := FindTemplate(catalogue(), c.name, c.language)
		e := asError(t, err)
		if d := cmp.Diff(c.details, e.Details); d != "" || e.Code != c.code {
			t.Errorf("%s %s: %v %s", c.name, c.language, e.Code, d)
		}
	}
	_, err := FindTemplate(nil, "x", "es")
	if s := asError(t, err).Details.Find("suggestion"); s != "This sender has no approved templates" {
		t.Errorf("got %v", s)
	}
}
