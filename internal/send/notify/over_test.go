package notify_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
)

func TestACallOverWhatsAppNamesItsSender(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, func(*rig) {})
		defer r.start()()
		add := func(id, number, set string) {
			x := *r.sender
			x.UID, x.ID, x.Number, x.Channel, x.Provider, x.Default = 0, id, number, carillon.Voice, "sip", false
			x.Settings = []byte(set)
			if err := r.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
				_, err := settings.DeclareSender(ctx, tx, &x, time.Now())
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		add("phone", "4915550100102", `{"trunk":"sip:a"}`)
		add("german", "4915550100101", `{"whatsapp":"other"}`)
		add("american", "15550100101", `{"whatsapp":"main"}`)
		add("jamaican", "18765550101", `{"whatsapp":"third"}`)
		for _, x := range []struct {
			recipient, channel string
			code               carillon.Code
			reason             string
		}{
			{"phone", "phone", carillon.AgentNotFound, ""},
			{"phone", "whatsapp", carillon.ValidationFailed, "No voice sender"},
			{"german", "phone", carillon.ValidationFailed, "No voice sender"},
			{"german", "whatsapp", carillon.AgentNotFound, ""},
			{"4915550100101", "whatsapp", carillon.AgentNotFound, ""},
			{"jamaican", "whatsapp", carillon.AgentNotFound, ""},
			{"main", "whatsapp", carillon.ValidationFailed, "the United States and Canada"},
			{"american", "", carillon.ValidationFailed, "the United States and Canada"},
			{"unknown", "whatsapp", carillon.ValidationFailed, "No voice sender"},
		} {
			extra := ""
			if x.channel != "" {
				extra = `,"channel":"` + x.channel + `"`
			}
			_, err := r.notify.AcceptBody(t.Context(), &notify.Submission{Company: r.company, Route: "call"}, carillon.Voice,
				[]byte(`{"contact":{"number":"34600111222"},"recipient_id":"`+x.recipient+`","agent_id":"a",`+
					`"notification_type":"transactional","campaign_name":"c"`+extra+`}`), false)
			e, _ := err.(*carillon.Error) //nolint:errorlint // not wrapped
			if e == nil || e.Code != x.code {
				t.Errorf("%+v: %v", x, err)
				continue
			}
			if reason, _ := e.Details.Find("reason").(string); !strings.Contains(reason, x.reason) {
				t.Errorf("%+v: %s", x, reason)
			}
		}
	})
}
