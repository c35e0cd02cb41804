package messaging_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/store/chats"
	"carillon/internal/whatsapp/graphtest"
)

// counts are what became of messages, as metrics have it.
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

// of are the messages with a result.
func (c *counts) of(result string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, m := range c.all {
		if strings.HasSuffix(key, " "+result) {
			n += m
		}
	}
	return n
}

const (
	unreadable  = "We cannot read this kind of message here. Please write it as a text."
	fileMissing = "Your file did not reach us. Please send it again."
)

// Nothing that a person sends vanishes: it is shown, or the person is asked for another form.
func TestEveryMessageIsShownOrDeclined(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		for id, f := range graphtest.SampleFiles() {
			r.channel.put(id, file{mime: f.Type, data: f.Data})
		}
		r.run()
		samples := graphtest.Samples()
		if len(samples) < 40 {
			t.Fatalf("only %d messages", len(samples))
		}
		people := make([]*person, len(samples))
		declined := 0
		for i := range samples {
			p := r.person(fmt.Sprintf("346004%05d", i))
			people[i] = p
			m, err := samples[i].Message(map[string]any{"from": p.number}, fmt.Sprint("wamid.sample.", i), r.now())
			if err != nil {
				t.Fatalf("%s: %v", samples[i].Name, err)
			}
			p.writes(m)
			if samples[i].Declined {
				declined++
			}
		}
		r.until("all are taken in", func() bool {
			return r.counts.of("shown")+r.counts.of("declined")+r.counts.of("failed")+r.counts.of("ignored") >= len(samples)
		})
		if shown := r.counts.of("shown"); shown != len(samples)-declined || r.counts.of("declined") != declined {
			t.Errorf("of %d messages, of which %d cannot be read: %v", len(samples), declined, r.counts.all)
		}
		for i, p := range people {
			s := samples[i]
			turns, id := p.turns(), ""
			if s.Group != "" {
				if len(turns) > 0 {
					t.Errorf("%s: in the conversation of the person is shown %q", s.Name, p.lines())
				}
				turns, id = p.groupTurns(s.Group)
			} else if c := p.conversation(); c != nil {
				id = c.ID
			}
			shown := slices.ContainsFunc(turns, func(x chats.Turn) bool {
				return (x.Author == chats.Visitor || x.Author == chats.System) && strings.Contains(x.Text, s.Text)
			})
			if w, err := r.db.Replies().Window(t.Context(), r.company.ID, id); err != nil || w != nil && (s.Group != "" || w.Until.Before(r.now().Add(23*time.Hour))) {
				t.Errorf("%s: the window is %+v, %v", s.Name, w, err)
			}
			if n := len(turns); !shown || n > 5 {
				t.Errorf("%s: %d turns, %q is not among them: %q", s.Name, n, s.Text, p.lines())
			}
			if s.Declined {
				p.until("it is declined", func() bool { return len(p.gets()) > 0 })
			}
			if got := p.gets(); s.Declined != (slices.Contains(got, unreadable) || slices.Contains(got, fileMissing)) || len(got) > 1 {
				t.Errorf("%s: the person gets %q", s.Name, got)
			}
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

// labels are all that messages are counted by.
var labels = []string{
	"text", "button", "choice", "form", "order", "contacts", "location", "image", "video", "audio", "document", "sticker", "reaction", "edit", "revoke",
	"call_permission_reply", "system", "unsupported", "other",
}

// groupTurns are those of the conversation of a group, whose id it returns too.
func (r *rig) groupTurns(group string) (turns []chats.Turn, conversationID string) {
	r.t.Helper()
	page, _, err := r.db.Chats().List(r.t.Context(), chats.Filter{CompanyID: r.company.ID, Folder: "all", Limit: 200})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, l := range page {
		if !l.Group {
			continue
		}
		turns, err := r.db.Chats().Turns(r.t.Context(), r.company.ID, l.ID, 0, 1000)
		if err != nil {
			r.t.Fatal(err)
		}
		contact, err := r.db.Chats().ContactOf(r.t.Context(), r.company.ID, l.ContactID)
		if err != nil {
			r.t.Fatal(err)
		}
		if contact.VisitorID == "group:"+group {
			return turns, l.ID
		}
	}
	return nil, ""
}

// What is written in a group opens no window, obeys no STOP, starts no flow and takes part in none.
func TestAGroupIsOnlyRead(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.putFiles()
		r.run()
		p := r.person("34600910001")
		p.text("echo")
		p.got("What?")
		before, err := r.db.Replies().Window(t.Context(), r.company.ID, p.conversation().ID)
		if err != nil {
			t.Fatal(err)
		}
		for i, members := range []string{
			`{"type":"text","text":{"body":"STOP"}}`, `{"type":"text","text":{"body":"echo"}}`, `{"type":"button","button":{"payload":"STOP","text":"No more"}}`,
			`{"type":"image","image":{"id":"png","mime_type":"image/png"}}`, `{"type":"image","image":{"id":"gone","mime_type":"image/png"}}`,
			`{"type":"reaction","reaction":{"message_id":"wamid.g.0","emoji":"👍"}}`,
		} {
			r.pass(time.Second) // messages of one instant are taken in at once
			p.write(fmt.Sprint("wamid.g.", i), members[:len(members)-1]+`,"group_id":"g"}`)
		}
		r.until("all are taken in", func() bool { return r.counts.of("shown")+r.counts.of("declined") == 7 })
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
		if want := []string{"Ana 34600910001: STOP", "Ana 34600910001: echo", "Ana 34600910001: No more", "Ana 34600910001:", "Ana 34600910001: file_missingimage/png", "Ana 34600910001: reacted👍STOP"}; !slices.Equal(lines, want) {
			t.Errorf("the group shows %q, not %q", lines, want)
		}
		after, err := r.db.Replies().Window(t.Context(), r.company.ID, p.conversation().ID)
		if err != nil || *after != *before {
			t.Errorf("the window is %+v, not %+v: %v", after, before, err)
		}
		p.text("Hola")
		p.got("What?", "Hola")
	})
}

// Two machines that write to each other what neither can read stop after the first notice.
func TestANoticeIsNotRepeated(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		r.run()
		p := r.person("34600910002")
		for i := range 5 {
			p.write(fmt.Sprint("wamid.poll.", i), `{"type":"unsupported","unsupported":{"type":"poll"}}`)
			r.pass(time.Second) // messages of one instant are taken in at once
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
			{"es", "Aquí no podemos leer este tipo de mensaje. Por favor, escríbalo como texto."}, {"pt-BR", "Aqui não conseguimos ler este tipo de mensagem. Por favor, escreva como texto."}, {"de", unreadable},
		} {
			p := r.person(fmt.Sprintf("346009200%02d", i))
			r.bind(p.number, &chats.Bound{Event: "x", NotificationID: "n", Language: c.language})
			p.write("wamid.poll."+c.language, `{"type":"poll"}`)
			p.got(c.notice)
		}
	})
}
