package webhooks_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"carillon"
	"carillon/internal/edge/httpio"
	"carillon/internal/event/hook"
)

// TestAnAddressThatNothingIsDeliveredToIsRefused adds and replaces webhooks while only 127.0.0.0/8 is allowed as a
// private network.
func TestAnAddressThatNothingIsDeliveredToIsRefused(t *testing.T) {
	r := newRig(t)
	call := func(method, id, body string) (any, error) {
		t.Helper()
		for _, a := range r.table {
			if a.Method == method && (a.Path == "/webhooks" && id == "" || a.Path == "/webhooks/{id}" && id != "") {
				req := httptest.NewRequest(method, "/webhooks/"+id, strings.NewReader(body))
				req.SetPathValue("id", id)
				req.Header.Set("Content-Type", "application/json")
				return a.Handle(req, company)
			}
		}
		t.Fatal("no route", method)
		return nil, nil
	}
	refused := func(err error) {
		t.Helper()
		e, ok := errors.AsType[*carillon.Error](err)
		if !ok || e.Code != carillon.ValidationFailed || e.Details.Find("field") != "url" ||
			!strings.Contains(e.Details.Find("reason").(string), "media-allow-private") || strings.Contains(e.Error(), "hush") {
			t.Errorf("%v", err)
		}
	}
	for _, address := range []string{"https://10.1.2.3/hook?token=hush", "http://1.1.1.1/hook", "https://[::1]:3000/hook"} {
		_, err := call("POST", "", `{"url":"`+address+`"}`)
		refused(err)
	}
	made, err := call("POST", "", `{"url":"http://127.0.0.1:3000/hook"}`)
	if err != nil {
		t.Fatal(err)
	}
	id := made.(httpio.Created[*hook.Webhook]).Value.ID
	_, err = call("PUT", id, `{"url":"https://10.1.2.3/hook"}`)
	refused(err)
	// The first name is resolved only on delivery, and the second is allowed.
	for _, address := range []string{"https://nobody.test/hook", "http://localhost:3000/hook"} {
		if _, err := call("PUT", id, `{"url":"`+address+`"}`); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	stored := r.endpoint(hook.Webhook{URL: "https://10.1.2.3/stored"}) // stored before such addresses were refused
	if w, err := call("PUT", stored.WebhookID, `{"url":"https://10.1.2.3/stored","paused":true}`); err != nil || !w.(*hook.Webhook).Paused {
		t.Errorf("%v, %v", w, err)
	}
	if _, err := call("GET", stored.WebhookID, ""); err != nil {
		t.Error(err)
	}
	_, err = call("PUT", stored.WebhookID, `{"url":"https://10.1.2.3/other"}`)
	refused(err)
	_, err = call("PUT", id, `{"url":"https://10.1.2.3/stored"}`) // the address of another webhook
	refused(err)
}
