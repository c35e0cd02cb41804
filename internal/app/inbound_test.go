package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/whatsapp/graphtest"
)

// quiet keeps a log for tests that look for what must not be in it.
type quiet struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (q *quiet) Write(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.text.Write(b)
}

func (q *quiet) String() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.text.String()
}

// another is another person who writes to the same program.
func (p *person) another(number string) *person {
	q := *p
	q.number, q.n = number, 0
	return &q
}

// office asks the panel as a teammate does.
func (p *person) office(method, path, body string, want int) map[string]any {
	p.t.Helper()
	k := talk{t: p.t, a: p.a}
	if p.token == "" {
		p.token = k.signIn("ben@acme.test")
	}
	got := k.ask(method, "/panel/v1"+path, p.token, body, want)
	for _, secret := range []string{"provider-token", "provider-app-secret", "media-token"} {
		if strings.Contains(fmt.Sprint(got), secret) {
			p.t.Errorf("%s %s responds with %s", method, path, secret)
		}
	}
	return got
}

// conversation is the id of the person's conversation; "": there is none.
func (p *person) conversation() string {
	p.t.Helper()
	for _, x := range p.office("GET", "/conversations?limit=100&search="+url.QueryEscape("Ana "+p.number), "", http.StatusOK)["data"].([]any) {
		if id, ok := x.(map[string]any)["id"].(string); ok {
			return id
		}
	}
	return ""
}

// inbox is what the inbox shows of the person's conversation, each turn in short.
func (p *person) inbox() (lines []string) {
	p.t.Helper()
	id := p.conversation()
	if id == "" {
		return nil
	}
	states := map[any]map[string]any{}
	thread := p.office("GET", "/conversations/"+id, "", http.StatusOK)
	sent, _ := thread["deliveries"].([]any)
	for _, d := range sent {
		states[d.(map[string]any)["seq"]] = d.(map[string]any)
	}
	for _, x := range thread["turns"].([]any) {
		turn := x.(map[string]any)
		parts := []string{map[any]string{"visitor": ">", "system": "*", "agent": "<", "teammate": "<<"}[turn["author"]]}
		for _, key := range []string{"event", "text", "why"} {
			if text, _ := turn[key].(string); text != "" {
				parts = append(parts, text)
			}
		}
		if f, ok := turn["file"].(map[string]any); ok {
			parts = append(parts, fmt.Sprintf("(%v %v)", f["name"], f["type"]))
		}
		if choices, ok := turn["choices"].([]any); ok {
			parts = append(parts, fmt.Sprint(choices))
		}
		if about, ok := turn["about"].(string); ok {
			parts = append(parts, "{"+about+"}")
		}
		if d := states[turn["seq"]]; d != nil && d["state"] == "failed" {
			parts = append(parts, fmt.Sprintf("! %v", d["reason"]))
		}
		lines = append(lines, strings.Join(parts, " "))
	}
	return lines
}

