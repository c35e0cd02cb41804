package messaging_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
)

const (
	retried   = "< Sorry, I didn't catch that. What?"
	retriedAs = "Sorry, I didn't catch that.\nWhat?"
	tooLarge  = "Your file is too large. Please send a smaller one."
	notTaken  = "We can't accept this type of file. Please send it as a PDF or an image."
)

// kinds are messages of every kind, each with the line shown in the conversation and the reply of a flow that asks a
// question, or "" if none follows. In a message, Q is the channel's ID of the flow's question, and O that of the
// person's first message.
var kinds = []struct{ message, shown, reply string }{
	{`{"type":"text","text":{"body":"Hola"}}`, "> Hola", "Hola"},
	{`{"type":"text","text":{"body":"Hola"},"context":{"from":"15555550100","id":"Q"}}`, "> Hola {What?}", "Hola"},
	{`{"type":"text","text":{"body":"Hola"},"context":{"id":"wamid.of.somebody"}}`, "> Hola", "Hola"},
	{`{"type":"text","text":{"body":"Hola"},"context":{"id":"wamid.notification"}}`, "> Hola {Your order is on its way.}", "Hola"},
	{`{"type":"text","text":{"body":"Hola"},"context":{"forwarded":true,"frequently_forwarded":true}}`, "> Hola", "Hola"},
	{
		`{"type":"text","text":{"body":"Hola"},"referral":{"source_url":"https://fb.test/a","source_id":"1","source_type":"ad",` +
			`"headline":"h","body":"b","media_type":"image","ctwa_clid":"c"}}`, "> Hola", "Hola",
	},
	{
		`{"type":"text","text":{"body":"Hola"},"context":{"referred_product":{"catalog_id":"1","product_retailer_id":"2"}}}`,
		"> Hola", "Hola",
	},
	{`{"type":"button","button":{"payload":"p","text":"Details"},"context":{"id":"Q"}}`, "> Details {What?}", "Details"},
	{
		`{"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"choice.1","title":"Yes"}},"context":{"id":"Q"}}`,
		"> Yes {What?}", "Yes",
	},
	{
		`{"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"choice.7","title":"Seven","description":"d"}}}`,
		"> Seven", "Seven",
	},
	{
		`{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":"flow","body":"Sent","response_json":"{}"}}}`,
		"> Sent", "Sent",
	},
	{
		`{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":"flow","body":"Sent",` +
			`"response_json":"{\"flow_token\":\"secret\",\"screen_0_Full_name_0\":\"Ana\",\"size\":[\"L\",\"XL\"]}"}}}`,
		"> Full name: Ana\nsize: L, XL", "Full name: Ana\nsize: L, XL",
	},
	{
		`{"type":"interactive","interactive":{"type":"call_permission_reply","call_permission_reply":{"response":"accept"}}}`,
		"* call_permission accept", "",
	},
	{`{"type":"image","image":{"id":"png","mime_type":"image/png","sha256":"x","caption":"Look"}}`, "> Look (image.png image/png)", "Look"},
	{`{"type":"image","image":{"id":"png","mime_type":"image/jpeg","sha256":"x"}}`, "> (image.png image/png)", retriedAs},
	{`{"type":"video","video":{"id":"mp4","mime_type":"video/mp4","caption":"Film"}}`, "> Film (video.mp4 video/mp4)", "Film"},
	{`{"type":"audio","audio":{"id":"ogg","mime_type":"audio/ogg; codecs=opus","voice":true}}`, "> (audio.ogg audio/ogg)", retriedAs},
	{
		`{"type":"document","document":{"id":"pdf","mime_type":"application/pdf","filename":"../../etc/b.pdf","caption":"Doc"}}`,
		"> Doc (b.pdf application/pdf)", "Doc",
	},
	{`{"type":"sticker","sticker":{"id":"webp","mime_type":"image/webp","animated":false}}`, "> (image.webp image/webp)", retriedAs},
	{
		`{"type":"location","location":{"latitude":40.4168,"longitude":-3.7038,"name":"Sol","address":"Madrid","url":"https://maps.test"}}`,
		"> 📍 40.4168, -3.7038\nSol\nMadrid", "📍 40.4168, -3.7038\nSol\nMadrid",
	},
	{
		`{"type":"contacts","contacts":[{"name":{"formatted_name":"Ben"},"phones":[{"phone":"+34 600","wa_id":"34600"}]},` +
			`{"name":{"formatted_name":"Cat"}}]}`, "> Ben +34 600\nCat", "Ben +34 600\nCat",
	},
	{`{"type":"reaction","reaction":{"message_id":"Q","emoji":"👍"}}`, "* reacted 👍 {What?}", ""},
	{`{"type":"reaction","reaction":{"message_id":"Q"}}`, "* reacted {What?}", ""},
	{`{"type":"reaction","reaction":{"message_id":"O","emoji":"🙏"}}`, "* reacted 🙏 {echo}", ""},
	{`{"type":"reaction","reaction":{"message_id":"wamid.of.somebody","emoji":"👍"}}`, "* reacted 👍", ""},
	{
		`{"type":"order","order":{"catalog_id":"1","text":"t","product_items":[{"product_retailer_id":"2","quantity":1,` +
			`"item_price":2,"currency":"EUR"}]}}`, "> t\n1 × 2: 2 EUR", "t\n1 × 2: 2 EUR",
	},
	{
		`{"type":"system","system":{"body":"Ana changed","wa_id":"34600999888","type":"user_changed_number"}}`,
		"* number_changed 34600999888", "",
	},
	{`{"type":"system","system":{"body":"x","type":"customer_identity_changed"}}`, "* identity_changed", ""},
	{
		`{"type":"unsupported","errors":[{"code":131051,"title":"Message type unknown","error_data":{"details":"Message type is ` +
			`currently not supported."}}]}`, "* not_shown unsupported", unreadable,
	},
	{`{"type":"unknown","errors":[{"code":131051}]}`, "* not_shown unknown", unreadable},
	{`{"type":"image","errors":[{"code":131052,"title":"Media download error"}]}`, "* not_shown image", unreadable},
	{`{"type":"text","text":{"body":" \n "}}`, "* not_shown text", unreadable},
	{`{"type":"text","text":"of another form"}`, "* not_shown text", unreadable},
	{`{"type":"edit","edit":{"original_message_id":"Q","message":{"type":"text","text":{"body":"new"}}}}`, "* edited new {What?}", ""},
	{`{"type":"revoke","revoke":{"original_message_id":"Q"}}`, "* deleted {What?}", ""},
	{
		`{"type":"hologram_v9","hologram_v9":[[["deep"]]],"text":3,"contacts":{"a":1},"location":"here"}`,
		"* not_shown hologram_v9", unreadable,
	},
	// The problem with a file is reported, and its caption still counts as an answer.
	{`{"type":"image","image":{"id":"large","mime_type":"image/png"}}`, "* file_missing image/png too_large", tooLarge},
	{
		`{"type":"document","document":{"id":"refused","mime_type":"text/plain","filename":"log.txt"}}`,
		"* file_missing log.txt too_large", tooLarge,
	},
	{
		`{"type":"image","image":{"id":"page","mime_type":"image/png","caption":"Look"}}`,
		"* file_missing image/png not_taken\n< " + notTaken + "\n> Look", "Look",
	},
	{
		`{"type":"document","document":{"id":"program","mime_type":"application/pdf","filename":"a.pdf"}}`,
		"* file_missing a.pdf not_taken", notTaken,
	},
	{`{"type":"image","image":{"id":"gone","mime_type":"image/png"}}`, "* file_missing image/png gone", fileMissing},
	{`{"type":"image","image":{"id":"late","mime_type":"image/png","caption":"Late"}}`, "> Late (image.png image/png)", "Late"},
	{`{"type":"image","image":{"id":"away","mime_type":"image/png"}}`, "* file_missing image/png unavailable", fileMissing},
}

