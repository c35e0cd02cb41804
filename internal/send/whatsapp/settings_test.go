package whatsapp

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"carillon"
)

func TestCheckSettingsNamesTheFieldAtFault(t *testing.T) {
	whole := map[string]any{
		"base_url": "http://127.0.0.1:9701", "version": "v23.0", "phone_number_id": "1000001", "waba_id": "2000001",
		"access_token": "provider-token", "app_secret": "provider-app-secret", "verify_token": "provider-verify-token",
	}
	with := func(key string, v any) json.RawMessage {
		m := make(map[string]any)
		maps.Copy(m, whole)
		m[key] = v
		if v == nil {
			delete(m, key)
		}
		b, _ := json.Marshal(m)
		return b
	}
	for _, tc := range []struct {
		name  string
		raw   json.RawMessage
		field string // expected field of the error; empty means accepted
	}{
		{"whole", with("version", "v23.0"), ""},
		{"no base_url", with("base_url", nil), ""},
		{"no version", with("version", nil), ""},
		{"base_url with a path", with("base_url", "https://proxy.example.org/graph/"), ""},
		{"nothing", nil, "settings.phone_number_id"},
		{"an array", json.RawMessage(`[]`), "settings"},
		{"no phone_number_id", with("phone_number_id", nil), "settings.phone_number_id"},
		{"no waba_id", with("waba_id", nil), "settings.waba_id"},
		{"no access_token", with("access_token", nil), "settings.access_token"},
		{"no app_secret", with("app_secret", nil), "settings.app_secret"},
		{"no verify_token", with("verify_token", nil), "settings.verify_token"},
		{"blank token", with("access_token", " "), "settings.access_token"},
		{"token with a line end", with("access_token", "provider-token\n"), "settings.access_token"},
		{"token too long", with("access_token", strings.Repeat("x", maxSecret+1)), "settings.access_token"},
		{"id as a number", with("phone_number_id", 1000001), "settings.phone_number_id"},
		{"id with a path", with("waba_id", "1/2"), "settings.waba_id"},
		{"version without v", with("version", "23.0"), "settings.version"},
		{"empty version", with("version", ""), "settings.version"},
		{"base_url of another kind", with("base_url", "ftp://127.0.0.1"), "settings.base_url"},
		{"base_url without host", with("base_url", "https://"), "settings.base_url"},
		{"base_url with a query", with("base_url", "https://x.org/?a=b"), "settings.base_url"},
		{"base_url with a user", with("base_url", "https://a:b@x.org"), "settings.base_url"},
		{"unknown key", with("acces_token", "provider-token"), "settings.acces_token"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := CheckSettings(tc.raw)
			if tc.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var ce *carillon.Error
			if !errors.As(err, &ce) || ce.Code != carillon.ValidationFailed || ce.Details.Find("field") != tc.field {
				t.Fatalf("%v, want field %s", err, tc.field)
			}
			if strings.Contains(err.Error(), "provider-") {
				t.Errorf("shows a secret: %v", err)
			}
		})
	}
}

func TestSettingsHaveTheirDefaults(t *testing.T) {
	a, err := newAccount(json.RawMessage(`{"phone_number_id":"1","waba_id":"2","access_token":"a","app_secret":"b","verify_token":"c"}`))
	if err != nil || a.messages.String() != "https://graph.facebook.com/v23.0/1/messages" {
		t.Errorf("%v %v", a, err)
	}
}