// shows waits until the inbox shows exactly this.
func (p *person) shows(want ...string) {
	p.t.Helper()
	var got []string
	for late := time.Now().Add(40 * time.Second); time.Now().Before(late); time.Sleep(50 * time.Millisecond) {
		if got = p.inbox(); slices.Equal(got, want) || len(got) > len(want) {
			break
		}
	}
	if !slices.Equal(got, want) {
		p.t.Errorf("of %s the inbox shows\n%s\nnot\n%s", p.number, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// write has the channel report a message of the person, twice.
func (p *person) write(id string, members graphtest.Inbound) {
	p.t.Helper()
	m := graphtest.Inbound{"from": p.number, "id": id, "timestamp": fmt.Sprint(time.Now().Unix())}
	maps.Copy(m, members)
	p.writes(m)
}

// parse is a message's members as JSON has them.
func parse(t *testing.T, text string) (m graphtest.Inbound) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

const (
	retried   = "< I did not understand that. What?"
	retriedAs = "I did not understand that.\nWhat?"
)

// kinds are messages of every kind, with what the inbox shows and what a flow that asks makes of them: the reply, or "" where none follows.
// In a message Q is the channel's id of the flow's question.
var kinds = []struct{ message, shown, reply string }{
	{`{"type":"text","text":{"body":"Hola"}}`, "> Hola", "Hola"},
	{`{"type":"text","text":{"body":"Hola"},"context":{"from":"15555550100","id":"Q"}}`, "> Hola {What?}", "Hola"},
	{`{"type":"text","text":{"body":"Hola"},"context":{"id":"wamid.of.somebody"}}`, "> Hola", "Hola"},
	{`{"type":"text","text":{"body":"Hola"},"context":{"forwarded":true,"frequently_forwarded":true}}`, "> Hola", "Hola"},
	{`{"type":"text","text":{"body":"Hola"},"referral":{"source_url":"https://fb.test/a","source_id":"1","source_type":"ad","headline":"h","body":"b","media_type":"image","ctwa_clid":"c"}}`, "> Hola", "Hola"},
	{`{"type":"text","text":{"body":"Hola"},"context":{"referred_product":{"catalog_id":"1","product_retailer_id":"2"}}}`, "> Hola", "Hola"},
	{`{"type":"button","button":{"payload":"p","text":"Details"},"context":{"id":"Q"}}`, "> Details {What?}", "Details"},
	{`{"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"choice.1","title":"Yes"}},"context":{"id":"Q"}}`, "> Yes {What?}", "Yes"},
	{`{"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"choice.7","title":"Seven","description":"d"}}}`, "> Seven", "Seven"},
	{`{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":"flow","body":"Sent","response_json":"{}"}}}`, "> Sent", "Sent"},
	{`{"type":"interactive","interactive":{"type":"call_permission_reply","call_permission_reply":{"response":"accept"}}}`, "* not_shown call_permission_reply", ""},
	{`{"type":"image","image":{"id":"png","mime_type":"image/png","sha256":"x","caption":"Look"}}`, "> Look (image.png image/png)", "Look"},
	{`{"type":"image","image":{"id":"png","mime_type":"image/jpeg","sha256":"x"}}`, "> (image.jpeg.png image/png)", retriedAs},
	{`{"type":"video","video":{"id":"mp4","mime_type":"video/mp4","caption":"Film"}}`, "> Film (video.mp4 video/mp4)", "Film"},
	{`{"type":"audio","audio":{"id":"ogg","mime_type":"audio/ogg; codecs=opus","voice":true}}`, "> (audio.ogg; codecs=opus.ogg audio/ogg)", retriedAs},
	{`{"type":"document","document":{"id":"pdf","mime_type":"application/pdf","filename":"../../etc/b.pdf","caption":"Doc"}}`, "> Doc (b.pdf application/pdf)", "Doc"},
	{`{"type":"sticker","sticker":{"id":"webp","mime_type":"image/webp","animated":false}}`, "> (image.webp image/webp)", retriedAs},
	{`{"type":"location","location":{"latitude":40.4168,"longitude":-3.7038,"name":"Sol","address":"Madrid","url":"https://maps.test"}}`, "> 📍 40.4168, -3.7038\nSol\nMadrid", "📍 40.4168, -3.7038\nSol\nMadrid"},
	{`{"type":"contacts","contacts":[{"name":{"formatted_name":"Ben"},"phones":[{"phone":"+34 600","wa_id":"34600"}]},{"name":{"formatted_name":"Cat"}}]}`, "> Ben +34 600\nCat", "Ben +34 600\nCat"},
	{`{"type":"reaction","reaction":{"message_id":"Q","emoji":"👍"}}`, "* reacted 👍 {What?}", ""},
	{`{"type":"reaction","reaction":{"message_id":"Q"}}`, "* reacted {What?}", ""},
	{`{"type":"reaction","reaction":{"message_id":"wamid.own","emoji":"🙏"}}`, "* reacted 🙏 {echo}", ""},
	{`{"type":"reaction","reaction":{"message_id":"wamid.of.somebody","emoji":"👍"}}`, "* reacted 👍", ""},
	{`{"type":"order","order":{"catalog_id":"1","text":"t","product_items":[{"product_retailer_id":"2","quantity":1,"item_price":2,"currency":"EUR"}]}}`, "* not_shown order", ""},
	{`{"type":"system","system":{"body":"Ana changed","wa_id":"34600999888","type":"user_changed_number"}}`, "* number_changed 34600999888", ""},
	{`{"type":"system","system":{"body":"x","type":"customer_identity_changed"}}`, "* not_shown system", ""},
	{`{"type":"unsupported","errors":[{"code":131051,"title":"Message type unknown","error_data":{"details":"Message type is currently not supported."}}]}`, "* not_shown unsupported", ""},
	{`{"type":"unknown","errors":[{"code":131051}]}`, "* not_shown unknown", ""},
	{`{"type":"image","errors":[{"code":131052,"title":"Media download error"}]}`, "* not_shown image", ""},
	{`{"type":"text","text":{"body":" \n "}}`, "* not_shown text", ""},
	{`{"type":"text","text":"of another form"}`, "* not_shown text", ""},
	{`{"type":"edit","edit":{"original_message_id":"Q","message":{"type":"text","text":{"body":"new"}}}}`, "* not_shown edit", ""},
	{`{"type":"revoke","revoke":{"original_message_id":"Q"}}`, "* not_shown revoke", ""},
	{`{"type":"hologram_v9","hologram_v9":[[["deep"]]],"text":3,"contacts":{"a":1},"location":"here"}`, "* not_shown hologram_v9", ""},
	// What is wrong with a file is said, and the caption is still an answer.
	{`{"type":"image","image":{"id":"large","mime_type":"image/png"}}`, "* file_missing image/png too_large", ""},
	{`{"type":"document","document":{"id":"grows","mime_type":"text/plain","filename":"log.txt"}}`, "* file_missing log.txt too_large", ""},
	{`{"type":"image","image":{"id":"page","mime_type":"image/png","caption":"Look"}}`, "* file_missing image/png not_taken\n> Look", "Look"},
	{`{"type":"document","document":{"id":"program","mime_type":"application/pdf","filename":"a.pdf"}}`, "* file_missing a.pdf not_taken", ""},
	{`{"type":"image","image":{"id":"gone","mime_type":"image/png"}}`, "* file_missing image/png gone", ""},
	{`{"type":"image","image":{"id":"expired","mime_type":"image/png"}}`, "* file_missing image/png gone", ""},
	{`{"type":"image","image":{"id":"late","mime_type":"image/png","caption":"Late"}}`, "> Late (image.png image/png)", "Late"},
	{`{"type":"image","image":{"id":"limited","mime_type":"image/png","caption":"Limited"}}`, "> Limited (image.png image/png)", "Limited"},
	{`{"type":"image","image":{"id":"breaks","mime_type":"image/png","caption":"Breaks"}}`, "> Breaks (image.png image/png)", "Breaks"},
	{`{"type":"image","image":{"id":"broken","mime_type":"image/png"}}`, "* file_missing image/png unavailable", ""},
	{`{"type":"image","image":{"id":"foreign","mime_type":"image/png"}}`, "* file_missing image/png unavailable", ""},
}

// putFiles has the channel keep the files of kinds, and what goes wrong with some.
func (p *person) putFiles() {
	p.t.Helper()
	png, err := os.ReadFile("../sandbox/samples/photo.png")
	if err != nil {
		p.t.Fatal(err)
	}
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { p.t.Errorf("a stranger gets %s %v", r.URL, r.Header) }))
	p.t.Cleanup(stranger.Close)
	for id, f := range map[string]graphtest.File{
		"png": {Type: "image/png", Data: png}, "mp4": {Type: "video/mp4", Data: []byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2")},
		"ogg": {Type: "audio/ogg", Data: []byte("OggS\x00\x02" + strings.Repeat("\x00", 40))}, "pdf": {Type: "application/pdf", Data: []byte("%PDF-1.4\n%%EOF\n")},
		"webp":  {Type: "image/webp", Data: []byte("RIFF\x20\x00\x00\x00WEBPVP8 " + strings.Repeat("\x00", 20))},
		"large": {Type: "image/png", Data: png, Size: 90 << 20}, "grows": {Type: "text/plain", Data: bytes.Repeat([]byte("line\n"), 5<<20), Size: 5},
		"page": {Type: "image/png", Data: []byte("<html><script>alert(1)</script></html>")}, "program": {Type: "application/pdf", Data: []byte("MZ\x90\x00\x03\x00\x00\x00")},
		"expired": {Type: "image/png", Data: png, Expired: -1}, "late": {Type: "image/png", Data: png, Expired: 1},
		"limited": {Type: "image/png", Data: png, LookUp: 400, LookUps: 1}, "breaks": {Type: "image/png", Data: png, Broken: 2},
		"broken": {Type: "image/png", Data: png, Broken: -1}, "foreign": {Type: "image/png", Data: png, Foreign: stranger.URL + "/files/media-token"},
	} {
		p.graph.PutFile(id, f)
	}
}

func TestEveryKindOfMessageIsShownAndAnswersAFlow(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startReplies(t, engine)
			p.putFiles()
			p.office("GET", "/conversations", "", http.StatusOK)
			kinds := kinds
			if engine == "postgres" {
				kinds = kinds[:len(kinds)-2] // which take time
			}
			people := make([]*person, len(kinds))
			for i := range kinds {
				people[i] = p.another(fmt.Sprintf("346007%05d", i))
				people[i].writes(graphtest.Text(people[i].number, fmt.Sprint("wamid.own", i), "echo", time.Now()))
			}
			for i, k := range kinds {
				people[i].got("What?")
				q := ""
				for ref, posts := range p.graph.All() {
					if strings.HasPrefix(ref, "reply.") && posts[0].To == people[i].number {
						q = posts[0].ID
					}
				}
				text := strings.NewReplacer(`"Q"`, `"`+q+`"`, `"wamid.own"`, fmt.Sprintf(`"wamid.own%d"`, i)).Replace(k.message)
				people[i].write(fmt.Sprint("wamid.kind", i), parse(t, text))
			}
			for i, k := range kinds {
				want := append([]string{"> echo", "* flow_began echo", "< What?"}, strings.Split(k.shown, "\n")...)
				if !strings.HasPrefix(k.shown, "*") {
					want = append(want[:3], k.shown)
				}
				if k.reply == "" {
					people[i].shows(want...)
					people[i].got("What?")
					continue
				}
				people[i].shows(append(want, "< "+k.reply)...)
				people[i].got("What?", k.reply)
			}
			for _, secret := range []string{"provider-token", "provider-app-secret", "media-token", "/files/"} {
				if log := p.log.String(); strings.Contains(log, secret) {
					t.Errorf("the log holds %q: %s", secret, log)
				}
			}
		})
	}
}