// putFiles stores the files of kinds on the channel, some of them with errors.
func (r *rig) putFiles() {
	r.t.Helper()
	png, err := os.ReadFile("../../send/sandbox/samples/photo.png")
	if err != nil {
		r.t.Fatal(err)
	}
	for id, f := range map[string]file{
		"png":   {mime: "image/png", data: png},
		"mp4":   {mime: "video/mp4", data: []byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2")},
		"ogg":   {mime: "audio/ogg", data: []byte("OggS\x00\x02" + strings.Repeat("\x00", 40))},
		"pdf":   {mime: "application/pdf", data: []byte("%PDF-1.4\n%%EOF\n")},
		"webp":  {mime: "image/webp", data: []byte("RIFF\x20\x00\x00\x00WEBPVP8 " + strings.Repeat("\x00", 20))},
		"large": {mime: "image/png", data: append(bytes.Clone(png), make([]byte, 10<<20)...)}, "refused": {err: provider.ErrFileTooLarge},
		"page":    {mime: "image/png", data: []byte("<html><script>alert(1)</script></html>")},
		"program": {mime: "application/pdf", data: []byte("MZ\x90\x00\x03\x00\x00\x00")},
		"late":    {mime: "image/png", data: png, faults: 1}, "away": {faults: 100},
	} {
		r.channel.put(id, f)
	}
}

func TestEveryKindOfMessageIsShownAndAnswersAFlow(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.putFiles()
		r.sent["wamid.notification"] = "Your order is on its way."
		r.run()
		kinds := kinds
		if !r.bubble {
			kinds = kinds[:len(kinds)-2] // the channel is asked again after 1 s and after 3 s
		}
		people := make([]*person, len(kinds))
		for i := range kinds {
			people[i] = r.person(fmt.Sprintf("346007%05d", i))
			people[i].writes(people[i].message(fmt.Sprint("wamid.own", i), "echo", r.now()))
		}
		for i, k := range kinds {
			people[i].got("What?")
			ids := strings.NewReplacer(`"Q"`, `"`+people[i].last().id+`"`, `"O"`, fmt.Sprintf(`"wamid.own%d"`, i))
			people[i].write(fmt.Sprint("wamid.kind", i), ids.Replace(k.message))
		}
		for i, k := range kinds {
			want := append([]string{"> echo", "* flow_began echo", "< What?"}, strings.Split(k.shown, "\n")...)
			if !strings.HasPrefix(k.shown, "*") {
				want = append(want[:3], k.shown)
			}
			if k.reply != "" {
				want = append(want, "< "+k.reply)
			}
			var replies []string
			for _, line := range want {
				if said, ok := strings.CutPrefix(line, "< "); ok {
					replies = append(replies, said)
				}
			}
			people[i].shows(want...)
			people[i].got(replies...)
		}
		if n := r.channel.files["away"]; r.bubble && n.read != 4 {
			t.Errorf("the channel was asked %d times for a file", n.read)
		}
	})
}

