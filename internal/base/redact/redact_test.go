package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"carillon/internal/base/redact"
)

// secret must not occur in any result. It does not have the format of a known key or token.
const secret = "Zx9-very-quiet-42"

func TestNamesOfSecrets(t *testing.T) {
	for _, name := range []string{
		"access_key", "accessKey", "Access-Key", "X-Access-Key", "api_key", "password", "present_password", "smtp_password", "access_token",
		"refresh_token", "verify_token", "conversation_token", "token", "app_secret", "client_secret", "identity_secret", "secret",
		"Authorization",
		"Set-Cookie", "contact.password", "key", "identity", "recovery_codes", "password_hash",
	} {
		if !redact.Name(name) {
			t.Errorf("%s is not taken for a secret", name)
		}
	}
	for _, name := range []string{
		"number", "name_template", "components_push", "campaign_name", "label", "keyword", "body_text_0", "recipient_id",
		"tokens_used", "secretary", "monkey", "key_id",
	} {
		if redact.Name(name) {
			t.Errorf("%s is taken for a secret", name)
		}
	}
}

func TestBodiesLoseTheirSecrets(t *testing.T) {
	jwt := "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"
	for name, body := range map[string]string{
		"flat":               `{"access_key":"` + secret + `","name":"kept"}`,
		"spaces":             "{ \"password\" :\n \"" + secret + "\" , \"name\": \"kept\"}",
		"nested":             `{"name":"kept","a":[{"b":{"app_secret":"` + secret + `"}}]}`,
		"flat name":          `{"contact.password":"` + secret + `","name":"kept"}`,
		"object value":       `{"credentials":{"user":"x","pass":"` + secret + `"},"name":"kept"}`,
		"array value":        `{"recovery_codes":["` + secret + `","b"],"name":"kept"}`,
		"escaped name":       `{"\u0070assword":"` + secret + `","name":"kept"}`,
		"escaped quote":      `{"token":"\"` + secret + `","name":"kept"}`,
		"number":             `{"name":"kept","pin":990011}`,
		"cut in the value":   `{"name":"kept","refresh_token":"` + secret,
		"cut in an object":   `{"name":"kept","secret":{"a":"` + secret,
		"not closed":         `{"name":"kept","password":"` + secret + `"`,
		"no JSON":            `name=kept&password=` + secret + `&x=1`,
		"a query in a text":  `{"url":"https://x.test/a?access_key=` + secret + `&b=1","name":"kept"}`,
		"an address":         `{"url":"https://user:` + secret + `@x.test/","name":"kept"}`,
		"a key by its form":  `{"note":"ck_abcdefgh12345678","name":"kept"}`,
		"a token":            `{"note":"` + jwt + `","name":"kept"}`,
		"a header":           `{"note":"Bearer ` + secret + `","name":"kept"}`,
		"the channel's":      `{"note":"EAAGm0PX4ZCpsBAKZBhx0000","name":"kept"}`,
		"an error's detail":  `{"name":"kept","details":{"field":"access_key","provided":"` + secret + `"}}`,
		"duplicate name":     `{"name":"kept","token":"a","token":"` + secret + `"}`,
		"not UTF-8":          "{\"name\":\"kept\",\"x\":\"\xff\xfe\",\"password\":\"" + secret + "\"}",
		"unquoted value":     `{"name":"kept","password":` + secret + `}`,
		"colon and no value": `{"name":"kept","password":`,
	} {
		text, cut := redact.Body([]byte(body), 16<<10)
		for _, bad := range []string{secret, "990011", "ck_abcdefgh", "c2lnbmF0dXJl", "EAAGm0"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %s", name, text)
			}
		}
		if !strings.Contains(text, "kept") || cut {
			t.Errorf("%s lost more than secrets: %s, %t", name, text, cut)
		}
		if json.Valid([]byte(body)) && !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON any more: %s", name, text)
		}
	}
}

func TestOtherBodiesStayAsTheyAre(t *testing.T) {
	for _, body := range []string{
		``, `null`, `[1, 2]`, "{\n  \"name_template\": \"a\",\n  \"contact\": {\"number\": \"34600000001\"}\n}", `{"name":`, `"`,
		`}}]`, `{"a":"b" "c"}`, `ñ € 漢`,
		`{"provided":"x","field":"contact.number"}`, `{"password":""}`, `{"token":null}`,
	} {
		if text, _ := redact.Body([]byte(body), 1<<10); text != body {
			t.Errorf("%q became %q", body, text)
		}
	}
}

func TestLongBodiesAreCutBehindTheirSecrets(t *testing.T) {
	const most = 1 << 10
	for at := most - 60; at < most+60; at++ {
		head := `{"a":"` + strings.Repeat("x", at-10) + `","note":"`
		text, cut := redact.Body([]byte(head+"ck_"+strings.Repeat("k", 40)+`"}`+strings.Repeat(" ", most)), most)
		if !cut || len(text) > most || strings.Contains(text, "ck_k") {
			t.Fatalf("at %d: %t, %d bytes, …%s", at, cut, len(text), text[max(0, len(text)-80):])
		}
	}
	if text, cut := redact.Body([]byte(strings.Repeat("€", most)), most); !cut || len(text) > most || strings.Contains(text, "\uFFFD") {
		t.Error(cut, len(text), text[len(text)-6:])
	}
}

func TestQueriesLoseTheirSecrets(t *testing.T) {
	for raw, want := range map[string]string{
		"access_key=ck_abcdefgh&limit=10":    "access_key=[redacted]&limit=10",
		"limit=10&access%5Fkey=x":            "limit=10&access%5Fkey=[redacted]",
		"customer_id=ck_abcdefghijkl&a=b":    "customer_id=[redacted]&a=b",
		"a=%zz&b=1":                          "a=[redacted]&b=1",
		"campaign=A+%26+B":                   "campaign=A+%26+B",
		"":                                   "",
		"&&x":                                "x=",
		"token=1&token=2":                    "token=[redacted]&token=[redacted]",
		"to=https%3A%2F%2Fu%3Ap%40x.test%2F": "to=https%3A%2F%2F[redacted]%40x.test%2F",
	} {
		if got := redact.Query(raw); got != want {
			t.Errorf("%s became %s, want %s", raw, got, want)
		}
	}
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"password":"` + secret + `","a":[1,{"b":"\u0000"}]}`))
	f.Add([]byte(`{"a":"\`))
	f.Fuzz(func(t *testing.T, body []byte) {
		text, cut := redact.Body(body, 100)
		if len(text) > 100 {
			t.Errorf("%d bytes", len(text))
		}
		if len(body) > 100+4<<10 && !cut {
			t.Error("not cut")
		}
		with := append([]byte(`{"access_key":"`+secret+`","rest":`), body...)
		if text, _ := redact.Body(with, 16<<10); strings.Contains(text, secret) && !strings.Contains(string(body), secret) {
			t.Error(text)
		}
	})
}
