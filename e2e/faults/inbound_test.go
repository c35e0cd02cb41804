package faults

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/identity"
)

// inboundForms are messages of type text in every form, and malformed ones: what stands next to who wrote it, and the contacts of the
// callback. Each is shown in the conversation of its author, or the conversation says that there was a message that cannot be shown.
var inboundForms = []struct{ message, contacts string }{
	{`"type":"text","text":{"body":"Hola"}`, `[]`},
	{`"type":"text","text":{"body":"Hola"},"context":{"from":"15555550100","id":"wamid.unknown"}`, `[]`},
	{`"type":"text","text":{"body":"Hola"},"context":{"forwarded":true}`, `[]`},
	{`"type":"text","text":{"body":"Hola"},"context":[1]`, `[]`},
	{`"type":"text","text":{"body":"` + strings.Repeat("x", 9000) + `"}`, `[]`},
	{`"type":"text","text":{"body":"a\u0000b\u202e 👩‍👩‍👧‍👦"}`, `[]`},
	{`"type":"text","text":{"body":" \n "}`, `[]`},
	{`"type":"text","text":{"body":null}`, `[]`},
	{`"type":"text","text":{"body":7}`, `[]`},
	{`"type":"text","text":{}`, `[]`},
	{`"type":"text","text":"Hola"`, `[]`},
	{`"type":"text","text":null`, `[]`},
	{`"type":"text"`, `[]`},
	{`"text":{"body":"Hola"}`, `[]`},
	{`"type":null,"text":{"body":"Hola"}`, `[]`},
	{`"type":["text"],"text":{"body":"Hola"}`, `[]`},
	{`"type":"text_v2","text":{"body":"Hola"}`, `[]`},
	{`"type":"text","text":{"body":"Hola"},"errors":[{"code":131051}]`, `[]`},
	{`"type":"text","text":{"body":"Hola"},"from_parent_user_id":"US.ENT.118157"`, `[]`},
	{`"type":"text","text":{"body":"Hola","preview":[[{}]]},"new_in_v99":{"a":[1,{"b":null}]}`, `[]`},
	{`"type":"text","text":{"body":"Hola"}`, `null`},
	{`"type":"text","text":{"body":"Hola"}`, `{}`},
	{`"type":"text","text":{"body":"Hola"}`, `"contacts"`},
	{`"type":"text","text":{"body":"Hola"}`, `[null]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[[]]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{"wa_id":null,"user_id":null,"profile":null}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{"wa_id":7,"profile":{"name":7}}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{"profile":"Ana"}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{"profile":{"name":"Ana","username":"ana.r"}}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{"wa_id":"34999999999","profile":{"name":"Somebody else"}}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{"user_id":"US.99999999","profile":{"name":"Somebody else"}}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{"user_id":"no id","wa_id":"no number","profile":{"name":"Ana"}}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{ID,"profile":{"name":"Ana"}}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{ID,"profile":{"name":"Ana","username":null}}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{ID,"profile":{"name":"` + strings.Repeat("n", 5000) + `","username":"` + strings.Repeat("u", 5000) + `"}}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{ID,"profile":{"name":"\u0000\u202e","username":"\u0000"}}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{ID,"parent_user_id":"US.ENT.1","profile":{"name":"Ana"}}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{"user_id":"US.99999999"},{ID,"profile":{"name":"Ana"}}]`},
	{`"type":"text","text":{"body":"Hola"}`, `[{ID,"profile":{"name":"Ana"}},{ID,"profile":{"name":"Ana"}}]`},
}

// writer is somebody who writes one message, and is known by the number or by an id alone.
type writer struct{ number, id string }

func (w writer) key() identity.Key {
	if w.number != "" {
		return identity.Number(w.number)
	}
	return identity.User(w.id)
}

// body is the callback with the writer's message.
func (w writer) body(n int, form, contacts string) []byte {
	from, known := fmt.Sprintf(`"from":"%s"`, w.number), fmt.Sprintf(`"wa_id":"%s"`, w.number)
	if w.number == "" {
		from, known = fmt.Sprintf(`"from_user_id":"%s"`, w.id), fmt.Sprintf(`"user_id":"%s"`, w.id)
	}
	return fmt.Appendf(nil, `{"object":"whatsapp_business_account","entry":[{"id":"2000001","changes":[{"field":"messages","value":{
		"messaging_product":"whatsapp","metadata":{"display_phone_number":"15555550100","phone_number_id":"1000001"},"contacts":%s,
		"messages":[{%s,"id":"wamid.form.%d","timestamp":"%d",%s}]}}]}]}`,
		strings.ReplaceAll(contacts, "ID", known), from, n, time.Now().Unix(), form)
}

// Each message that a node took, from people with and without a number, is shown or its conversation says that there was one, however often
// the node is killed.
func TestEveryMessageThatCameInIsShownOverKills(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := newFlowSite(t, engine, 1)
			var people []writer
			for i := range inboundForms {
				people = append(people, writer{number: fmt.Sprintf("3460077%04d", i)}, writer{id: fmt.Sprintf("US.77%04d", i)})
			}
			next, taken := make(chan int, len(people)), make(chan struct{}, len(people))
			for i := range people {
				next <- i
			}
			close(next)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for i := range next {
						form := inboundForms[i/2]
						s.deliver(people[i].body(i, form.message, form.contacts))
						taken <- struct{}{}
					}
				})
			}
			for n := range people {
				select {
				case <-taken:
				case <-time.After(hung):
					t.Fatal("a message is not taken")
				}
				if n%16 == 7 {
					s.nodes[0].kill()
					s.nodes[0].start()
				}
			}
			all.Wait()
			waiting := 1
			if !await(t.Context(), hung, func() bool {
				// What a node was taking in when it died waits for a minute.
				_, err := s.db.Exec("UPDATE inbound_message SET due_at = 1 WHERE due_at > 0")
				if err == nil {
					err = s.db.QueryRow("SELECT COUNT(*) FROM inbound_message WHERE due_at > 0").Scan(&waiting)
				}
				return err == nil && waiting == 0
			}) {
				t.Fatalf("%d messages wait", waiting)
			}
			if status := s.nodes[0].stop(hung); status != 0 {
				t.Errorf("the node ended with %d", status)
			}
			received := 0
			if err := s.db.QueryRow("SELECT COUNT(*) FROM inbound_message").Scan(&received); err != nil || received != len(people) {
				t.Errorf("%d of %d messages were received, %v", received, len(people), err)
			}
			for i, w := range people {
				shown := 0
				err := s.db.QueryRow(`SELECT COUNT(*) FROM turn AS t JOIN conversation AS c ON c.id = t.conversation_id JOIN contact_identity AS i ON i.contact_id = c.contact_id
					WHERE i.value = $1 AND (t.author = 'visitor' OR t.kind = 'event' AND t.payload LIKE '%"not_shown"%')`, w.key().String()).Scan(&shown)
				if err != nil || shown != 1 {
					t.Errorf("%+v: message %d is shown %d times, %v", w, i/2, shown, err)
				}
			}
		})
	}
}
