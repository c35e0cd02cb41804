package sending_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"mime/multipart"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
)

// template gives a company the sandbox sender `main` with the approved template `hello`, which has one variable.
func template(w *paneltest.World, c *carillon.Company) {
	w.T.Helper()
	owner := w.As("owner@" + c.Name + ".test")
	w.Want(
		"POST", "/panel/v1/senders", owner,
		`{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox","default":true}`, 201, "", "",
	)
	named, err := w.Store.Senders.SendersNamed(w.T.Context(), c.ID, "main")
	if err != nil || len(named) != 1 {
		w.T.Fatal(named, err)
	}
	x := &carillon.Template{
		ID: "7001", CompanyID: c.ID, SenderUID: named[0].UID, Name: "hello", Language: "en", Category: "UTILITY",
		Status:     carillon.TemplateApproved,
		Components: []carillon.Component{{Type: content.TypeBody, Text: "Hello {{1}}!"}},
	}
	if err := errors.Join(content.Compile(x), w.Store.Config.Change(w.T.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return settings.PutTemplate(ctx, tx, x, time.Now())
	})); err != nil {
		w.T.Fatal(err)
	}
}

// with sends a request with an additional header.
func with(w *paneltest.World, path, authorization, body, header, value string) (int, string, string) {
	w.T.Helper()
	r := httptest.NewRequestWithContext(w.T.Context(), "POST", path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", authorization)
	r.Header.Set(header, value)
	rec := httptest.NewRecorder()
	w.Router.ServeHTTP(rec, r)
	return rec.Code, rec.Body.String(), rec.Header().Get("Idempotent-Replayed")
}

const greetingBody = `{"contact":{"number":"34600701234","first_name":"Ana"},"recipient_id":"main","name_template":"hello",` +
	`"language_template":"en",` +
	`"notification_type":"utility","campaign_name":"spring","components_push":{"body_text_0":"{{ first_name }}"}}`

func TestANotificationIsSentOnceForADoubleClick(t *testing.T) {
	w := paneltest.New(t)
	template(w, w.Company("acme"))
	const path, key = "/panel/v1/notifications", "Idempotency-Key"
	marketer := w.As("marketer@acme.test")
	status, first, replayed := with(w, path, marketer, greetingBody, key, "click-1")
	if status != 200 || replayed != "" {
		t.Fatal(status, first)
	}
	if status, again, replayed := with(w, path, marketer, greetingBody, key, "click-1"); status != 200 || again != first ||
		replayed != "true" {
		t.Error("the second click:", status, again, replayed)
	}
	if status, other, _ := with(w, path, marketer, strings.Replace(greetingBody, "Ana", "Eva", 1), key, "click-1"); status != 422 ||
		!strings.Contains(other, "idempotency_key_reused") {
		t.Error("another content with the same key:", status, other)
	}
	for body, want := range map[string]string{
		strings.Replace(greetingBody, "34600701234", "+34", 1):             `"field":"contact.number"`,
		strings.Replace(greetingBody, "{{ first_name }}", "{{ city }}", 1): `"missing":["city"]`,
		strings.Replace(greetingBody, `"spring"`, `""`, 1):                 `"field":"campaign_name"`,
	} {
		if status, got, _ := with(w, path, marketer, body, key, "click-2"); status < 400 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s", body, status, got)
		}
	}
	w.Want("POST", path, marketer, greetingBody, 400, "validation_failed", "Idempotency-Key")
}

// upload sends a file like the page does.
func upload(w *paneltest.World, authorization, text string, key ...string) (int, string) {
	w.T.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "people.csv")
	if err == nil {
		_, err = part.Write([]byte(text))
	}
	if err = errors.Join(err, form.Close()); err != nil {
		w.T.Fatal(err)
	}
	r := httptest.NewRequestWithContext(w.T.Context(), "POST", "/panel/v1/send/jobs", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Authorization", authorization)
	for _, k := range key {
		r.Header.Set("Idempotency-Key", k)
	}
	rec := deadlines{httptest.NewRecorder()}
	w.Router.ServeHTTP(rec, r)
	return rec.Code, rec.Body.String()
}

// deadlines is a response recorder that supports the deadlines of an upload.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetReadDeadline(time.Time) error  { return nil }
func (deadlines) SetWriteDeadline(time.Time) error { return nil }

