package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

// kindOf is one kind of template: its category, its format of variables and its parts, as a channel lists them.
type kindOf struct{ name, category, format, parts string }

// listedKinds are all kinds of the channel, and twelve that this program does not know.
func listedKinds() []kindOf {
	const body = `{"type":"BODY","text":"Hello {{1}}, your order {{2}} is ready now.","example":{"body_text":[["Ana","7"]]}}`
	const plain = `{"type":"BODY","text":"Have a look at our new things."}`
	media := func(format string) string {
		return `{"type":"HEADER","format":"` + format + `","example":{"header_handle":["https://cdn.example/a?v={{round}}"]}},` + body
	}
	button := func(b string) string { return plain + `,{"type":"BUTTONS","buttons":[` + b + `]}` }
	code := func(address string) string {
		address = "https://www.whatsapp.com/otp/code/?otp_type=" + address
		return `{"type":"BODY","text":"*{{1}}* is your verification code.","add_security_recommendation":true,` +
			`"example":{"body_text":[["123456"]]}},{"type":"FOOTER","text":"Expires in 5 minutes.","code_expiration_minutes":5},` +
			`{"type":"BUTTONS","buttons":[{"type":"URL","text":"Copy code",` +
			`"url":"` + address + `&code=otp{{1}}","example":["https://w.example/?code=1"]}]}`
	}
	card := `{"components":[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["https://cdn.example/c?v={{round}}"]}},` +
		`{"type":"BODY","text":"Card"},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"More"}]}]}`
	all := []kindOf{
		{"text", "UTILITY", "", body},
		{"header", "UTILITY", "", `{"type":"HEADER","format":"TEXT","text":"Order {{1}}","example":{"header_text":["7"]}},` + body},
		{"named", "UTILITY", "NAMED", `{"type":"BODY","text":"Hello {{name}}, welcome back.","example":{"body_text_named_params":` +
			`[{"param_name":"name","example":"Ana"}]}}`},
		{"one_variable", "UTILITY", "", `{"type":"BODY","text":"Hello {{1}}, welcome back.","example":{"body_text":["Ana"]}}`},
		{"image", "MARKETING", "", media("IMAGE")},
		{"video", "MARKETING", "", media("VIDEO")},
		{"document", "UTILITY", "", media("DOCUMENT")},
		{"link", "UTILITY", "", button(`{"type":"URL","text":"Track","url":"https://x.example/{{1}}","example":["https://x.example/1"]}`)},
		{"replies", "MARKETING", "", button(`{"type":"QUICK_REPLY","text":"Yes"},{"type":"QUICK_REPLY","text":"No"}`)},
		{"phone", "UTILITY", "", button(`{"type":"PHONE_NUMBER","text":"Call","phone_number":"+15555550100"}`)},
		{"location", "UTILITY", "", `{"type":"HEADER","format":"LOCATION"},` + body},
		{"copy_code", "AUTHENTICATION", "", code("COPY_CODE")},
		{"one_tap", "AUTHENTICATION", "", code("ONE_TAP")},
		{"zero_tap", "AUTHENTICATION", "", code("ZERO_TAP")},
		{"coupon", "MARKETING", "", button(`{"type":"COPY_CODE","text":"Copy offer code","example":["SAVE20"]}`)},
		{"offer", "MARKETING", "", `{"type":"LIMITED_TIME_OFFER","limited_time_offer":{"text":"Ends soon!","has_expiration":true}},` +
			button(`{"type":"COPY_CODE","text":"Copy offer code","example":["SAVE20"]},`+
				`{"type":"URL","text":"Shop","url":"https://x.example/{{1}}","example":["https://x.example/1"]}`)},
		{"carousel", "MARKETING", "", plain + `,{"type":"CAROUSEL","cards":[` + card + `,` + card + `]}`},
		{"catalog", "MARKETING", "", button(`{"type":"CATALOG","text":"View catalog"}`)},
		{"products", "MARKETING", "", `{"type":"HEADER","format":"TEXT","text":"Our picks"},` +
			button(`{"type":"MPM","text":"View items"}`)},
		{"product", "MARKETING", "", `{"type":"HEADER","format":"PRODUCT"},` + button(`{"type":"SPM","text":"View"}`)},
		{"flow", "UTILITY", "", button(`{"type":"FLOW","text":"Sign up","flow_id":"123","flow_action":"navigate","navigate_screen":"A"}`)},
		{"permission", "UTILITY", "", body + `,{"type":"call_permission_request"}`},
		{"voice_call", "UTILITY", "", button(`{"type":"VOICE_CALL","text":"Call now"}`)},
		{"contact", "UTILITY", "", button(`{"type":"REQUEST_CONTACT_INFO","text":"Share"}`)},
	}
	for i := range 4 {
		n := strconv.Itoa(i)
		all = append(
			all,
			kindOf{"unknown_part_" + n, "UTILITY", "", body + `,{"type":"HOLOGRAM_` + n + `","frames":[{"deep":[1,{"x":null}]}]}`},
			kindOf{"unknown_header_" + n, "UTILITY", "", `{"type":"HEADER","format":"SCENT_` + n + `","note":{"base":"oak"}},` + body},
			kindOf{"unknown_button_" + n, "UTILITY", "", button(`{"type":"TELEPORT_` + n + `","text":"Go","to":{"planet":"Mars"}}`)},
		)
	}
	return all
}

