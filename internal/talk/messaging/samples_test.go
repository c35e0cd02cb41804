package messaging_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
)

// counts are the results of messages as counted by metrics.
type counts struct {
	mu  sync.Mutex
	all map[string]int // by label and result
}

func (c *counts) Wrote(label, result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]int{}
	}
	c.all[label+" "+result]++
}

func (*counts) Replied(string) {}

// of returns the number of messages with a result, or with any result if it is empty.
func (c *counts) of(result string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, m := range c.all {
		if result == "" || strings.HasSuffix(key, " "+result) {
			n += m
		}
	}
	return n
}

const (
	unreadable  = "We can't read this type of message here. Please send it as text."
	fileMissing = "We didn't get your file. Please send it again."
	fileRefused = "We can't accept this type of file. Please send it as a PDF or an image."
)

// sampled is a sample written by a person.
type sampled struct {
	graphtest.Written
	*person
}

// writeSamples delivers each sample twice, from a person with a number and from one without.
func (r *rig) writeSamples() (all []*sampled) {
	r.t.Helper()
	for id, f := range graphtest.SampleFiles() {
		r.channel.put(id, file{mime: f.Type, data: f.Data})
	}
	samples := graphtest.Samples()
	for i := range samples {
		for _, p := range []*person{r.person(fmt.Sprintf("346004%05d", i)), r.nameless(fmt.Sprintf("US.4%05d", i))} {
			w := &sampled{graphtest.Written{
				Sample: &samples[i], By: graphtest.Author{Number: p.number, UserID: p.user, Name: "Ana " + p.address()},
				ID: "wamid.sample." + p.address(), At: r.now(),
			}, p}
			all = append(all, w)
			body, err := graphtest.WrittenBody(phoneID, "", &w.Written)
			if err != nil {
				r.t.Fatal(err)
			}
			r.take(r.sender, body)
			r.take(r.sender, body)
			if w.Renews {
				by := w.By.Renewed()
				w.person = &person{rig: r, number: by.Number, user: by.UserID}
			}
		}
	}
	return all
}

// shown returns the turns that result from a sample, and their conversation.
func (w *sampled) shown() (turns []chats.Turn, conversationID string) {
	w.t.Helper()
	turns = w.turns()
	if c := w.conversation(); c != nil {
		conversationID = c.ID
	}
	if w.Group != "" {
		if len(turns) > 0 {
			w.t.Errorf("%s: in the conversation of the person is shown %q", w.Name, w.lines())
		}
		turns, conversationID = w.groupTurns(w.Group)
	}
	return slices.DeleteFunc(turns, func(x chats.Turn) bool {
		of := x.Author == chats.Visitor || x.Author == chats.System && slices.Contains(aboutMessages, x.Extra.Event)
		return !of || w.Group != "" && x.Extra.Name != w.By.Name
	}), conversationID
}

// aboutMessages are the events that a message may become.
var aboutMessages = []string{
	conversation.Reacted, conversation.Edited, conversation.Deleted, conversation.Permission, conversation.Identity,
	conversation.NotShown, conversation.NoFile, conversation.Renumbered,
}

// No message of a person is lost: it is shown, or the person is asked for another form.
func TestEveryMessageIsShownOrDeclined(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		all := r.writeSamples()
		want := counts{}
		for _, w := range all {
			switch {
			case w.Unnamed: // counted by the endpoint
			case w.Silent:
				want.Wrote("", "applied")
			case w.Declined:
				want.Wrote("", "declined")
			default:
				want.Wrote("", "shown")
			}
		}
		r.until("all are taken in", func() bool { return r.counts.of("") >= want.of("") })
		for _, result := range []string{"shown", "declined", "applied", "failed", "ignored"} {
			if r.counts.of(result) != want.of(result) {
				t.Errorf("of %d messages %d are %s, not %d: %v", len(all), r.counts.of(result), result, want.of(result), r.counts.all)
			}
		}
		for _, w := range all {
			w.check()
		}
		if got := r.log.String(); strings.Count(got, "is not understood") != 1 || strings.Contains(got, "take in") {
			t.Errorf("the log: %s", got)
		}
		for key := range r.counts.all {
			if label, _, _ := strings.Cut(key, " "); !slices.Contains(labels, label) {
				t.Errorf("a label is %q", label)
			}
		}
	})
}

// check checks the result of a sample.
func (w *sampled) check() {
	w.t.Helper()
	turns, id := w.shown()
	who := w.Name + " of " + w.By.Address()
	if w.Unnamed || w.Silent {
		if len(turns) > 0 || len(w.gets()) > 0 {
			w.t.Errorf("%s: %d turns, and the person gets %q", who, len(turns), w.gets())
		}
		return
	}
	window, err := w.db.Replies.Window(w.t.Context(), w.company.ID, id)
	closes := func() bool { // in a day
		left := window.Until.Sub(w.now())
		return left > 23*time.Hour && left < 25*time.Hour
	}
	if err != nil || window != nil && (w.Group != "" || !closes()) {
		w.t.Errorf("%s: the window is %+v, %v", who, window, err)
	}
	said := map[string]int{}
	for _, x := range turns {
		said[string(x.Author)+x.Extra.Event]++
	}
	for what, n := range said {
		if n > 1 {
			w.t.Errorf("%s: it is shown %d times (%s)", who, n, what)
		}
	}
	if !slices.ContainsFunc(turns, func(x chats.Turn) bool { return strings.Contains(x.Text, w.Shown()) }) {
		w.t.Errorf("%s: %d turns, %q is not among them: %q", who, len(turns), w.Shown(), w.lines())
	}
	if w.Asks() {
		w.until(who+" is asked for another form", func() bool { return len(w.gets()) > 0 })
	}
	got := w.gets()
	asked := slices.ContainsFunc(got, func(s string) bool { return slices.Contains([]string{unreadable, fileMissing, fileRefused}, s) })
	if asked != w.Asks() || len(got) > 1 {
		w.t.Errorf("%s: the person gets %q", who, got)
	}
}