// The channel repeats a callback for days.
func TestAMessageIsTakenInOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		p := r.person("34600111222")
		m := p.message("wamid.1", "echo", r.now())
		p.writes(m)
		p.got("What?")
		p.writes(m)
		p.text("x")
		p.got("What?", "x")
		p.shows("> echo", "* flow_began echo", "< What?", "> x", "< x")
		r.until("both are marked as read", func() bool { return len(r.channel.marked()) >= 2 }) // maybe after the reply
		if marks := r.channel.marked(); len(marks) != 2 || marks[0] != (mark{"wamid.1", true}) {
			t.Errorf("as read are marked %v", marks)
		}
	})
}

func TestManyPeopleWriteAtOnceAndEachIsAnsweredInOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.run()
		people := make([]*person, 40)
		for i := range people {
			people[i] = r.person(fmt.Sprintf("346002%05d", i))
			people[i].text("echo")
		}
		for i, p := range people {
			p.got("What?")
			p.text(fmt.Sprint("I am ", i))
		}
		for i, p := range people {
			p.got("What?", fmt.Sprint("I am ", i))
		}
	})
}

func TestMessagesAreTakenInTheOrderInWhichTheyWereWritten(t *testing.T) {
	onSQLite(t, func(t *testing.T, r *rig) {
		p := r.person("34600800004")
		now := r.now()
		p.take(p.sender, callback(t, p.number, "Ana", p.message("wamid.2", "second", now),
			p.message("wamid.1", "echo", now.Add(-2*time.Second))))
		r.run()
		p.got("What?", "second")
		var said []string
		for _, x := range p.turns() {
			if x.Author == chats.Visitor {
				said = append(said, x.Text)
			}
		}
		if diff := cmp.Diff([]string{"echo", "second"}, said); diff != "" {
			t.Error(diff)
		}
	})
}
