package carillon

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func catalogue() []*Template {
	list := []*Template{}
	for _, c := range []struct {
		name, language string
		status         TemplateStatus
	}{
		{"order_update", "es_ES", TemplateApproved},
		{"order_update", "en", TemplateApproved},
		{"order_update", "pt_PT", TemplateApproved},
		{"order_update", "pt_BR", TemplateApproved},
		{"order_update", "de_DE", TemplatePending},
		{"order_update", "fr_FR", TemplateApproved},
		{"order_update", "fr_CA", TemplatePaused},
		{"order_update", "it", TemplateRejected},
		{"order_update", "it_IT", TemplateApproved},
		{"welcome", "es", TemplateApproved},
		{"secret", "es", TemplateDraft},
	} {
		list = append(list, &Template{Name: c.name, Language: c.language, Status: c.status})
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
		code           Code
		details        Details
	}{
		{"order_update", "pt", TemplateNotFound, Details{{"template_name", "order_update"}, {"language", "pt"}, {"suggestion", all}}},
		{"order_update", "de", TemplateNotFound, Details{{"template_name", "order_update"}, {"language", "de"}, {"suggestion", all}}},
		{"order_update", "es_MX", TemplateNotFound, Details{{"template_name", "order_update"}, {"language", "es_MX"}, {"suggestion", all}}},
		{"order_updat", "e", TemplateNotFound, Details{{"template_name", "order_updat"}, {"language", "e"}, {"suggestion", all}}},
		{"wellcome", "<script>", TemplateNotFound, Details{{"template_name", "wellcome"}, {"language", "<script>"}, {"suggestion", "Did you mean welcome (es)?"}}},
		{"WELCOME", "es", TemplateNotFound, Details{{"template_name", "WELCOME"}, {"language", "es"}, {"suggestion", "Did you mean welcome (es)?"}}},
		{"order_update", "it", TemplateNotApproved, Details{{"template_name", "order_update"}, {"current_status", "rejected"}, {"required_status", "approved"}}},
		{"secret", "es", TemplateNotApproved, Details{{"template_name", "secret"}, {"current_status", "draft"}, {"required_status", "approved"}}},
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

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := EditDistance(c.a, c.b); got != c.want || EditDistance(c.b, c.a) != c.want {
			t.Errorf("%q %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
