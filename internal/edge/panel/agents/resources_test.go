package agents_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/edge/panel/paneltest"
)

func TestAResourceIsAddedShownReplacedAndDeleted(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	by, other := w.As("developer@acme.test"), w.As("owner@other.test")
	made := w.Want(
		"POST", "/panel/v1/agents", by, `{"name":"Ann","knowledge":[],"greeting":"\u00a1Hola \ud83d\ude00\t\"{{name}}\"!"}`, 201, "",
		"",
	)
	id, _ := made["id"].(string)
	if made["engine"] != "builtin" || made["greeting"] != "¡Hola 😀\t\"{{name}}\"!" || len(id) != 36 {
		t.Errorf("made %v", made)
	}
	one := "/panel/v1/agents/" + id
	if d := cmp.Diff(made, w.Want("GET", one, w.As("viewer@acme.test"), "", 200, "", "")); d != "" {
		t.Error(d)
	}
	w.Want("POST", "/panel/v1/agents", by, `{"name":"Ann"}`, 409, "conflict", "")
	if got := w.Want("PUT", one, by, `{"name":"Bea","language":"es"}`, 200, "", ""); got["name"] != "Bea" || got["greeting"] != "" ||
		got["id"] != id {
		t.Errorf("replaced by %v", got)
	}
	w.Want("PUT", one, by, `{"id":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2","name":"Bea"}`, 400, "validation_failed", "id")
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		w.Want(method, one, other, `{"name":"Taken over"}`, 404, "not_found", "")
	}
	w.Want("POST", "/panel/v1/knowledge", by, `{"id":"faq","articles":[{"text":"a"}]}`, 201, "", "")
	w.Want("PUT", "/panel/v1/knowledge/faq", by, `{"articles":[{"text":"b"}]}`, 200, "", "")
	w.Want("PUT", one, by, `{"name":"Bea","knowledge":["faq"]}`, 200, "", "")
	if got := w.Want(
		"DELETE", "/panel/v1/knowledge/faq", by, "", 409, "conflict", "",
	); !strings.Contains(fmt.Sprint(got), "the agent Bea refers to it") {
		t.Error(got)
	}
	w.Want("DELETE", one, by, "", 204, "", "")
	w.Want("DELETE", one, by, "", 404, "not_found", "")
	w.Want("DELETE", "/panel/v1/knowledge/faq", by, "", 204, "", "")
	w.Want("POST", "/panel/v1/agents", w.As("marketer@acme.test"), `{"name":"Ann"}`, 403, "forbidden", "")
}

func TestFaultsOfAResourceNameTheirFields(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("owner@acme.test")
	t.Setenv("HOME_OF_SECRETS", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	for _, x := range []struct{ kind, body, field string }{
		{"agents", `{}`, "name"},
		{"agents", `{"name":7}`, "name"},
		{"agents", `{"name":"a","record":"yes"}`, "record"},
		{"agents", `{"name":"a","greting":"hi"}`, "greting"},
		{"agents", `{"name":"a","tools":["search","sing"]}`, "tools.1"},
		{"agents", `{"name":"a","knowledge":["nothing"]}`, "knowledge.0"},
		{"agents", `{"name":"a","result":[{"name":"b"},{"nmae":"c"}]}`, "result.1.nmae"},
		{"agents", `{"name":"a","result":[{"name":"b"},[]]}`, "result.1"},
		{"agents", `{"name":"a","name":"b"}`, "body"},
		{"agents", `["a"]`, "body"},
		{"webhooks", `{"url":"https://a.test","secret":{"file":"/etc/passwd"}}`, "secret"},
		{"webhooks", `{"url":"https://a.test","secret":{"env":"HOME_OF_SECRETS"}}`, "secret"},
		{"webhooks", `{"url":"https://a.test","secret":"hunter2"}`, "secret"},
		{"webhooks", `{"url":"http://a.test/?token=hunter2"}`, "url"},
		{"webhooks", `{"url":"https://192.168.0.1/?token=hunter2"}`, "url"},
	} {
		got := w.Want("POST", "/panel/v1/"+x.kind, by, x.body, 400, "validation_failed", x.field)
		if strings.Contains(fmt.Sprint(got), "hunter2") {
			t.Errorf("a secret is shown: %v", got)
		}
	}
	w.Want("POST", "/panel/v1/agents", by, `{"name":"`+strings.Repeat("a", 1<<20)+`"}`, 413, "payload_too_large", "")
}

func TestASecretIsShownOnlyWhereItWasMade(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("developer@acme.test")
	made := w.Want("POST", "/panel/v1/webhooks", by, `{"url":"https://a.test"}`, 201, "", "")
	secret, _ := made["secret"].(string)
	if !strings.HasPrefix(secret, "whsec_") || made["warning"] != "it gets no events yet" {
		t.Errorf("made %v", made)
	}
	one := "/panel/v1/webhooks/" + made["id"].(string)
	for _, answered := range []map[string]any{
		w.Want("GET", one, by, "", 200, "", ""),
		w.Want("GET", "/panel/v1/webhooks", by, "", 200, "", ""),
		w.Want("PUT", one, by, `{"url":"https://b.test"}`, 200, "", ""),
		w.Want("PUT", one, by, `{"url":"https://b.test","secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`, 200, "", ""),
	} {
		if strings.Contains(fmt.Sprint(answered), "whsec_") {
			t.Errorf("the secret is read back: %v", answered)
		}
	}
	w.Want("GET", one, w.As("marketer@acme.test"), "", 403, "forbidden", "")
	w.Want("PUT", one, by, `{"url":"http://b.test"}`, 400, "validation_failed", "url")
}

func TestAListOfResourcesHasPages(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("owner@acme.test")
	for i := range 9 {
		w.Want("POST", "/panel/v1/knowledge", by, fmt.Sprintf(`{"id":"k%d","articles":[%s{"text":"a"}]}`, i,
			strings.Repeat(`{"text":"`+strings.Repeat("x", 60_000)+`"},`, 4)), 201, "", "")
	}
	var got []string
	for next := ""; ; {
		answered := w.Want("GET", "/panel/v1/knowledge?limit=7"+next, by, "", 200, "", "")
		rows := answered["data"].([]any)
		if len(rows) > 4 {
			t.Errorf("a page of %d rows of 240 kB", len(rows))
		}
		for _, x := range rows {
			got = append(got, x.(map[string]any)["id"].(string))
		}
		cursor, more := answered["next_cursor"].(string)
		if !more {
			break
		}
		next = "&cursor=" + cursor
	}
	if d := cmp.Diff([]string{"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"}, got); d != "" {
		t.Error(d)
	}
}
