package channels

import (
	"testing"
	"time"

	"carillon/internal/store/settings"
)

func TestTheCallbackOfASenderIsJudged(t *testing.T) {
	now := time.Now()
	public := &callbackAt{URL: "https://carillon.example.com/callbacks/whatsapp/main", Public: true}
	private := &callbackAt{URL: "http://127.0.0.1:8080/callbacks/whatsapp/main"}
	for _, c := range []struct {
		own       *callbackAt
		elsewhere string
		report    settings.SenderReport
		want      string
	}{
		{public, "", settings.SenderReport{}, "bad callback_never"},
		{public, "", settings.SenderReport{HandshakeAt: now}, "ok callback_confirmed"},
		{public, public.URL, settings.SenderReport{HandshakeAt: now, CallbackAt: now}, "ok callback_received"},
		{public, "https://carillon.example.com/callbacks/whatsapp/other", settings.SenderReport{CallbackAt: now}, "ok callback_received"},
		{
			public, "https://carillon.example.com.evil.test/callbacks/whatsapp/main",
			settings.SenderReport{CallbackAt: now},
			"bad callback_elsewhere",
		},
		{private, "", settings.SenderReport{}, "bad callback_private"},
		{private, "", settings.SenderReport{CallbackAt: now}, "ok callback_received"},
	} {
		f := callbackFinding(c.own, c.elsewhere, c.report)
		if got := string(f.State) + " " + f.Code; got != c.want || f.Item != itemCallback {
			t.Errorf("%+v: got %s, want %s", c, got, c.want)
		}
	}
	for base, want := range map[string]bool{
		"https://carillon.example.com": true, "https://1.1.1.1": true, "http://carillon.example.com": false, "https://localhost": false,
		"https://127.0.0.1:8443": false,
		"https://10.1.2.3":       false, "https://carillon": false, "https://carillon.local": false, "": false, "https://[::1]": false,
	} {
		if reachable(base) != want {
			t.Errorf("%s: reachable is %v", base, !want)
		}
	}
}
