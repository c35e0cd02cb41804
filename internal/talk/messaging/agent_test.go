package messaging_test

import (
	"strings"
	"testing"

	"carillon"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
)

func TestAnAgentAnswersWithItsSourcesInItsLanguage(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.agent = "robin"
		r.run()
		p := r.person("34600111222")
		p.text("Hola")
		p.got("es: Hola\nhttps://acme.test/faq")
		q := r.person("34600111223") // got a notification in another language
		r.bind(q.number, &chats.Bound{NotificationID: "n1", Language: "pt-BR"})
		q.text("Oi")
		q.got("pt-BR: Oi\nhttps://acme.test/faq")
	})
}

func TestWithoutTheAgentOfItsSettingsASenderHasNone(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.agent = "deleted"
		r.run()
		p := r.person("34600111222")
		p.text("Hola")
		p.shows("> Hola", "* handoff_requested", "* missed")
	})
}

func TestATeammatesFileGoesOutAtAnAddressOfOurs(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.run()
		p := r.person("34600111222")
		p.text("Hello")
		p.shows("> Hello", "* handoff_requested", "* missed")
		ben := conversation.By{CompanyID: r.company.ID, AccountID: carillon.NewID(r.now()), Name: "Ben"}
		id := p.conversation().ID
		if _, err := r.talks.Desk.Take(t.Context(), ben, id, ""); err != nil {
			t.Fatal(err)
		}
		from := files.From{CompanyID: r.company.ID, ConversationID: id, SentBy: ben.AccountID}
		f, err := r.files.Put(t.Context(), from, "offer.pdf", strings.NewReader("%PDF-1.4\n%%EOF\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.talks.Desk.Answer(t.Context(), ben, id, conversation.Said{ClientID: "1", Kind: chats.KindFile, File: f},
			-1); err != nil {
			t.Fatal(err)
		}
		p.got(" (offer.pdf application/pdf https://files.test/" + f.ID + ")")
	})
}