// listing returns the nodes of n templates in a round. The addresses of sample files differ in each round.
func listing(n, round int) []json.RawMessage {
	kinds := listedKinds()
	all := make([]json.RawMessage, n)
	for i := range all {
		k := kinds[i%len(kinds)]
		format := k.format
		if format == "" {
			format = "POSITIONAL"
		}
		all[i] = json.RawMessage(fmt.Sprintf(`{"id":"%d","name":"%s_%d","language":"en_US","status":"APPROVED","category":"%s",`+
			`"parameter_format":"%s","components":[%s],"quality_score":{"score":"GREEN","date":1760000000}}`,
			7_000_000+i, k.name, i, k.category, format, strings.ReplaceAll(k.parts, "{{round}}", strconv.Itoa(round))))
	}
	return all
}

func plainJSON(t *testing.T, v any) (out any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// nested writes the samples of a body in the channel's newer form, which is the one that is stored.
func nested(v any) any {
	switch x := v.(type) {
	case map[string]any:
		if row, ok := x["body_text"].([]any); ok && len(row) > 0 {
			if _, text := row[0].(string); text {
				x["body_text"] = []any{row}
			}
		}
		for _, y := range x {
			nested(y)
		}
	case []any:
		for _, y := range x {
			nested(y)
		}
	}
	return v
}

// one is the last comparison of a sender.
func (w *world) one(senderUID int64) settings.TemplateSync {
	w.t.Helper()
	all, err := w.Sync(w.t.Context(), "ours")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, x := range all {
		if x.SenderUID == senderUID {
			return x
		}
	}
	w.t.Fatal("the sender was not compared")
	return settings.TemplateSync{}
}

func (w *world) templatesOf(senderUID int64) []*carillon.Template {
	w.t.Helper()
	all, err := w.store.Templates.Templates(w.t.Context(), senderUID)
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func TestAnAccountOfAllKindsIsImportedWhole(t *testing.T) {
	const number = 400
	onEachEngine(t, func(t *testing.T, w *world) {
		graph, line, _ := w.graph("graph", "15555550103")
		generated := json.RawMessage(`{"id":"6","name":"direct","language":"en","status":"APPROVED","category":"UTILITY","components":[],` +
			`"source":"AUTO_GENERATED"}`)
		there := listing(number, 0)
		graph.SetListed(append(there, generated)...)
		got := w.one(line.UID)
		if got.Error != "" || got.Found != number || got.Imported != number || got.Changed+got.Missing+got.Gone != 0 {
			t.Fatalf("%+v", got)
		}
		w.compareParts(line.UID, there)
		if got.Unsupported != w.unsupported(line.UID) || got.Unsupported < number/len(listedKinds())*12 {
			t.Errorf("%d of the account are unsupported, %d of ours", got.Unsupported, w.unsupported(line.UID))
		}
		before := w.stories(line.UID)
		graph.SetListed(listing(number, 1)...)
		got = w.one(line.UID)
		if got.Found != number || got.Imported+got.Changed+got.Missing+got.Gone != 0 || got.Unsupported != w.unsupported(line.UID) {
			t.Errorf("the second time: %+v", got)
		}
		if diff := cmp.Diff(before, w.stories(line.UID)); diff != "" {
			t.Error("the second time has history:", diff)
		}
	})
}

// compareParts checks that each listed template is stored with the same parts.
func (w *world) compareParts(senderUID int64, there []json.RawMessage) {
	w.t.Helper()
	here := map[string]*carillon.Template{}
	for _, x := range w.templatesOf(senderUID) {
		here[x.ProviderID] = x
	}
	for _, raw := range there {
		var node map[string]any
		if err := json.Unmarshal(raw, &node); err != nil {
			w.t.Fatal(err)
		}
		x := here[node["id"].(string)]
		if x == nil {
			w.t.Fatalf("%s was lost", node["name"])
		}
		if diff := cmp.Diff(nested(node["components"]), plainJSON(w.t, x.Components)); diff != "" {
			w.t.Errorf("%s: %s", x.Name, diff)
		}
		if x.Category != node["category"] || x.ParameterFormat != node["parameter_format"] || x.Status != carillon.TemplateApproved ||
			x.Report.Quality != "GREEN" {
			w.t.Errorf("%s: %s %s %s %+v", x.Name, x.Category, x.ParameterFormat, x.Status, x.Report)
		}
	}
}

func (w *world) unsupported(senderUID int64) (n int) {
	for _, x := range w.templatesOf(senderUID) {
		if len(content.Unsupported(x)) > 0 {
			n++
		}
	}
	return n
}

// stories are the histories of a sender's templates.
func (w *world) stories(senderUID int64) map[string][]string {
	all := map[string][]string{}
	for _, x := range w.templatesOf(senderUID) {
		all[x.ID] = w.story(x.ID)
	}
	return all
}

func TestAllThatCanBeSentOfAnAccountIsSent(t *testing.T) {
	var known []carillon.Template
	var rest []json.RawMessage
	for _, raw := range listing(400, 0) {
		var x struct {
			ID, Name, Language, Category string
			Format                       string `json:"parameter_format"`
			Components                   []carillon.Component
		}
		if err := json.Unmarshal(raw, &x); err != nil {
			t.Fatal(err)
		}
		declared := carillon.Template{
			ProviderID: x.ID, Name: x.Name, Language: x.Language, Category: x.Category, ParameterFormat: x.Format, Components: x.Components,
		}
		if len(content.Unsupported(&declared)) == 0 {
			known = append(known, declared)
		} else {
			rest = append(rest, raw)
		}
	}
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	graph, line, _ := w.graph("graph", "15555550103", known...)
	graph.SetListed(rest...)
	if got := w.one(line.UID); got.Imported != 400 || got.Unsupported != len(rest) || len(known) < 140 {
		t.Fatalf("%d known: %+v", len(known), got)
	}
	client := whatsapp.New(whatsapp.Options{})
	t.Cleanup(client.CloseIdleConnections)
	sent := 0
	for i, x := range w.templatesOf(line.UID) {
		err := sendGenerated(t, client, line, x, i)
		var refused []string
		if e, ok := errors.AsType[*carillon.Error](err); ok && e.Code == carillon.TemplateNotApproved {
			refused, _ = e.Details.Find("unsupported").([]string)
		}
		switch unsupported := content.Unsupported(x); {
		case len(unsupported) > 0:
			if diff := cmp.Diff(unsupported, refused); diff != "" {
				t.Errorf("%s: %v", x.Name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", x.Name, err)
		default:
			sent++
		}
	}
	if sent != len(known) || graph.Total() != len(known) {
		t.Errorf("%d of %d were sent, the channel got %d", sent, len(known), graph.Total())
	}
}

// sendGenerated sends a template with a value for each variable that it needs.
func sendGenerated(t *testing.T, client *whatsapp.Client, s *carillon.Sender, x *carillon.Template, n int) error {
	t.Helper()
	values := map[string]sample{}
	if len(content.Unsupported(x)) == 0 {
		for _, key := range content.Keys(x.Shape) {
			values[key] = sample(sampleOf(key))
		}
	}
	components, err := content.ReadComponents(maps.All(values))
	if err != nil {
		return err
	}
	src := &content.Source{Components: components, Recipients: 1, Lookup: nothing{}}
	if err := content.Check(x, src); err != nil {
		return err
	}
	filled, err := content.Fill(x, src, 0)
	if err != nil {
		return err
	}
	out := client.Send(t.Context(), s, &provider.Outgoing{
		Ref:    provider.Ref{NotificationID: carillon.NewID(time.Now()), N: n, Attempt: 1},
		Number: "34600111222", Template: x, Content: filled,
	})
	if out.Verdict != provider.Sent {
		return fmt.Errorf("%s: %s", out.Verdict, out.Detail)
	}
	return nil
}

// sampleOf returns a value for a variable by its key.
func sampleOf(key string) string {
	for _, x := range [][2]string{
		{"header_image", "https://cdn.example.org/a.jpg"},
		{"header_video", "https://cdn.example.org/a.mp4"},
		{"header_document", "https://cdn.example.org/a.pdf"},
		{"latitude", "4.6"},
		{"longitude", "-74.1"},
		{"expiration", strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 10)},
		{"button_products", "Shoes: sku-1, sku-2"},
		{"button_call_ttl", "60"},
		{"flow_data", `{"a":1}`},
	} {
		if strings.Contains(key, x[0]) {
			return x[1]
		}
	}
	return "A1"
}

// sample is a value in components_push.
type sample string

func (s sample) String(string) (string, bool, error) { return string(s), true, nil }

type nothing struct{}

func (nothing) Field(int, string) (string, bool) { return "", false }
func (nothing) Shared(string) (string, bool)     { return "", false }

func TestAnImportLeavesDraftsAndDisablesWhatVanished(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		graph, line, _ := w.graph("graph", "15555550103")
		mine := draft("text_0")
		mine.Language = "en_US"
		kept, err := w.Create(t.Context(), w.ours, line, mine, false)
		if err != nil {
			t.Fatal(err)
		}
		graph.SetListed(listing(6, 0)...)
		if got := w.one(line.UID); got.Imported != 5 || got.Missing != 1 || got.Changed != 0 {
			t.Errorf("%+v", got)
		}
		x := w.record(kept.ID)
		if x.Status != carillon.TemplateDraft || x.ProviderID != "" || x.Components[0].Text != mine.Components[0].Text {
			t.Errorf("the draft changed: %+v", x)
		}
		graph.SetListed(listing(3, 0)...)
		if got := w.one(line.UID); got.Gone != 3 || got.Imported+got.Changed != 0 {
			t.Errorf("%+v", got)
		}
		gone := w.record("7000004")
		if gone.Status != carillon.TemplateDisabled || gone.Reason != goneReason {
			t.Error(gone.Status, gone.Reason)
		}
		if got := w.one(line.UID); got.Gone+got.Imported+got.Changed != 0 {
			t.Errorf("again: %+v", got)
		}
		graph.SetListed(listing(6, 0)...)
		if got := w.one(line.UID); got.Changed != 3 || w.record("7000004").Status != carillon.TemplateApproved {
			t.Errorf("back at the channel: %+v", got)
		}
	})
}

func TestATemplateEditedAtTheChannelIsTakenOver(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	graph, line, _ := w.graph("graph", "15555550103")
	graph.SetListed(listing(1, 0)...)
	w.one(line.UID)
	edited := strings.Replace(string(listing(1, 0)[0]), "is ready now", "left the house", 1)
	graph.SetListed(json.RawMessage(strings.Replace(edited, "APPROVED", "PENDING", 1)))
	if got := w.one(line.UID); got.Changed != 1 {
		t.Errorf("%+v", got)
	}
	r := w.record("7000000")
	if r.Status != carillon.TemplatePending || !strings.Contains(r.Components[0].Text, "left the house") || r.PollAt.IsZero() {
		t.Errorf("%+v", r)
	}
	want := []string{"created channel  approved", "decided channel  pending", "edited channel  pending"}
	if diff := cmp.Diff(want, w.story(r.ID)); diff != "" {
		t.Error(diff)
	}
}

func TestACallbackConcernsEachSenderOfAnAccount(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	graph, line, _ := w.graph("graph", "15555550103")
	other := sender("ours", "other", "15555550104")
	other.Provider, other.Settings = "whatsapp", graph.Settings()
	elsewhere := sender("ours", "elsewhere", "15555550106")
	elsewhere.Provider, elsewhere.Settings = "whatsapp", []byte(strings.Replace(string(graph.Settings()), "2000001", "2000002", 1))
	theirs := sender("theirs", "graph", "15555550105")
	theirs.Provider, theirs.Settings = "whatsapp", graph.Settings()
	if err := w.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return errors.Join(settings.PutSender(ctx, tx, other, time.Now()), settings.PutSender(ctx, tx, theirs, time.Now()),
			settings.PutSender(ctx, tx, elsewhere, time.Now()))
	}); err != nil {
		t.Fatal(err)
	}
	graph.SetListed(listing(2, 0)...)
	for _, company := range []string{"ours", "theirs"} {
		if _, err := w.Sync(t.Context(), company); err != nil {
			t.Fatal(err)
		}
	}
	of := func(senderUID int64) *carillon.Template { return w.templatesOf(senderUID)[0] }
	say := func(body []byte) {
		t.Helper()
		for _, s := range []*carillon.Sender{line, other, elsewhere} { // as for all senders with the same secret
			cb, err := whatsapp.ParseCallback(body, s.UID)
			if err != nil || len(cb.Templates) != 1 {
				t.Fatal(cb, err)
			}
			if err := w.Apply(t.Context(), cb.TemplatesFor(s.Settings)); err != nil {
				t.Fatal(err)
			}
		}
	}
	const id, name = 7000001, "header_1"
	say(graph.CategoryBody(id, name, "en-US", "UTILITY", "MARKETING", 1_900_000_000))
	for _, uid := range []int64{line.UID, other.UID} {
		x := of(uid)
		want := &CategoryChange{To: "MARKETING", At: "2030-03-17T17:46:40Z"}
		if diff := cmp.Diff(want, ComingCategory(x)); diff != "" || x.Category != "UTILITY" {
			t.Error(x.Category, diff)
		}
	}
	say(graph.CategoryBody(id, name, "en-US", "MARKETING", "", 0))
	say(graph.QualityScoreBody("message_template_components_update", id, name, "en-US", "RED"))
	for _, uid := range []int64{line.UID, other.UID} {
		x := of(uid)
		if x.Category != "MARKETING" || ComingCategory(x) != nil || x.Report.Quality != "RED" || x.Report.PreviousCategory != "UTILITY" {
			t.Errorf("%s %+v", x.Category, x.Report)
		}
	}
	if x := of(theirs.UID); x.Category != "UTILITY" || x.Report.Quality != "GREEN" {
		t.Errorf("another company's copy changed: %+v", x)
	}
	due := func(senderUID int64) (n int) {
		all, _, err := w.store.Templates.DueSyncs(t.Context(), time.Now().Add(syncRest), 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			if x.SenderUID == senderUID {
				n++
			}
		}
		return n
	}
	if due(line.UID) != 0 || due(other.UID) != 0 {
		t.Error("a known template made a comparison due")
	}
	say(graph.QualityScoreBody("message_template_quality_update", 99, "unknown", "en_US", "RED"))
	if due(line.UID) != 1 || due(other.UID) != 1 {
		t.Error("an unknown template made no comparison due")
	}
}

func TestASendersTemplatesAreImportedWithoutBeingAsked(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		graph, line, _ := w.graph("graph", "15555550103")
		_, broken, switchOff := w.graph("down", "15555550104")
		switchOff()
		graph.SetListed(listing(3, 0)...)
		if _, err := importDue(t.Context(), w.Catalog); err != nil {
			t.Fatal(err)
		}
		if n := len(w.templatesOf(line.UID)); n != 3 {
			t.Errorf("%d were imported", n)
		}
		all, err := w.store.Templates.Syncs(t.Context(), "ours")
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		for _, x := range all {
			wait := x.DueAt.Sub(now).Round(time.Hour)
			switch {
			case x.SenderUID == line.UID && (x.Imported != 3 || wait != 24*time.Hour),
				x.SenderUID == broken.UID && (x.Error == "" || wait != time.Hour),
				x.SenderUID == w.main.UID && !x.DueAt.IsZero(): // a channel without a whole list
				t.Errorf("%+v, next in %v", x, wait)
			}
		}
		if due, _, err := w.store.Templates.DueSyncs(t.Context(), now, 10); err != nil || len(due) != 0 {
			t.Error("still due:", due, err)
		}
	})
}