func TestAFileBecomesAJob(t *testing.T) {
	w := paneltest.New(t)
	template(w, w.Company("acme"))
	marketer := w.As("marketer@acme.test")
	if status, body := upload(w, marketer, "phone;name\n34600701234;\"Ana\n"); status != 400 || !strings.Contains(body, "Line 2") {
		t.Error("not a file:", status, body)
	}
	status, body := upload(w, marketer, "Teléfono;Nombre\n34600701234;Ana\n600;Eva\n")
	if status != 201 {
		t.Fatal(status, body)
	}
	listed := func() []any { return w.Want("GET", "/panel/v1/send/jobs", marketer, "", 200, "", "")["data"].([]any) }
	list := listed()
	if len(list) != 1 {
		t.Fatal(list)
	}
	for range 2 { // simulates losing the first response
		if status, body := upload(w, marketer, "Teléfono;Nombre\n34600701234;Ana\n", "k"); status != 201 {
			t.Fatal(status, body)
		}
	}
	if status, _ := upload(w, w.As("owner@acme.test"), "Teléfono;Nombre\n34600701234;Ana\n", "k"); status != 201 {
		t.Error(status)
	}
	if all := listed(); len(all) != 3 {
		t.Errorf("a repeated upload, and another member's with the same key, make %d jobs", len(all)-1)
	}
	at := "/panel/v1/send/jobs/" + list[0].(map[string]any)["id"].(string)
	w.Want("POST", at+"/check", marketer, "", 400, "validation_failed", "template")
	for body, field := range map[string]string{
		`{}`: "version", `{"version":0,"number":7}`: "number", `{"version":0,"fields":{"first_name":9}}`: "fields.first_name",
		`{"version":0,"type":"loud"}`:                          "type",
		`{"version":0,"values":{"body_text_0":{"column":12}}}`: "values.body_text_0",
		`{"version":0,"datetime_sending":"soon"}`:              "datetime_sending", `{"version":0,"colour":"x"}`: "body",
	} {
		w.Want("PATCH", at, marketer, body, 400, "validation_failed", field)
	}
	w.Want("PATCH", at, marketer, `{"version":7}`, 409, "conflict", "")
	chosen := w.Want(
		"PATCH", at, marketer, `{"version":0,"template":"hello","language":"en","sender":"main","campaign":"spring","type":"utility"}`,
		200, "", "",
	)
	settings := chosen["settings"].(map[string]any)
	if settings["number"] != 0.0 || settings["values"].(map[string]any)["body_text_0"].(map[string]any)["column"] != 1.0 {
		t.Errorf("mapped %v", settings)
	}
	w.Want("POST", at+"/send", marketer, `{"recipients":1}`, 409, "conflict", "")
	if got := w.Want("POST", at+"/check", marketer, "", 200, "", ""); got["state"] != "checking" {
		t.Error(got)
	}
	w.Want("GET", at+"/samples", marketer, "", 409, "conflict", "")
	w.Want("GET", at+"/rows?reason=duplicate", marketer, "", 200, "", "")
	w.Want("POST", at+"/cancel", marketer, `{}`, 200, "", "")
	w.Want("DELETE", at, marketer, "", 204, "", "")
	w.Want("GET", at, marketer, "", 404, "not_found", "")
}

func TestASampleFileIsMappedWhole(t *testing.T) {
	w := paneltest.New(t)
	template(w, w.Company("acme"))
	marketer := w.As("marketer@acme.test")
	for _, format := range []string{"csv", "xlsx"} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/panel/v1/send/sample?template=7001&format="+format, nil)
		r.Header.Set("Authorization", marketer)
		rec := httptest.NewRecorder()
		w.Router.ServeHTTP(rec, r)
		if rec.Code != 200 || !strings.Contains(rec.Header().Get("Content-Disposition"), "hello."+format) {
			t.Fatal(format, rec.Code, rec.Header(), rec.Body)
		}
		status, body := upload(w, marketer, rec.Body.String())
		if status != 201 {
			t.Fatal(format, status, body)
		}
		var job struct{ ID string }
		if err := json.Unmarshal([]byte(body), &job); err != nil {
			t.Fatal(err)
		}
		at := "/panel/v1/send/jobs/" + job.ID
		chosen := w.Want(
			"PATCH", at, marketer, `{"version":0,"template":"hello","language":"en","sender":"main","type":"utility"}`, 200, "", "",
		)
		settings := chosen["settings"].(map[string]any)
		if settings["number"] != 0.0 || settings["values"].(map[string]any)["body_text_0"].(map[string]any)["column"] != 1.0 {
			t.Errorf("%s: mapped %v", format, settings)
		}
		w.Want("POST", at+"/check", marketer, "", 200, "", "")
		now := w.Want("GET", at, marketer, "", 200, "", "")
		if campaign, _ := now["campaign"].(string); now["rows"] != 2.0 || !strings.HasPrefix(campaign, "hello 2") {
			t.Errorf("%s: %v rows, campaign %q", format, now["rows"], campaign)
		}
	}
	w.Want("GET", "/panel/v1/send/sample?template=7001&format=doc", marketer, "", 400, "validation_failed", "format")
	w.Want("GET", "/panel/v1/send/sample?template=7002&format=csv", marketer, "", 404, "", "")
}
