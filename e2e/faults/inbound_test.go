package faults

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/identity"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/talk/conversation"
)

// callback is a callback of the channel with samples that people write.
type callback struct {
	body    []byte
	samples []*graphtest.Written
}

// mail returns all samples, each written by a person with a number and by one without, in posts of one or several. One
// person writes several messages at once.
func mail(t *testing.T, d dice) (all []*callback) {
	t.Helper()
	samples, now := graphtest.Samples(), time.Now()
	var shared, alone []*graphtest.Written
	for i := range samples {
		s := &samples[i]
		for _, by := range []graphtest.Author{{Number: fmt.Sprintf("3460077%04d", i)}, {UserID: fmt.Sprintf("US.77%04d", i)}} {
			by.Name = "Ana " + by.Address()
			w := &graphtest.Written{Sample: s, By: by, ID: "wamid.sample." + by.Address(), At: now}
			if s.Bare || s.Contacts != "" {
				alone = append(alone, w)
			} else {
				shared = append(shared, w)
			}
		}
	}
	d.Shuffle(len(shared), func(i, j int) { shared[i], shared[j] = shared[j], shared[i] })
	add := func(samples ...*graphtest.Written) {
		statuses := ""
		if d.chance(50) {
			statuses = `[{"id":"wamid.x","status":"delivered","timestamp":"1"},null,7,{"status":["read"],"biz_opaque_callback_data":{}}]`
		}
		body, err := graphtest.WrittenBody("1000001", statuses, samples...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &callback{body, samples})
	}
	for len(shared) > 0 {
		n := min(1+d.IntN(6), len(shared))
		add(shared[:n]...)
		shared = shared[n:]
	}
	for _, w := range alone {
		add(w)
	}
	var several []*graphtest.Written
	for i := range 5 {
		by := graphtest.Author{UserID: "US.99", Name: "Eva"}
		several = append(several, &graphtest.Written{Sample: &samples[0], By: by, ID: fmt.Sprint("wamid.several.", i), At: now})
	}
	add(several...)
	d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	// The last strike needs the pictures.
	slices.SortStableFunc(all, func(a, b *callback) int { return cmp.Compare(a.pictures(), b.pictures()) })
	return all
}

// pictures returns the number of readable pictures.
func (x *callback) pictures() (n int) {
	for _, w := range x.samples {
		if w.Name == "picture" {
			n++
		}
	}
	return n
}

// people write to a number of a site whose only node is killed meanwhile.
type people struct {
	*flowSite
	node *node
}

// restart kills and restarts the node.
func (p *people) restart() {
	p.node.kill()
	p.node.start()
}

// deliverAll posts the callbacks until the node has accepted each.
func (p *people) deliverAll(posts []*callback) {
	next := make(chan *callback, len(posts))
	for _, x := range posts {
		next <- x
	}
	close(next)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for x := range next {
				p.deliver(x.body)
			}
		})
	}
	all.Wait()
}

