package store_test

import (
	"testing"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store"
	"carillon/internal/store/chats"
)

// Contacts of two forms of one number, which programs before schema 37 made, become one: with the conversations of both, of which one is
// open, and with their suppressions.
func TestTheUpgradeJoinsContactsOfOneLine(t *testing.T) {
	onEngines(t, func(t *testing.T, o store.Options) {
		contact := func(id, company, verified, number, name string) string {
			return `INSERT INTO contact (id, company_id, widget_id, visitor_id, verified, name, ` +
				`number, created_at, seen_at) VALUES ('` + id +
				`', '` + company +
				`', '', 'tel:` + number + `', ` + verified + `, '` + name + `', '` + number + `', 1, 1)`
		}
		conversation := func(id, company, contact, channel, state, at string) string {
			return `INSERT INTO conversation (id, company_id, channel, contact_id, state, state_at, last_at, opened_at) VALUES ('` +
				id + `', '` + company + `', '` +
				channel + `', '` + contact + `', '` + state + `', 1, ` + at + `, ` + at + `)`
		}
		err := store.StoreAs(t.Context(), o, "0036",
			`INSERT INTO company (id, name, limits, created_at, updated_at) VALUES ('ours', 'Ours', '{}', 1, 1)`,
			`INSERT INTO company (id, name, limits, created_at, updated_at) VALUES ('theirs', 'Theirs', '{}', 1, 1)`,
			contact("k1", "ours", "TRUE", "525512345601", ""), contact("k2", "ours", "TRUE", "5215512345601", "Ana"),
			contact("k3", "ours", "FALSE", "5215512345601", ""),
			contact("k4", "theirs", "TRUE", "5215512345601", ""), contact("k5", "ours", "TRUE", "551187654321", ""),
			contact("k6", "ours", "TRUE", "5511987654321", ""),
			contact("k7", "ours", "TRUE", "551132345678", ""), contact("k8", "ours", "TRUE", "5511932345678", ""),
			contact("k9", "ours", "TRUE", "541123456789", ""),
			contact("ka", "ours", "TRUE", "34600111222", ""),
			`INSERT INTO contact (id, company_id, widget_id, visitor_id, verified, name, number, created_at, seen_at)
				VALUES ('kb', 'ours', 'w', 'v', FALSE, '', '5491123456789', 1, 1)`,
			conversation("c1", "ours", "k1", "whatsapp", "bot", "10"), conversation("c2", "ours", "k2", "whatsapp", "bot", "20"),
			conversation("c3", "ours", "k2", "phone", "bot", "5"), conversation("c4", "ours", "k1", "whatsapp", "resolved", "30"),
			conversation("c5", "ours", "k6", "whatsapp", "queued", "10"), conversation("c6", "theirs", "k4", "whatsapp", "bot", "10"),
			conversation("c7", "ours", "k5", "whatsapp", "active", "10"), conversation("c8", "ours", "k5", "phone", "bot", "90"),
			`INSERT INTO flow_run (id, company_id, flow_id, version, conversation_id, cause, rev, state, place, path, variables,
				started_at, changed_at)
				VALUES ('r1', 'ours', 'f', 1, 'c1', 'keyword', 1, 'asking', 0, '', '{}', 1, 1)`,
			`INSERT INTO suppression (company_id, number, type, reason, created_at) VALUES ('ours', '5215512345601', 'all', 'asked `+
				`in a message', 1)`,
		)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, o)
		for number, want := range map[string]string{
			"525512345601": "k1", "5215512345601": "k1", "551187654321": "k5", "5511987654321": "k5", "551132345678": "k7",
			"5511932345678": "k8",
			"541123456789":  "k9", "5491123456789": "k9", "34600111222": "ka",
		} {
			var id string
			err := s.DB.Row(t.Context(), []any{&id},
				"SELECT contact_id FROM contact_identity WHERE company_id = 'ours' AND kind = 'line' AND value = $1",
				identity.Number(number).String())
			if err != nil || id != want {
				t.Errorf("%s is %s's, want %s; %v", number, id, want, err)
			}
		}
		for id, want := range map[string]struct {
			contact string
			state   chats.State
		}{
			"c1": {"k1", chats.Resolved}, "c2": {"k1", chats.Automated}, "c3": {"k1", chats.Automated},
			"c4": {"k1", chats.Resolved}, "c5": {"k5", chats.Resolved},
			"c7": {"k5", chats.Active}, "c8": {"k5", chats.Automated},
		} {
			c, err := s.Chats.Find(t.Context(), "ours", id)
			if err != nil || c.ContactID != want.contact || c.State != want.state {
				t.Errorf("conversation %s is %+v, %v", id, c, err)
			}
		}
		for id, there := range map[string]bool{
			"k1": true, "k2": false, "k3": true, "k5": true, "k6": false, "k7": true, "k8": true, "k9": true, "kb": true,
		} {
			if c, err := s.Contacts.ContactOf(t.Context(), "ours", id); (err == nil) != there || id == "k1" && c.Name != "Ana" {
				t.Errorf("contact %s: %+v, %v", id, c, err)
			}
		}
		if c, err := s.Chats.Find(t.Context(), "theirs", "c6"); err != nil || c.ContactID != "k4" {
			t.Errorf("the other company's is %+v, %v", c, err)
		}
		if run, err := s.Runs.Current(t.Context(), "ours", "c1"); err != nil || run != nil {
			t.Errorf("the flow of the older conversation goes on: %+v, %v", run, err)
		}
		who := identity.Number("525512345601")
		if found, err := s.Suppressions.Suppressed(t.Context(), "ours", carillon.Transactional, []identity.Key{who}); err != nil ||
			!found[who] {
			t.Errorf("the other form is not suppressed: %v, %v", found, err)
		}
		if all, err := s.Contacts.Identities(t.Context(), "ours", "kb"); err != nil || len(all) != 1 || all[0].Kind != identity.Claimed {
			t.Errorf("the visitor with a number is known by %v, %v", all, err)
		}
	})
}
