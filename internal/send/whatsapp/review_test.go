package whatsapp

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

func TestReviewBodiesAreTheGoldenOnes(t *testing.T) {
	for name, file := range map[string]string{"order_update": "positional", "visit_named": "named", "visit_reminder": "image"} {
		t.Run(file, func(t *testing.T) {
			var got string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				got = r.Method + " " + r.URL.Path + " " + string(b)
				_, _ = io.WriteString(w, `{"id":"900000001","status":"PENDING","category":"UTILITY"}`)
			}))
			t.Cleanup(s.Close)
			tpl := kindOf(t, name).template
			id, status, err := client(t, Options{}).Submit(t.Context(), senderAt(s.URL), &tpl)
			if id != "900000001" || status != carillon.TemplatePending || err != nil {
				t.Fatal(id, status, err)
			}
			if diff := cmp.Diff("POST /v23.0/2000001/message_templates "+golden(t, "templates/"+file), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReviewBodiesOfNewerKindsAreTheGoldenOnes(t *testing.T) {
	for _, k := range newerKinds() {
		t.Run(k.golden, func(t *testing.T) {
			var got string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				got = string(b)
				_, _ = io.WriteString(w, `{"id":"900000001","status":"PENDING","category":"UTILITY"}`)
			}))
			t.Cleanup(s.Close)
			if _, _, err := client(t, Options{}).Submit(t.Context(), senderAt(s.URL), &k.template); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(golden(t, "templates/"+k.golden), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func kindOf(t *testing.T, name string) kind {
	t.Helper()
	for _, k := range kinds() {
		if k.template.Name == name {
			return k
		}
	}
	t.Fatalf("no template %s", name)
	return kind{}
}

func TestTemplatesOfAllKindsGoThroughReview(t *testing.T) {
	s, sender := graph(t, graphtest.Options{})
	c := client(t, Options{})
	for _, k := range kinds() {
		tpl := k.template
		id, status, err := c.Submit(t.Context(), sender, &tpl)
		if err != nil || status != carillon.TemplatePending || id != s.TemplateID(tpl.Name, tpl.Language) {
			t.Fatal(tpl.Name, id, status, err)
		}
		tpl.ProviderID = id
		if _, _, err = c.Submit(t.Context(), sender, &tpl); !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("%s: a template under review was submitted again: %v", tpl.Name, err)
		}
		s.SetTemplate(tpl.Name, tpl.Language, "APPROVED", "NONE")
		e, err := c.Status(t.Context(), sender, &tpl)
		want := provider.TemplateEvent{
			SenderUID: 7, ProviderID: id, Name: tpl.Name, Language: tpl.Language, Status: carillon.TemplateApproved,
		}
		if diff := cmp.Diff(want, e); err != nil || diff != "" {
			t.Error(err, diff)
		}
		m := k.message(0)
		if out := c.Send(t.Context(), sender, m); out.Verdict != provider.Sent {
			t.Errorf("%s: %+v", tpl.Name, out)
		}
		if id, status, err = c.Submit(t.Context(), sender, &tpl); err != nil || id != tpl.ProviderID || status != carillon.TemplatePending {
			t.Errorf("edit of %s: %s %s %v", tpl.Name, id, status, err)
		}
		if err := c.Withdraw(t.Context(), sender, &tpl); err != nil {
			t.Error(err)
		}
		if err := c.Withdraw(t.Context(), sender, &tpl); err != nil {
			t.Errorf("a second withdrawal: %v", err)
		}
		if _, err := c.Status(t.Context(), sender, &tpl); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("status of a withdrawn template: %v", err)
		}
	}
}

func TestARejectedTemplateIsEditedWithItsCategory(t *testing.T) {
	s, sender := graph(t, graphtest.Options{AutoApprove: true})
	c := client(t, Options{})
	tpl := kindOf(t, "order_update").template
	id, status, err := c.Submit(t.Context(), sender, &tpl)
	if err != nil || status != carillon.TemplateApproved {
		t.Fatal(status, err)
	}
	tpl.ProviderID = id
	s.SetTemplate(tpl.Name, tpl.Language, "REJECTED", "INCORRECT_CATEGORY")
	e, err := c.Status(t.Context(), sender, &tpl)
	if err != nil || e.Status != carillon.TemplateRejected || e.Reason != "INCORRECT_CATEGORY" {
		t.Fatal(e, err)
	}
	tpl.Category = "MARKETING"
	if e, err = c.Status(t.Context(), sender, &tpl); err != nil || e.Category != "UTILITY" {
		t.Errorf("the channel's category is not told: %+v %v", e, err)
	}
	if _, _, err = c.Submit(t.Context(), sender, &tpl); err != nil {
		t.Fatal(err)
	}
	if e, err = c.Status(t.Context(), sender, &tpl); err != nil || e.Category != "" || e.Status != carillon.TemplateApproved {
		t.Errorf("after the edit: %+v %v", e, err)
	}
}

func TestACreationWithoutAnswerIsAdopted(t *testing.T) {
	s, sender := graph(t, graphtest.Options{})
	c := client(t, Options{})
	tpl := kindOf(t, "visit_named").template
	first, _, err := c.Submit(t.Context(), sender, &tpl)
	if err != nil {
		t.Fatal(err)
	}
	again, status, err := c.Submit(t.Context(), sender, &tpl) // the id in the first response was lost
	if err != nil || again != first || status != carillon.TemplatePending {
		t.Errorf("%s %s %v, want %s", again, status, err, first)
	}
	other := tpl
	other.Components = append([]carillon.Component(nil), tpl.Components...)
	other.Components[2].Text = "Otra clinica"
	_, _, err = c.Submit(t.Context(), sender, &other)
	var ce *carillon.Error
	if !errors.As(err, &ce) || ce.Code != carillon.Conflict ||
		ce.Details.Find("reason") != "There is already content in this language for this template." {
		t.Errorf("another template of the name: %v", err)
	}
	e, err := c.Status(t.Context(), sender, &tpl)
	if err != nil || e.ProviderID != first {
		t.Errorf("status by name: %+v %v", e, err)
	}
	if err := c.Withdraw(t.Context(), sender, &tpl); err != nil || s.TemplateID(tpl.Name, tpl.Language) != "" {
		t.Errorf("withdrawal by name: %v", err)
	}
}

func TestWithdrawLeavesOtherLanguages(t *testing.T) {
	s, sender := graph(t, graphtest.Options{})
	c := client(t, Options{})
	es := kindOf(t, "notice").template
	en := es
	en.Language = "en"
	for _, tpl := range []*carillon.Template{&es, &en} {
		if _, _, err := c.Submit(t.Context(), sender, tpl); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Withdraw(t.Context(), sender, &es); err != nil {
		t.Fatal(err)
	}
	if s.TemplateID("notice", "en") == "" || s.TemplateID("notice", "es") != "" {
		t.Error("the wrong language was withdrawn")
	}
}

func TestFindWalksThePages(t *testing.T) {
	s, sender := graph(t, graphtest.Options{})
	c := client(t, Options{})
	// The channel's name filter also matches longer names, so the wanted template may be on a later page.
	var others []carillon.Template
	for range pageSize {
		others = append(others, template("notice_"+strings.Repeat("x", 1+len(others)), "es", content.Positional,
			carillon.Component{Type: content.TypeBody, Text: "Hola"}))
	}
	for i := range others {
		if _, _, err := c.Submit(t.Context(), sender, &others[i]); err != nil {
			t.Fatal(err)
		}
	}
	tpl := kindOf(t, "notice").template
	if _, err := c.Status(t.Context(), sender, &tpl); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("before it is there: %v", err)
	}
	id, _, err := c.Submit(t.Context(), sender, &tpl)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := c.Status(t.Context(), sender, &tpl); err != nil || e.ProviderID != id || id != s.TemplateID("notice", "es") {
		t.Errorf("%+v %v", e, err)
	}
}

func TestAMediaHeaderNeedsAHandle(t *testing.T) {
	c := client(t, Options{})
	for _, ex := range []*carillon.ComponentExample{
		nil, {}, {HeaderHandle: []string{""}}, {HeaderHandle: []string{"https://cdn.example.org/a.jpg"}},
	} {
		tpl := kindOf(t, "visit_reminder").template
		tpl.Components = append([]carillon.Component(nil), tpl.Components...)
		tpl.Components[0].Example = ex
		_, _, err := c.Submit(t.Context(), senderAt("http://127.0.0.1:1"), &tpl)
		if !carillon.IsCode(err, carillon.ValidationFailed) || !strings.Contains(err.Error(), "components.header.example") {
			t.Errorf("%+v: %v", ex, err)
		}
	}
}

func TestManagementErrorsAreSortedByWhoCanMendThem(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status int
		body   string
		want   carillon.Code
		shows  string
	}{
		{
			"a fault of the author's", 400,
			`{"error":{"code":100,"error_subcode":2388299,"error_user_msg":"A variable must not lead."}}`,
			carillon.ValidationFailed, "A variable must not lead.",
		},
		{
			"the same as a code", 400, `{"error":{"code":2388293,"error_user_title":"Too many variables"}}`,
			carillon.ValidationFailed, "Too many variables",
		},
		{
			"one without words", 400, `{"error":{"code":100}}`, carillon.ValidationFailed,
			"The channel refused the template: invalid parameter",
		},
		{
			"too many templates", 400, `{"error":{"code":100,"error_subcode":2388019,"error_user_msg":"Too many."}}`,
			carillon.Conflict, "Too many.",
		},
		{
			"language being deleted", 400, `{"error":{"code":100,"error_subcode":2388023,"error_user_msg":"Wait."}}`,
			carillon.Conflict, "Wait.",
		},
		{"a bad token", 401, `{"error":{"code":190,"message":"Malformed access token EAAsecret"}}`, carillon.UpstreamUnavailable, ""},
		{"an unknown account", 400, `{"error":{"code":100,"error_subcode":33}}`, carillon.UpstreamUnavailable, ""},
		{"down", 503, `{"error":{"code":2}}`, carillon.UpstreamUnavailable, ""},
		{"a gateway's page", 502, `<html>`, carillon.UpstreamUnavailable, ""},
		{"a gateway's JSON", 504, `{"error":{"code":100}}`, carillon.UpstreamUnavailable, ""},
		{"no error in an error", 500, `{}`, carillon.UpstreamUnavailable, ""},
		{"no id", 200, `{}`, carillon.UpstreamUnavailable, ""},
		{"not JSON", 200, `ok`, carillon.UpstreamUnavailable, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			t.Cleanup(s.Close)
			tpl := kindOf(t, "notice").template
			_, _, err := client(t, Options{}).Submit(t.Context(), senderAt(s.URL), &tpl)
			if !carillon.IsCode(err, tc.want) || strings.Contains(err.Error(), "EAAsecret") {
				t.Fatalf("%v, want %v", err, tc.want)
			}
			var ce *carillon.Error
			if !errors.As(err, &ce) {
				t.Fatal(err)
			}
			if tc.want != carillon.UpstreamUnavailable {
				if got := ce.Details.Find("reason"); got != tc.shows {
					t.Errorf("shows %q, want %q", got, tc.shows)
				}
				return
			}
			at, perr := time.Parse(time.RFC3339, ce.Details.Find("estimated_recovery").(string))
			if ce.Details.Find("service") != "whatsapp" || perr != nil || !at.After(time.Now()) {
				t.Errorf("details %v", ce.Details)
			}
		})
	}
}
