package messaging_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/talk/flow"
)

const followUp = `[{"say": "Hola {{first_name}}, ¿recibió su pedido {{order}}?"}, {"ask": "received", "choices": ["sí", "no"]},
	{"say": "Gracias"}]`

// shipped returns a notification with an event that a person may reply to.
func shipped(id, event string) *chats.Bound {
	return &chats.Bound{Event: event, NotificationID: id, Language: "es", Values: map[string]string{"first_name": "Ana", "order": "A-7"}}
}

func TestAFlowAnswersTheReplyToANotificationOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.flows.lay("follow-up", flow.Trigger{Event: "order-shipped"}, followUp)
		r.run()
		p := r.person("34600120001")
		r.bind(p.number, shipped("n1", "order-shipped"))
		p.text("hi")
		asks := "Hola Ana, ¿recibió su pedido A-7? [sí] [no]"
		p.got(asks)
		p.text("Si")
		p.got(asks, "Gracias")
		if run := p.newestRun(); run.NotificationID != "n1" || run.Event != "order-shipped" || run.Variables["received"] != "sí" {
			t.Errorf("the run is %+v", run)
		}
		p.text("hi")
		p.until("it is taken in", func() bool { return p.conversation().State == chats.Missed })
		p.got(asks, "Gracias")
	})
}

// An event without a flow is recorded in the conversation, and the flow of the previous notification starts.
func TestAnEventOfNoFlowIsShownAndHidesNone(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.flows.lay("follow-up", flow.Trigger{Event: "order-shipped"}, followUp)
		r.sent["wamid.n"] = "Hello A-7."
		r.run()
		const asks, shown = "Hola Ana, ¿recibió su pedido A-7? [sí] [no]", "< Hola Ana, ¿recibió su pedido A-7? [sí no]"
		a := r.person("34600120001")
		r.bind(a.number, shipped("n2", "no-such-flow <b>"), shipped("n1", "order-shipped"))
		a.text("hi")
		a.got(asks)
		a.shows("* event_unknown no-such-flow <b>", "> hi", "* flow_began follow-up", shown)
		// A reply to the notification with the unknown event starts nothing.
		b := r.person("34600120002")
		r.bind(b.number, shipped("n4", "no-such-flow"))
		b.write("wamid.b1", `{"type":"button","button":{"payload":"p","text":"Details"},"context":{"id":"wamid.n"}}`)
		b.shows("* event_unknown no-such-flow", "> Details {Hello A-7.}", "* handoff_requested", "* missed")
		// A reaction may refer to a notification too, and starts nothing.
		c := r.person("34600120003")
		r.bind(c.number, shipped("n5", "order-shipped"))
		c.write("wamid.c1", `{"type":"reaction","reaction":{"message_id":"wamid.n","emoji":"👍"}}`)
		c.shows("* reacted 👍 {Hello A-7.}")
		// Nor does a reply to a message of a flow.
		d := r.person("34600120004")
		r.bind(d.number)
		d.text("echo")
		d.got("What?")
		d.text("Blue")
		d.got("What?", "Blue")
		r.until("the channel's id of the reply is stored", func() bool {
			seq, err := r.db.Replies.SeqOf(t.Context(), r.company.ID, d.conversation().ID, d.last().id)
			return err == nil && seq > 0
		})
		r.bind(d.number, shipped("n6", "order-shipped"))
		d.write("wamid.d1", `{"type":"text","text":{"body":"Really?"},"context":{"id":"`+d.last().id+`"}}`)
		d.shows("> echo", "* flow_began echo", "< What?", "> Blue", "< Blue", "> Really? {Blue}", "* handoff_requested", "* missed")
	})
}

// The webhook event of a message contains its parts, for all types.
func TestTheEventOfAMessageHasItsParts(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		if err := r.db.Topics.Follow(t.Context(), r.company.ID, events.Conversations); err != nil {
			t.Fatal(err)
		}
		r.run()
		p := r.person("34600120009")
		want := []string{}
		for i, c := range []struct{ message, parts string }{
			{
				`{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":"{\"full_name\":\"Ana\"}"}}}`,
				`"form":[{"name":"full_name","question":"full name","answer":"Ana"}]`,
			},
			{
				`{"type":"order","order":{"catalog_id":"c","product_items":[{"product_retailer_id":"A","quantity":2,` +
					`"item_price":9.9,"currency":"EUR"}]}}`,
				`"order":{"catalog_id":"c","items":[{"product_id":"A","quantity":"2","price":"9.9","currency":"EUR"}]}`,
			},
			{
				`{"type":"contacts","contacts":[{"phones":[{"wa_id":"34600111333"}],"emails":[{"email":"b@acme.test"}]}]}`,
				`"cards":[{"numbers":["+34600111333"],"emails":["b@acme.test"]}]`,
			},
			{`{"type":"location","location":{"latitude":1.5,"longitude":2}}`, `"location":{"latitude":1.5,"longitude":2}`},
			{
				`{"type":"text","text":{"body":"Hi"},"context":{"referred_product":{"product_retailer_id":"A"}},` +
					`"referral":{"source_type":"ad","source_id":"1","headline":"Whales","ctwa_clid":"c"}}`,
				`"product":{"product_id":"A"},"referral":{"source_type":"ad","source_id":"1","headline":"Whales","ctwa_clid":"c"}`,
			},
			{`{"type":"text","text":{"body":"Hi all"},"group_id":"g"}`, `"group":"g"`},
		} {
			r.pass(time.Second)
			p.write(fmt.Sprint("wamid.part.", i), c.message)
			want = append(want, c.parts)
		}
		r.until("all are taken in", func() bool { return r.counts.of("shown") == len(want) })
		all, err := r.db.Topics.EventsAfter(t.Context(), r.company.ID, events.Conversations, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, e := range all {
			if e.Kind != "message.received" {
				continue
			}
			if !strings.Contains(string(e.Payload), want[got]) {
				t.Errorf("the event is %s, without %s", e.Payload, want[got])
			}
			got++
		}
		if got != len(want) {
			t.Errorf("%d events of %d messages", got, len(want))
		}
	})
}
