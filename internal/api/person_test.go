package api

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"carillon"
	"carillon/internal/identity"
	"carillon/internal/store/chats"
	"carillon/internal/store/suppressions"
	"carillon/internal/whatsapp"
	"carillon/internal/whatsapp/graphtest"
)

// The channel may leave the number out of a status. It counts, and the number is known to be the person's from then on: what they do not
// want is not sent to it.
func TestAStatusWithoutANumberCountsAndSaysWhoseItIs(t *testing.T) {
	onEachEngine(t, func(t *testing.T, r *channelRig) {
		const id = "ES.13491208655302741918"
		main, err := r.store.SendersByID(t.Context(), "main")
		if err != nil || len(main) == 0 {
			t.Fatal(main, err)
		}
		now := time.Now()
		for _, s := range main {
			o := &chats.Open{
				Contact:      chats.Contact{ID: carillon.NewID(now), CompanyID: s.CompanyID, UserID: id},
				Known:        []identity.Identity{{Kind: identity.Person, Scope: whatsapp.Portfolio(s.Settings), Key: identity.User(id)}},
				Conversation: chats.Conversation{ID: carillon.NewID(now), Channel: "whatsapp", State: chats.Automated}, Now: now,
			}
			if err := r.store.Chats().Open(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if s.CompanyID == main[0].CompanyID {
				if err := r.store.Suppress(t.Context(), s.CompanyID, suppressions.All, "asked in a message", now, id); err != nil {
					t.Fatal(err)
				}
			}
			now = now.Add(time.Millisecond)
		}
		r.want("GET", "/suppressions", "ck_ours", "", 200, `{"data":[{"number":"","reason":"asked in a message","created_at":"`)
		r.want("GET", "/suppressions", "ck_ours", "", 200, `","type":"all","user_id":"`+id+`"}]`)
		reached := r.accepted("5215512345601")
		body := r.graph.StatusBody(graphtest.Status{Ref: reached.String(), To: "5215512345601", ID: "wamid.A", State: "delivered", At: now})
		r.deliver(bytes.Replace(body, []byte(`"recipient_id":"5215512345601"`), []byte(`"recipient_user_id":"`+id+`"`), 1), http.StatusOK)
		r.want("GET", "/notify/"+reached.NotificationID, "ck_ours", "", 200, `"state":"delivered"`)
		r.want("GET", "/suppressions", "ck_ours", "", 200, `{"data":[{"number":"525512345601","reason":"asked in a message","created_at":"`)
		r.want("GET", "/suppressions", "ck_ours", "", 200, `","type":"all","user_id":"`+id+`"}],"next_cursor":null}`)
		r.want("DELETE", "/suppressions/"+id, "ck_ours", "", 204, "")
		r.want("GET", "/suppressions", "ck_ours", "", 200, `{"data":[],"next_cursor":null}`)
	})
}

func TestASuppressionIsOneForAllFormsOfTheNumber(t *testing.T) {
	onEachEngine(t, func(t *testing.T, r *channelRig) {
		r.want("POST", "/suppressions", "ck_ours", `{"number":"5491123456789"}`, 200, `{"number":"5491123456789","reason":"manual","created_at":"`)
		r.want("POST", "/suppressions", "ck_ours", `{"number":"541123456789"}`, 200, `{"number":"5491123456789","reason":"manual","created_at":"`)
		r.want("GET", "/suppressions", "ck_ours", "", 200, `","type":"all"}],"next_cursor":null}`)
		r.want("DELETE", "/suppressions/541123456789", "ck_theirs", "", 404, "")
		r.want("DELETE", "/suppressions/541123456789", "ck_ours", "", 204, "")
		r.want("DELETE", "/suppressions/5491123456789", "ck_ours", "", 404, "")
	})
}