// begin sends the first part of a post, or all of it, without waiting for the response.
func (p *people) begin(x *callback, part float64) net.Conn {
	p.t.Helper()
	conn, err := net.Dial("tcp", p.node.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	request := fmt.Appendf(nil, "POST /callbacks/whatsapp/main HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"X-Hub-Signature-256: %s\r\nContent-Length: %d\r\n\r\n%s", p.node.addr, p.graph.Sign(x.body), len(x.body), x.body)
	if _, err := conn.Write(request[:int(float64(len(request))*part)]); err != nil {
		p.t.Fatal(err)
	}
	return conn
}

// count returns the result of a query, or -1 if the database is busy.
func (p *people) count(query string, args ...any) int {
	n := -1
	if err := p.db.QueryRow(query, args...).Scan(&n); err != nil {
		return -1
	}
	return n
}

// until waits for a condition.
func (p *people) until(what string, holds func() bool) {
	p.t.Helper()
	if !await(p.t.Context(), hung, holds) {
		p.t.Fatalf("it hangs: %s", what)
	}
}

// strikes returns the kills of the node, each of which gets its own posts.
func (p *people) strikes() []func(posts []*callback) {
	return []func([]*callback){
		p.killedAfterTheResponse, p.killedWithinTheRequest, p.killedBeforeTheResponse, p.killedInANotice, p.killedInAFile,
	}
}

// killedAfterTheResponse kills the node once it has accepted all posts and processed some of them.
func (p *people) killedAfterTheResponse(posts []*callback) {
	p.deliverAll(posts)
	p.restart()
}

// killedWithinTheRequest kills the node when it has half of each post. The channel posts again.
func (p *people) killedWithinTheRequest(posts []*callback) {
	for _, x := range posts {
		conn := p.begin(x, 0.5)
		defer func() { _ = conn.Close() }()
	}
	p.restart()
	p.deliverAll(posts)
}

// killedBeforeTheResponse kills the node when it has stored the posts but the channel sees no response. The channel
// posts again.
func (p *people) killedBeforeTheResponse(posts []*callback) {
	const stored = "SELECT COUNT(*) FROM inbound_message"
	before := -1
	p.until("the messages are counted", func() bool { before = p.count(stored); return before >= 0 })
	for _, x := range posts {
		conn := p.begin(x, 1)
		defer func() { _ = conn.Close() }()
	}
	p.until("a message is stored", func() bool { return p.count(stored) > before })
	p.restart()
	p.deliverAll(posts)
}

// killedInANotice kills the node while the channel has a notice to a person and the node has no response yet.
func (p *people) killedInANotice(posts []*callback) {
	taken := make(chan struct{})
	var once sync.Once
	p.graph.FailBy(func(x graphtest.Post) (f *graphtest.Failure) {
		if isNotice(x) {
			once.Do(func() {
				f = &graphtest.Failure{Kind: graphtest.Hang, Accepted: true}
				close(taken)
			})
		}
		return f
	})
	p.deliverAll(posts)
	select {
	case <-taken:
	case <-time.After(hung):
		p.t.Error("nobody gets a notice")
	}
	p.graph.FailBy(nil)
	p.restart()
}

// killedInAFile kills the node while it downloads a file of a person.
func (p *people) killedInAFile(posts []*callback) {
	picture := graphtest.SampleFiles()["png"]
	stuck := picture
	stuck.Hangs = true
	p.graph.PutFile("png", stuck)
	p.deliverAll(posts)
	p.until("a picture is read", func() bool {
		later := time.Now().Add(10 * time.Second).UnixMilli()
		return p.count(`SELECT COUNT(*) FROM inbound_message WHERE due_at > $1 AND content LIKE '%"png"%'`, later) > 0
	})
	p.graph.PutFile("png", picture)
	p.restart()
}

// notices are the texts that ask people for another form.
var notices = []string{
	"We can't read this type of message here. Please send it as text.", "We didn't get your file. Please send it again.",
	"We can't accept this type of file. Please send it as a PDF or an image.",
}

func isNotice(x graphtest.Post) bool {
	return slices.ContainsFunc(notices, func(s string) bool { return strings.Contains(string(x.Body), s) })
}

// Every message of every kind and malformed form, from people with and without a number, is shown in a conversation,
// or its author is asked once for another form, regardless of kills and repeated posts. Messages without an author are
// counted and logged.
func TestEveryMessageIsShownOrDeclinedOverKills(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := newFlowSite(t, engine, 1)
			p := &people{s, s.nodes[0]}
			for id, f := range graphtest.SampleFiles() {
				p.graph.PutFile(id, f)
			}
			posts := mail(t, newDice(t, "inbound "+engine))
			for _, x := range posts {
				for _, w := range x.samples {
					p.graph.Wrote(w.By.Address(), w.ID, w.At)
				}
			}
			ops := freeAddress(t)
			p.node.args = append(p.node.args, "--ops-addr="+ops) // from the first kill on
			strikes := p.strikes()
			for i, strike := range strikes {
				strike(posts[i*len(posts)/len(strikes) : (i+1)*len(posts)/len(strikes)])
			}
			p.comeToRest()
			p.judge(posts)
			p.repeat(posts, ops)
			p.comeToRest()
			if status := p.node.stop(hung); status != 0 {
				t.Errorf("the node ended with %d", status)
			}
			p.judge(posts)
		})
	}
}

