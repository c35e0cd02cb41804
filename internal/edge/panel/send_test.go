package panel

import (
	"bytes"
	"context"
	"errors"
	"mime/multipart"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/configure"
	templatestore "carillon/internal/store/templates"

	"carillon"
	"carillon/internal/base/content"
)

// template gives a company a sandbox's sender `main` with an approved template `hello` of one variable.
func (w *world) template(c *carillon.Company) {
	w.t.Helper()
	owner := w.as("owner@" + c.Name + ".test")
	w.want("POST", "/panel/v1/senders", owner, `{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox","default":true}`, 201, "", "")
	named, err := w.store.Senders.SendersNamed(w.t.Context(), c.ID, "main")
	if err != nil || len(named) != 1 {
		w.t.Fatal(named, err)
	}
	x := &carillon.Template{
		ID: "7001", CompanyID: c.ID, SenderUID: named[0].UID, Name: "hello", Language: "en", Category: "UTILITY", Status: carillon.TemplateApproved,
		Components: []carillon.Component{{Type: content.TypeBody, Text: "Hello {{1}}!"}},
	}
	if err := errors.Join(content.Compile(x), w.store.Config.Change(w.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return templatestore.PutTemplate(ctx, tx, x, time.Now())
	})); err != nil {
		w.t.Fatal(err)
	}
}

// with sends a request with a header.
func (w *world) with(path, authorization, body, header, value string) (int, string, string) {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), "POST", path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", authorization)
	r.Header.Set(header, value)
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, r)
	return rec.Code, rec.Body.String(), rec.Header().Get("Idempotent-Replayed")
}

const greetingBody = `{"contact":{"number":"34600701234","first_name":"Ana"},"recipient_id":"main","name_template":"hello","language_template":"en",` +
	`"notification_type":"utility","campaign_name":"spring","components_push":{"body_text_0":"{{ first_name }}"}}`

func TestANotificationIsSentOnceForADoubleClick(t *testing.T) {
	w := newWorld(t)
	w.template(w.company("acme"))
	const path, key = "/panel/v1/notifications", "Idempotency-Key"
	marketer := w.as("marketer@acme.test")
	status, first, replayed := w.with(path, marketer, greetingBody, key, "click-1")
	if status != 200 || replayed != "" {
		t.Fatal(status, first)
	}
	if status, again, replayed := w.with(path, marketer, greetingBody, key, "click-1"); status != 200 || again != first || replayed != "true" {
		t.Error("the second click:", status, again, replayed)
	}
	if status, other, _ := w.with(path, marketer, strings.Replace(greetingBody, "Ana", "Eva", 1), key, "click-1"); status != 422 || !strings.Contains(other, "idempotency_key_reused") {
		t.Error("another content with the same key:", status, other)
	}
	for body, want := range map[string]string{
		strings.Replace(greetingBody, "34600701234", "+34", 1):             `"field":"contact.number"`,
		strings.Replace(greetingBody, "{{ first_name }}", "{{ city }}", 1): `"missing":["city"]`,
		strings.Replace(greetingBody, `"spring"`, `""`, 1):                 `"field":"campaign_name"`,
	} {
		if status, got, _ := w.with(path, marketer, body, key, "click-2"); status < 400 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s", body, status, got)
		}
	}
	w.want("POST", path, marketer, greetingBody, 400, "validation_failed", "Idempotency-Key")
}

// upload sends a file as the page does.
func (w *world) upload(authorization, text string, key ...string) (int, string) {
	w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "people.csv")
	if err == nil {
		_, err = part.Write([]byte(text))
	}
	if err = errors.Join(err, form.Close()); err != nil {
		w.t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(w.t.Context(), "POST", "/panel/v1/send/jobs", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Authorization", authorization)
	for _, k := range key {
		r.Header.Set("Idempotency-Key", k)
	}
	rec := deadlines{httptest.NewRecorder()}
	w.router.ServeHTTP(rec, r)
	return rec.Code, rec.Body.String()
}

// deadlines is a recorder that takes the deadlines of an upload.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetReadDeadline(time.Time) error  { return nil }
func (deadlines) SetWriteDeadline(time.Time) error { return nil }

func TestAFileBecomesAJob(t *testing.T) {
	w := newWorld(t)
	w.template(w.company("acme"))
	marketer := w.as("marketer@acme.test")
	if status, body := w.upload(marketer, "phone;name\n34600701234;\"Ana\n"); status != 400 || !strings.Contains(body, "Line 2") {
		t.Error("a file that is none:", status, body)
	}
	status, body := w.upload(marketer, "Teléfono;Nombre\n34600701234;Ana\n600;Eva\n")
	if status != 201 {
		t.Fatal(status, body)
	}
	listed := func() []any { return w.want("GET", "/panel/v1/send/jobs", marketer, "", 200, "", "")["data"].([]any) }
	list := listed()
	if len(list) != 1 {
		t.Fatal(list)
	}
	for range 2 { // the response to the first was lost
		if status, body := w.upload(marketer, "Teléfono;Nombre\n34600701234;Ana\n", "k"); status != 201 {
			t.Fatal(status, body)
		}
	}
	if status, _ := w.upload(w.as("owner@acme.test"), "Teléfono;Nombre\n34600701234;Ana\n", "k"); status != 201 {
		t.Error(status)
	}
	if all := listed(); len(all) != 3 {
		t.Errorf("of a repeated upload, and one of somebody else with the key, there are %d", len(all)-1)
	}
	at := "/panel/v1/send/jobs/" + list[0].(map[string]any)["id"].(string)
	w.want("POST", at+"/check", marketer, "", 400, "validation_failed", "template")
	for body, field := range map[string]string{
		`{}`: "version", `{"version":0,"number":7}`: "number", `{"version":0,"fields":{"first_name":9}}`: "fields.first_name", `{"version":0,"type":"loud"}`: "type",
		`{"version":0,"values":{"body_text_0":{"column":12}}}`: "values.body_text_0", `{"version":0,"datetime_sending":"soon"}`: "datetime_sending", `{"version":0,"colour":"x"}`: "body",
	} {
		w.want("PATCH", at, marketer, body, 400, "validation_failed", field)
	}
	w.want("PATCH", at, marketer, `{"version":7}`, 409, "conflict", "")
	chosen := w.want("PATCH", at, marketer, `{"version":0,"template":"hello","language":"en","sender":"main","campaign":"spring","type":"utility"}`, 200, "", "")
	settings := chosen["settings"].(map[string]any)
	if settings["number"] != 0.0 || settings["values"].(map[string]any)["body_text_0"].(map[string]any)["column"] != 1.0 {
		t.Errorf("mapped %v", settings)
	}
	w.want("POST", at+"/send", marketer, `{"recipients":1}`, 409, "conflict", "")
	if got := w.want("POST", at+"/check", marketer, "", 200, "", ""); got["state"] != "checking" {
		t.Error(got)
	}
	w.want("GET", at+"/samples", marketer, "", 409, "conflict", "")
	w.want("GET", at+"/rows?reason=duplicate", marketer, "", 200, "", "")
	w.want("POST", at+"/cancel", marketer, `{}`, 200, "", "")
	w.want("DELETE", at, marketer, "", 204, "", "")
	w.want("GET", at, marketer, "", 404, "not_found", "")
}