// labels are all labels under which messages are counted.
var labels = []string{
	"text", "button", "choice", "form", "order", "contacts", "location", "image", "video", "audio", "document", "sticker",
	"reaction", "edit", "revoke",
	"call_permission_reply", "system", "unsupported", "other",
}

// groupTurns returns the turns and the ID of a group's conversation.
func (r *rig) groupTurns(group string) (turns []chats.Turn, conversationID string) {
	r.t.Helper()
	err := r.db.DB.Row(r.t.Context(), []any{&conversationID}, `SELECT c.id FROM conversation AS c JOIN contact AS p ON p.id = c.contact_id
		WHERE p.company_id = $1 AND p.visitor_id = $2`, r.company.ID, "group:"+group)
	if err != nil {
		r.t.Fatal(err)
	}
	turns, err = r.db.Chats.Turns(r.t.Context(), r.company.ID, conversationID, 0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	return turns, conversationID
}

// A message in a group opens no window, obeys no STOP, and neither starts a flow nor answers one.
func TestAGroupIsOnlyRead(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.putFiles()
		r.run()
		p := r.person("34600910001")
		p.text("echo")
		p.got("What?")
		before, err := r.db.Replies.Window(t.Context(), r.company.ID, p.conversation().ID)
		if err != nil {
			t.Fatal(err)
		}
		for i, members := range []string{
			`{"type":"text","text":{"body":"STOP"}}`, `{"type":"text","text":{"body":"echo"}}`,
			`{"type":"button","button":{"payload":"STOP","text":"No more"}}`,
			`{"type":"image","image":{"id":"png","mime_type":"image/png"}}`,
			`{"type":"image","image":{"id":"gone","mime_type":"image/png"}}`,
			`{"type":"reaction","reaction":{"message_id":"wamid.g.0","emoji":"👍"}}`,
		} {
			r.pass(time.Second) // messages of the same instant are processed together
			p.write(fmt.Sprint("wamid.g.", i), members[:len(members)-1]+`,"group_id":"g"}`)
		}
		r.until("all are taken in", func() bool { return r.counts.of("shown") == 7 })
		r.comeToRest()
		p.shows("> echo", "* flow_began echo", "< What?")
		p.got("What?")
		checkSuppressed(t, p, "STOP in a group", false)
		var lines []string
		turns, _ := r.groupTurns("g")
		for _, x := range turns {
			lines = append(lines, strings.TrimSpace(x.Extra.Name+": "+x.Extra.Event+x.Text+x.Extra.About))
			if x.Extra.Group != "g" || x.Extra.Writer != p.number {
				t.Errorf("%q has the group %q and the writer %q", x.Text, x.Extra.Group, x.Extra.Writer)
			}
		}
		if want := []string{
			"Ana 34600910001: STOP", "Ana 34600910001: echo", "Ana 34600910001: No more", "Ana 34600910001:",
			"Ana 34600910001: file_missingimage/png", "Ana 34600910001: reacted👍STOP",
		}; !slices.Equal(lines, want) {
			t.Errorf("the group shows %q, not %q", lines, want)
		}
		after, err := r.db.Replies.Window(t.Context(), r.company.ID, p.conversation().ID)
		if err != nil || *after != *before {
			t.Errorf("the window is %+v, not %+v: %v", after, before, err)
		}
		p.text("Hola")
		p.got("What?", "Hola")
	})
}

// Two machines that send each other unreadable messages stop after the first notice.
func TestANoticeIsNotRepeated(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.run()
		p := r.person("34600910002")
		for i := range 5 {
			p.write(fmt.Sprint("wamid.poll.", i), `{"type":"unsupported","unsupported":{"type":"poll"}}`)
			r.pass(time.Second) // messages of the same instant are processed together
		}
		p.got(unreadable)
		p.text("echo")
		p.got(unreadable, "What?")
		p.write("wamid.poll.5", `{"type":"unsupported"}`)
		p.got(unreadable, "What?", unreadable)
		p.text("Hola")
		p.got(unreadable, "What?", unreadable, "Hola")
	})
}

func TestANoticeIsInTheLanguageOfTheConversation(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.run()
		for i, c := range []struct{ language, notice string }{
			{"es", "Aquí no podemos leer este tipo de mensaje. Por favor, escríbalo como texto."},
			{"pt-BR", "Aqui não conseguimos ler este tipo de mensagem. Por favor, escreva como texto."},
			{"de", unreadable},
		} {
			p := r.person(fmt.Sprintf("346009200%02d", i))
			r.bind(p.number, &chats.Bound{Event: "x", NotificationID: "n", Language: c.language})
			p.write("wamid.poll."+c.language, `{"type":"poll"}`)
			p.got(c.notice)
		}
	})
}