// comeToRest waits until all messages are processed and all replies sent.
func (p *people) comeToRest() {
	p.t.Helper()
	p.until("all messages are taken in, and all replies sent", func() bool {
		return p.count(`SELECT (SELECT COUNT(*) FROM inbound_message WHERE due_at > 0)
			+ (SELECT COUNT(*) FROM reply WHERE state IN ('queued', 'sending'))`) == 0
	})
}

// unnamed returns the number of messages without an author.
func unnamed(posts []*callback) (n int) {
	for _, x := range posts {
		for _, w := range x.samples {
			if w.Unnamed {
				n++
			}
		}
	}
	return n
}

// repeat posts everything again, and then other texts under the same IDs.
func (p *people) repeat(posts []*callback, ops string) {
	p.t.Helper()
	before := p.ignored(ops)
	p.deliverAll(posts)
	n, counted := unnamed(posts), 0
	p.until("all messages that name no author are counted and logged", func() bool { // after the responses
		counted = p.ignored(ops) - before
		return counted >= n && p.loggedUnnamed() >= n
	})
	if counted != n {
		p.t.Errorf("of %d messages that name no author %d are counted", n, counted)
	}
	p.deliverAll(reworded(posts))
}

// reworded returns callbacks with other texts under the same IDs. A message with a known ID is a repetition; one
// without an ID is compared by its bytes.
func reworded(posts []*callback) (all []*callback) {
	for _, x := range posts {
		body := strings.ReplaceAll(string(x.body), `"body":"Hola"`, `"body":"Adiós"`)
		without := slices.ContainsFunc(x.samples, func(w *graphtest.Written) bool { return strings.Contains(w.Members, `"id":`) })
		if body != string(x.body) && !without {
			all = append(all, &callback{[]byte(body), x.samples})
		}
	}
	return all
}

// ignored returns the number of messages counted as ignored.
func (p *people) ignored(ops string) (n int) {
	p.t.Helper()
	var text []byte
	p.until("there are metrics", func() bool { // the metrics server starts a moment after the rest
		resp, err := http.Get("http://" + ops + "/metrics")
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		text, err = io.ReadAll(resp.Body)
		return err == nil
	})
	samples := regexp.MustCompile(`carillon_inbound_messages_total\{kind="[a-z_]+",result="ignored"\} (\d+)`)
	for _, m := range samples.FindAllSubmatch(text, -1) {
		k, _ := strconv.Atoi(string(m[1])) // digits
		n += k
	}
	return n
}

// loggedUnnamed returns the number of messages without an author in the node's log.
func (p *people) loggedUnnamed() (n int) {
	p.t.Helper()
	text, err := os.ReadFile(p.node.log)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`name no author".* kinds="?\[([a-z_ ]+)\]`).FindAllSubmatch(text, -1) {
		n += len(strings.Fields(string(m[1])))
	}
	return n
}

// line is a turn that results from a person's message, or a notice to the person.
type line struct {
	author, event, text, state string
}

