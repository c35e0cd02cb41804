package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/base/content"
	"carillon/internal/base/share"
	"carillon/internal/edge/api/apitest"
	"carillon/internal/edge/httpio"
	"carillon/internal/queue"
	"carillon/internal/send/catalog"
	"carillon/internal/send/notify"
	"carillon/internal/send/whatsapp"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
	"carillon/internal/talk/person"
)

// channelRig serves two companies whose senders use a fake Cloud API. Every response is checked against the OpenAPI
// description.
type channelRig struct {
	t          *testing.T
	store      *store.Store
	graph      *graphtest.Server
	closeGraph func() error
	client     *http.Client
	url        string
	main       *carillon.Sender // of company ours
	template   *carillon.Template
	ready      error
	calls      *lateCalls
	written    written
	log        logged
}

// description returns the checker of the OpenAPI description, which is parsed once.
var description = sync.OnceValues(func() (*apitest.Checker, error) { return apitest.New(OpenAPI()) })

func onEachEngine(t *testing.T, test func(t *testing.T, r *channelRig)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newChannelRig(t, store.Options{Dir: storetest.Folder(t)})) })
	t.Run("postgres", func(t *testing.T) {
		test(t, newChannelRig(t, store.Options{DatabaseURL: storetest.PatientPostgres(t)}))
	})
}

