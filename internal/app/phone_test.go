package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/store/storetest"
)

// handset is a sandbox phone, used through the panel's routes.
type handset struct {
	talk
	token, number string
	n             int
}

const handsetPath = "/panel/v1/sandbox/phone"

// shows returns the messages on the phone in short form, oldest first, and their IDs.
func (h *handset) shows() (lines []string, ids map[string]string) {
	h.t.Helper()
	got := h.ask("GET", handsetPath+"?sender=demo&number="+h.number, h.token, "", http.StatusOK)
	ids = map[string]string{}
	for _, x := range got["messages"].([]any) {
		m := x.(map[string]any)
		line := fmt.Sprint(m["text"])
		if m["own"] == true {
			line = "> " + line
		}
		for _, field := range []string{"buttons", "choices"} {
			all, _ := m[field].([]any)
			for _, b := range all {
				if of, ok := b.(map[string]any); ok {
					b = of["text"]
				}
				line += fmt.Sprintf(" [%v]", b)
			}
		}
		lines = append(lines, line)
		ids[line] = m["id"].(string)
	}
	return lines, ids
}

// until waits for a message on the phone and returns its channel ID.
func (h *handset) until(line string) string {
	h.t.Helper()
	id := ""
	app.Within(h.t, fmt.Sprintf("the phone shows %q", line), func() bool {
		_, ids := h.shows()
		id = ids[line]
		return id != ""
	})
	return id
}

// startHandset starts the demo on a database, with the phone of a number or a username.
func startHandset(t *testing.T, engine, number string) *handset {
	t.Helper()
	a, _ := demo(t, func(c *config.Config) {
		if engine == "postgres" {
			c.DatabaseURL, c.MasterKeyFile = config.Secret(storetest.PatientPostgres(t)), storetest.MasterKey(t)
		}
	})
	h := &handset{talk: talk{t: t, a: a}, number: number}
	h.token = h.signIn("owner@demo.test")
	return h
}

func (h *handset) write(what string) {
	h.t.Helper()
	h.n++
	h.ask("POST", handsetPath+"/messages", h.token,
		fmt.Sprintf(`{"sender":"demo","number":%q,"client_id":"%d","name":"Ana",%s}`, h.number, h.n, what), http.StatusOK)
}

func (h *handset) reach(yes bool) {
	h.t.Helper()
	h.ask("PUT", handsetPath, h.token, fmt.Sprintf(`{"sender":"demo","number":%q,"unreachable":%t}`, h.number, !yes), http.StatusNoContent)
}

func TestAPhoneOfTheSandboxWalksAFlow(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			h := startHandset(t, engine, "34600701234")
			h.ask("POST", "/functions/v1/notify?access_key=ck_demo_4Hq7vT2mZc9LwXs1KdYb8RnE", "",
				fmt.Sprintf(`{"contact":{"number":%q,"name":"Ana"},"language_template":"en",
				"name_template":"booking_confirmed","recipient_id":"demo","notification_type":"utility","campaign_name":"c",
					"name_event":"booking-confirmed",
				"components_push":{"header_text":"HT-7","body_text_0":"{{name}}","body_text_1":"Monday","body_text_2":"pier 3",
					"button_url_0":"HT-7"}}`, h.number), http.StatusOK)
			id := h.until("Hello Ana, your tour on Monday is booked. We meet at pier 3. [Your booking] [Thank you]")
			h.write(fmt.Sprintf(`"kind":"choice","text":"Thank you","reply_to":%q`, id))
			id = h.until("Hello Ana, is there anything you would like to know about your tour? [yes] [no]")
			h.reach(false)
			h.ask("POST", handsetPath+"/messages", h.token,
				fmt.Sprintf(`{"sender":"demo","number":%q,"client_id":"x","kind":"text","text":"no"}`, h.number), http.StatusConflict)
			h.reach(true)
			h.write(fmt.Sprintf(`"kind":"choice","text":"no","reply_to":%q`, id))
			h.until("See you on the pier!")
			h.write(`"kind":"text","text":"STOP"`)
			h.until("You're unsubscribed. Reply START to resubscribe.")
			lines, _ := h.shows()
			want := []string{
				"Hello Ana, your tour on Monday is booked. We meet at pier 3. [Your booking] [Thank you]", "> Thank you",
				"Hello Ana, is there anything you would like to know about your tour? [yes] [no]", "> no", "See you on the pier!", "> STOP",
				"You're unsubscribed. Reply START to resubscribe.",
			}
			if strings.Join(lines, "\n") != strings.Join(want, "\n") {
				t.Errorf("the phone shows\n%s", strings.Join(lines, "\n"))
			}
			if other := h.ask("GET", handsetPath+"?sender=demo&number=34600701235", h.token, "",
				http.StatusOK); len(other["messages"].([]any)) > 0 {
				t.Errorf("another phone shows %v", other)
			}
		})
	}
}