// lines returns the lines of each person, by the person's key, or by name in groups.
func (p *people) lines() map[string][]line {
	p.t.Helper()
	rows, err := p.db.Query(`SELECT COALESCE(i.value, ''), t.author, t.text, t.payload, COALESCE(r.state, '') FROM turn AS t
		JOIN conversation AS c ON c.id = t.conversation_id LEFT JOIN contact_identity AS i ON i.contact_id = c.contact_id
		LEFT JOIN reply AS r ON r.conversation_id = t.conversation_id AND r.seq = t.seq`)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	all := map[string][]line{}
	for rows.Next() {
		var who, payload string
		var l line
		var extra struct{ Event, Name string }
		if err := rows.Scan(&who, &l.author, &l.text, &payload, &l.state); err != nil {
			p.t.Fatal(err)
		}
		if payload != "" {
			if err := json.Unmarshal([]byte(payload), &extra); err != nil {
				p.t.Fatal(err)
			}
		}
		if l.event = extra.Event; who == "" {
			who = extra.Name
		}
		all[who] = append(all[who], l)
	}
	if rows.Err() != nil {
		p.t.Fatal(rows.Err())
	}
	return all
}

// ofMessages are the events that messages become.
var ofMessages = []string{
	conversation.Reacted, conversation.Edited, conversation.Deleted, conversation.Permission, conversation.Identity,
	conversation.NotShown, conversation.NoFile, conversation.Renumbered,
}

// upshot is the result of a message.
type upshot string

// Upshots of messages.
const (
	isShown   upshot = "shown"
	isAsked   upshot = "shown as one that cannot be, its author asked for another form"
	isUnknown upshot = "the same, with an unknown outcome: the node died with the notice, which is not sent again"
	isNone    upshot = "no message of a person, or of nobody that is named"
)

// judge compares the conversations and notices with the messages that people wrote.
func (p *people) judge(posts []*callback) {
	lines, asked := p.lines(), map[string]int{}
	for _, all := range p.graph.All() {
		for _, x := range all {
			if x.Accepted && isNotice(x) {
				asked[x.To]++
			}
		}
	}
	upshots, received := map[upshot]int{}, 0
	for _, x := range posts {
		for _, w := range x.samples {
			key := identity.Of(w.By.Address()).String()
			switch {
			case w.Group != "":
				key = w.By.Name
			case w.Renews:
				key = identity.Of(w.By.Renewed().Address()).String()
			}
			written := 0
			for _, other := range x.samples {
				if other.By == w.By {
					written++
				}
			}
			became, err := upshotOf(w, written, lines[key], asked[w.By.Address()])
			if err != nil {
				p.t.Errorf("%s of %s: %v", w.Name, w.By.Address(), err)
			}
			upshots[became]++
			received++
		}
	}
	if stored := p.count("SELECT COUNT(*) FROM inbound_message"); stored != received-unnamed(posts) {
		p.t.Errorf("%d messages are stored, not %d", stored, received-unnamed(posts))
	}
	p.t.Logf("of %d messages: %v", received, upshots)
}

// upshotOf returns the upshot of one of a person's messages, from the lines of the conversation and the number of
// notices to its author.
func upshotOf(w *graphtest.Written, written int, lines []line, asked int) (upshot, error) {
	var of []line
	unknown, times := false, map[string]int{}
	for _, l := range lines {
		if l.author == "visitor" || l.author == "system" && slices.Contains(ofMessages, l.event) {
			of = append(of, l)
			times[l.author+l.event]++
		}
		unknown = unknown || slices.Contains(notices, l.text) && l.state == "unknown"
	}
	for what, n := range times {
		if n > written {
			return "", fmt.Errorf("%d messages are shown %d times (%s)", written, n, what)
		}
	}
	none := w.Unnamed || w.Silent
	switch is := slices.ContainsFunc(of, func(l line) bool { return strings.Contains(l.text, w.Shown()) }); {
	case none && len(of) > 0:
		return "", fmt.Errorf("it is shown: %+v", of)
	case !none && (!is || len(of) < written):
		return "", fmt.Errorf("of %d messages %q is not among %+v", written, w.Shown(), of)
	case asked > 1 || asked == 1 && !w.Asks():
		return "", fmt.Errorf("its author is asked %d times", asked)
	case asked == 0 && w.Asks() && !unknown:
		return "", errors.New("its author is not asked")
	case none:
		return isNone, nil
	case asked == 1:
		return isAsked, nil
	case w.Asks():
		return isUnknown, nil
	}
	return isShown, nil
}