func newChannelRig(t *testing.T, o store.Options) *channelRig {
	t.Helper()
	graph, err := graphtest.New(graphtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	closeGraph := sync.OnceValue(graph.Close)
	t.Cleanup(func() { _ = closeGraph() })
	st, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	r := &channelRig{t: t, store: st, graph: graph, closeGraph: closeGraph, calls: &lateCalls{store: st}}
	r.setUp()
	log := slog.New(slog.NewTextHandler(&r.log, nil))
	channel := whatsapp.New(whatsapp.Options{})
	t.Cleanup(channel.CloseIdleConnections)
	one := time.Now() // all requests of a test count in one minute
	limits := limit.New(st.Rates, log)
	limits.Now = func() time.Time { return one }
	routes := Routes(Deps{
		Store: st, Auth: auth.New(st, limits, auth.Options{}), Limits: limits, Log: log, People: person.New(st, new(share.Set)),
		Calls: r.calls, Notify: notify.New(st, queue.New(st, queue.Options{}), notify.Options{}),
		Catalog: catalog.New(st, map[string]catalog.Reviewer{"whatsapp": channel}, catalog.Options{}),
		Ready: func(context.Context) (carillon.Details, error) {
			return carillon.Details{{Key: "database", Value: "ok"}}, r.ready
		},
		Callbacks: map[string]Callback{"whatsapp": graphCallback()}, Messaging: &r.written,
	})
	server := httptest.NewServer(httpio.NewRouter(log, nil, routes...))
	t.Cleanup(server.Close)
	checker, err := description()
	if err != nil {
		t.Fatal(err)
	}
	r.url, r.client = server.URL, &http.Client{Transport: &apitest.Transport{Test: t, Checker: checker, Next: http.DefaultTransport}}
	return r
}

func graphCallback() Callback {
	return Callback{
		Handshake: whatsapp.Handshake, Portfolio: func(s *carillon.Sender) string { return whatsapp.Portfolio(s.Settings) },
		Signed: func(header http.Header) bool { return whatsapp.Signed(header.Get(whatsapp.SignatureHeader)) },
		Verify: func(settings json.RawMessage, h http.Header, body []byte) bool {
			return whatsapp.Verify(settings, h.Get("X-Hub-Signature-256"), body)
		},
		Parse: func(body []byte, s *carillon.Sender) (CallbackEvents, error) {
			c, err := whatsapp.ParseCallback(body, s.UID)
			inbound, elsewhere := c.InboundFor(s.Settings)
			return CallbackEvents{
				Receipts: c.Receipts, Templates: c.Templates, Notice: c.Newest(s.Settings, s.Number), Concerned: c.Concerns(s.Settings),
				Ignored: c.Ignored, Inbound: inbound, Elsewhere: elsewhere, Unnamed: c.Unnamed,
				Replies: c.Replies, Preferences: c.PreferencesFor(s.Settings),
			}, err
		},
	}
}

func (r *channelRig) setUp() {
	r.t.Helper()
	now := time.Now()
	line := func(company, number string, settings json.RawMessage) *carillon.Sender {
		return &carillon.Sender{
			CompanyID: company, ID: "main", Number: number, Channel: carillon.Messaging, Provider: "whatsapp", Default: true,
			MediaCheck: "syntax", Unknown: carillon.DefaultUnknownPolicy(), Settings: settings,
		}
	}
	r.main = line("ours", "15555550100", r.graph.Settings())
	foreign := line("theirs", "15555550200", bytes.Replace(r.graph.Settings(), []byte("provider-app-secret"), []byte("their-secret"), 1))
	r.template = &carillon.Template{
		ID: "77", CompanyID: "ours", Name: "greet", Language: "es_ES", Category: "UTILITY", Status: carillon.TemplateApproved,
		Components: []carillon.Component{{Type: content.TypeBody, Text: "Hola {{1}} <3"}},
	}
	ours := &carillon.Company{ID: "ours", Name: "Ours", Limits: carillon.Limits{TemplatesPerDay: 3, TemplateListsPerMinute: 50}}
	err := r.store.Config.Change(r.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		err := errors.Join(accounts.PutCompany(ctx, tx, ours, now),
			accounts.PutCompany(ctx, tx, &carillon.Company{ID: "theirs", Name: "Theirs"}, now),
			settings.PutSender(ctx, tx, r.main, now), settings.PutSender(ctx, tx, foreign, now), content.Compile(r.template))
		r.template.SenderUID = r.main.UID
		_, proof := settings.ProveNumber(ctx, tx, foreign, false, now)
		err = errors.Join(err, proof)
		err = errors.Join(err, settings.PutTemplate(ctx, tx, r.template, now))
		for _, k := range []accounts.AccessKey{
			{ID: "1", CompanyID: "ours", Key: "ck_ours", Scopes: []string{"*"}},
			{ID: "2", CompanyID: "theirs", Key: "ck_theirs", Scopes: []string{"*"}},
			{ID: "3", CompanyID: "ours", Key: "ck_read", Scopes: []string{"notify:read"}},
			{ID: "4", CompanyID: "ours", Key: "ck_send", Scopes: []string{"notify:send"}},
		} {
			err = errors.Join(err, accounts.PutKey(ctx, tx, &k, now))
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// call sends a request under the prefix and returns the response's status and body.
func (r *channelRig) call(method, path, key, body string) (int, string) {
	r.t.Helper()
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+prefix+path+join+"access_key="+key, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return r.do(req)
}

func (r *channelRig) do(req *http.Request) (int, string) {
	r.t.Helper()
	res, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// want makes a call and checks its status, and that the response contains a text.
func (r *channelRig) want(method, path, key, body string, status int, holds string) string {
	r.t.Helper()
	got, text := r.call(method, path, key, body)
	if got != status || !strings.Contains(text, holds) {
		r.t.Errorf("%s %s: %d %s", method, path, got, text)
	}
	return text
}

func TestTheListAnswersByNumber(t *testing.T) {
	onEachEngine(t, func(t *testing.T, r *channelRig) {
		_, got := r.call("GET", "/notify/templates?phone_number=15555550100", "ck_ours", "")
		want := `[{"id":"77","name":"greet","status":"APPROVED","category":"UTILITY","language":"es_ES",` +
			`"components":[{"text":"Hola {{1}} <3","type":"BODY"}],"parameter_format":"POSITIONAL"}]`
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for _, tc := range []struct {
			query  string
			status int
			holds  string
		}{
			{"phone_number=19999999999", 200, "[]"},
			{"phone_number=15555550200", 403, `"reason":"The phone_number belongs to another company"`},
			{"x=1", 400, `"Required field missing","details":{"field":"phone_number"`},
			{"phone_number=", 400, `"Required field missing"`},
			{
				"phone_number=%2B15555550100", 400,
				`"Invalid phone number format","details":{"field":"phone_number","provided":"+15555550100"`,
			},
			{"phone_number=1555555a100", 400, `"Invalid phone number format"`},
		} {
			r.want("GET", "/notify/templates?"+tc.query, "ck_ours", "", tc.status, tc.holds)
		}
		r.want("GET", "/notify/templates?phone_number=15555550100", "ck_send", "", 403, `"forbidden"`)
		r.want("GET", "/notify/templates?phone_number=15555550100", "", "", 401, `"missing"`)
	})
}

func TestTheListHasItsOwnRate(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	refused := 0
	for range 120 { // enough for two minutes, wherever the minute boundary falls
		status, text := r.call("GET", "/notify/templates?phone_number=19999999999", "ck_ours", "")
		if status == 429 && strings.Contains(text, `"details":{"limit":50,"window":"60s"`) {
			refused++
		}
	}
	if refused < 20 {
		t.Errorf("%d of 120 were refused", refused)
	}
}

const greeting = `{"name":"greeting","language":"es_ES","content":"Hola {{name}}, bienvenida.","variables":["name"],"category":"UTILITY"`

func TestATemplateLivesThroughTheRoutes(t *testing.T) {
	onEachEngine(t, func(t *testing.T, r *channelRig) {
		made := r.want("POST", "/notify/templates", "ck_ours", greeting+"}", 200,
			`{"success":true,"message":"Template created successfully","template":{"id":"`)
		id := idOf(t, made)
		r.want("GET", "/notify/templates/"+id, "ck_ours", "", 200, `"status":"DRAFT"`)
		r.want("PATCH", "/notify/templates/"+id, "ck_ours", `{"category":"MARKETING"}`, 200, `"status":"DRAFT","category":"MARKETING"`)
		r.want("GET", "/notify/templates/"+id, "ck_ours", "", 200, `"parameter_format":"NAMED"`)
		r.want("POST", "/notify/templates/"+id+"/submit", "ck_ours", "", 200, `"status":"PENDING"`)
		r.want("POST", "/notify/templates/"+id+"/submit", "ck_ours", "", 409, `"conflict"`)
		provider := r.graph.TemplateID("greeting", "es_ES")
		r.want("GET", "/notify/templates/"+provider, "ck_ours", "", 200, `{"id":"`+provider+`"`)

		r.deliver(r.graph.TemplateBody("greeting", "es_ES", "REJECTED", "PROMOTIONAL"), 200)
		r.graph.SetTemplate("greeting", "es_ES", "REJECTED", "PROMOTIONAL")
		r.want("GET", "/notify/template/components?template=greeting", "ck_ours", "", 200, `{"template":{"id":"`+provider+`"`)
		r.want("GET", "/notify/templates/"+id, "ck_ours", "", 200, `"reason":"PROMOTIONAL"`)
		r.want("PATCH", "/notify/templates/"+id, "ck_ours", `{"content":"Hola {{name}}, gracias.","submit":true}`, 200,
			`"status":"PENDING"`)
		r.deliver(r.graph.TemplateBody("greeting", "es_ES", "APPROVED", "NONE"), 200)
		r.want("GET", "/notify/templates?phone_number=15555550100", "ck_ours", "", 200, `"name":"greeting","status":"APPROVED"`)
		r.want("PATCH", "/notify/templates/"+id, "ck_ours", `{"category":"UTILITY"}`, 409, `"conflict"`)
		r.want("DELETE", "/notify/templates/"+id, "ck_ours", "", 204, "")
		if r.graph.TemplateID("greeting", "es_ES") != "" {
			t.Error("still at the channel")
		}
		r.want("GET", "/notify/templates/"+id, "ck_ours", "", 404, `"not_found"`)
	})
}

func idOf(t *testing.T, created string) string {
	t.Helper()
	var body struct{ Template struct{ ID string } }
	if err := json.Unmarshal([]byte(created), &body); err != nil {
		t.Fatal(err)
	}
	return body.Template.ID
}

func TestAnEditKeepsTheSampleValuesOfATextItLeaves(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	body := `{"name":"greeting","language":"es_ES","content":"Hola {{1}}, bienvenida.","variables":["Ana"],"category":"UTILITY"}`
	id := idOf(t, r.want("POST", "/notify/templates", "ck_ours", body, 200, ""))
	r.want("PATCH", "/notify/templates/"+id, "ck_ours", `{"category":"MARKETING"}`, 200, `"example":{"body_text":[["Ana"]]}`)
	r.want("PATCH", "/notify/templates/"+id, "ck_ours", `{"variables":["Eva"]}`, 200, `"example":{"body_text":[["Eva"]]}`)
}

func TestCreationsHaveADailyRate(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	for _, name := range []string{"a", "b", "c"} {
		r.want("POST", "/notify/templates?phone_number=15555550100", "ck_ours", strings.Replace(greeting, "greeting", name, 1)+"}", 200, "")
	}
	r.want("POST", "/notify/templates", "ck_ours", greeting+"}", 429,
		`"rate_limit_exceeded","message":"Too many templates were created today","details":{"limit":3,"window":"86400s","reset_time":"`)
}

func TestCreationsAreForOwnSenders(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	r.want("POST", "/notify/templates?phone_number=15555550200", "ck_ours", greeting+"}", 403, `"forbidden"`)
	r.want("POST", "/notify/templates?phone_number=19999999999", "ck_ours", greeting+"}", 400, `"field":"phone_number"`)
	r.want("POST", "/notify/templates?phone_number=1", "ck_ours", greeting+"}", 400, `"Invalid phone number format"`)
}

func TestAnotherCompanysTemplateIsNotFound(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	for _, id := range []string{"77", "1", "x", "%00", "%ff", strings.Repeat("7", 40)} {
		r.want("GET", "/notify/templates/"+id, "ck_theirs", "", 404, `"not_found"`)
		r.want("PATCH", "/notify/templates/"+id, "ck_theirs", `{"category":"MARKETING"}`, 404, `"not_found"`)
		r.want("DELETE", "/notify/templates/"+id, "ck_theirs", "", 404, `"not_found"`)
		r.want("POST", "/notify/templates/"+id+"/submit", "ck_theirs", "", 404, `"not_found"`)
	}
	r.want("GET", "/notify/template/components?template=greet", "ck_theirs", "", 404, `"not_found"`)
	r.want("GET", "/notify/template/components", "ck_ours", "", 400, `"Required field missing"`)
}

func TestASubmissionToAChannelThatIsDownIsA502(t *testing.T) {
	r := newChannelRig(t, store.Options{Dir: storetest.Folder(t)})
	id := idOf(t, r.want("POST", "/notify/templates", "ck_ours", greeting+"}", 200, ""))
	if err := r.closeGraph(); err != nil {
		t.Fatal(err)
	}
	r.want("POST", "/notify/templates/"+id+"/submit", "ck_ours", "", 502, `"details":{"service":"whatsapp","estimated_recovery":"`)
	r.want("GET", "/notify/templates/"+id, "ck_ours", "", 200, `"status":"DRAFT"`)
}