func TestATeammateSeesWhereATemplateStands(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, nil)
	h := &handset{talk: talk{t: t, a: a}, number: "34600701236"}
	h.token = h.signIn("owner@demo.test")
	h.write(`"kind":"text","text":"Hello?"`)
	conversation := ""
	app.Within(t, "a conversation", func() bool {
		all := h.ask("GET", "/panel/v1/conversations?folder=all", h.token, "", http.StatusOK)["data"].([]any)
		if len(all) > 0 {
			conversation = all[0].(map[string]any)["id"].(string)
		}
		return conversation != ""
	})
	path := "/panel/v1/conversations/" + conversation
	app.Within(t, "the window in which it is replied to", func() bool {
		return h.ask("GET", path, h.token, "", http.StatusOK)["window"] != nil
	})
	sent := h.ask("POST", path+"/templates", h.token,
		`{"client_id":"t","name":"hello","language":"en","variables":{"body_text_0":"Ana"}}`, http.StatusOK)
	seq := sent["turn"].(map[string]any)["seq"]
	app.Within(t, "the template is read", func() bool {
		deliveries, _ := h.ask("GET", path, h.token, "", http.StatusOK)["deliveries"].([]any)
		for _, d := range deliveries {
			if d := d.(map[string]any); d["seq"] == seq {
				return d["state"] == "read"
			}
		}
		return false
	})
}

// The page of a phone and the node that sends to it may be different.
func TestAPhoneOfTheSandboxIsTheSameOnEveryNode(t *testing.T) {
	t.Parallel()
	address, key := config.Secret(storetest.PatientPostgres(t)), storetest.MasterKey(t)
	var all [2]*handset
	for i := range all {
		a, _ := demo(t, func(c *config.Config) { c.DatabaseURL, c.MasterKeyFile = address, key })
		all[i] = &handset{talk: talk{t: t, a: a}, number: "34600701250"}
		all[i].token = all[i].signIn("owner@demo.test")
	}
	all[0].ask("POST", "/panel/v1/flows", all[0].token, `{"name":"two","trigger":{"keywords":["colours"]},"steps":[
		{"say":"Which?"},{"ask":"x","choices":["red","blue"]},{"wait":"1s"},{"say":"It is {{x}}"},{"ask":"y"}]}`, http.StatusCreated)
	for i, here := range all {
		there := all[1-i]
		// Each phone counts its own messages.
		here.write(fmt.Sprintf(`"kind":"text","text":"Colours","reply_to":"%d"`, i))
		there.n = here.n
		id := there.until("Which? [red] [blue]")
		there.write(fmt.Sprintf(`"kind":"choice","text":"blue","payload":"choice.2","reply_to":%q`, id))
		here.n = there.n
		here.until("It is blue")
		here.reach(false)
		there.ask("POST", handsetPath+"/messages", there.token,
			fmt.Sprintf(`{"sender":"demo","number":%q,"client_id":"x","kind":"text","text":"no"}`, here.number), http.StatusConflict)
		there.reach(true)
		here.write(`"kind":"text","text":"STOP"`)
		there.n = here.n
		there.until("You're unsubscribed. Reply START to resubscribe.")
		for _, h := range all {
			h.number = "34600701251"
		}
	}
}

// If a flow names something that the company does not have, its run reports that, and nothing is sent by another
// sender.
func TestAFlowSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, nil)
	h := &handset{talk: talk{t: t, a: a}}
	h.token = h.signIn("owner@demo.test")
	const agent = "3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11" // an agent of the demo
	lacks := []struct{ step, want string }{
		{
			`{"send_template":{"name":"hello","language":"en","sender":"999","variables":{"body_text_0":"x"}}}`,
			"The company has no messaging sender 999",
		},
		{
			`{"send_template":{"name":"hello","language":"en","sender":"demo-line","variables":{"body_text_0":"x"}}}`,
			"The company has no messaging sender demo-line",
		},
		{`{"place_call":{"agent":"` + agent + `","line":"other"}}`, "The company has no voice sender other"},
		{`{"send_template":{"name":"nope","language":"en"}}`, "The template nope (en): Template not found"},
	}
	for i, c := range lacks {
		h.number = fmt.Sprintf("3460070126%d", i)
		h.ask("POST", "/panel/v1/flows", h.token,
			fmt.Sprintf(`{"name":"lacks %d","trigger":{"keywords":["lacks %d"]},"steps":[%s,{"say":"done"}]}`, i, i, c.step),
			http.StatusCreated)
		h.write(fmt.Sprintf(`"kind":"text","text":"lacks %d"`, i))
	}
	failed := map[string]bool{}
	app.Within(t, "all runs have failed", func() bool {
		for _, x := range h.ask("GET", "/panel/v1/flow-runs?state=failed&limit=100", h.token, "", http.StatusOK)["data"].([]any) {
			failed[strings.TrimPrefix(fmt.Sprint(x.(map[string]any)["error"]), "steps.0: ")] = true
		}
		return len(failed) >= len(lacks)
	})
	for _, c := range lacks {
		if !failed[c.want] {
			t.Errorf("%s: not %q, but %v", c.step, c.want, failed)
		}
	}
}
