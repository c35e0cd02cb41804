package conversation

import (
	"testing"
	"time"

	"carillon/internal/flow"
	"carillon/internal/store/chats"
)

// A node that died while it was to reply leaves the reply to the others as soon as it is declared dead.
func TestTheReplyOfADeadNodeIsGivenAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.lay("word", flow.Trigger{Keywords: []string{"begin"}}, `[{"say": "What?"}, {"ask": "what"}]`)
		id := r.open()
		if _, _, err := r.core.say(t.Context(), r.company, id, Said{ClientID: "1", Kind: chats.KindText, Text: "begin"}); err != nil { // then it dies
			t.Fatal(err)
		}
		r.run()
		r.pass(deadFor + time.Millisecond)
		r.Deposed()
		r.waitState(id, flow.Asking)
	})
}
