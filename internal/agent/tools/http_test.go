package tools

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"carillon/internal/agent"
)

func order(url string) *Tool {
	return &Tool{
		Name: "order_status", Description: "Finds an order",
		HTTP: &HTTP{
			URL:     url + "/orders/{{order_id}}?key={{secret.shop_key}}",
			Headers: map[string]string{"Authorization": "Bearer {{secret.shop_key}}"}, Pick: "/order",
		},
		Parameters: []agent.Parameter{{Name: "order_id", Type: "text", Required: true}},
		Say:        agent.Texts{"en": "Your order {{order_id}} is {{/status}} and costs {{/price}}.", "es": "Su pedido está {{/status}}."},
		NotFound:   agent.Texts{"en": "There is no order {{order_id}}."},
	}
}

func TestARequestHasItsParametersAndSecrets(t *testing.T) {
	url, requests := serve(t, answer("application/json", `{"order":{"status":"shipped","price":12.50,"note":"a"},"other":1}`))
	w := newWorld(t)
	r := request(put(t, ours, order(url)))
	ran := w.run(r, map[string]any{"order_id": "AB-1 2/?&#"})
	if ran.Status != agent.RanWell || ran.Say != "Your order AB-1 2/?&# is shipped and costs 12.50." || ran.Code != 200 ||
		ran.Text != `{"note":"a","price":12.50,"status":"shipped"}` {
		t.Errorf("%+v", ran)
	}
	got := requests()[0]
	if got.RequestURI != "/orders/AB-1%202%2F%3F&%23?key=s3cr3t%2Fva%2Blueours" ||
		got.Header.Get("Authorization") != "Bearer "+secretValue+ours ||
		len(got.Header.Get("Idempotency-Key")) != 32 || got.Method != "GET" {
		t.Errorf("%s %s %v", got.Method, got.RequestURI, got.Header)
	}
	r.Language = "es-MX"
	if ran := w.run(r, map[string]any{"order_id": "AB-2"}); ran.Say != "Su pedido está shipped." {
		t.Errorf("%+v", ran)
	}
	if a, b := requests()[0].Header.Get("Idempotency-Key"), requests()[1].Header.Get("Idempotency-Key"); a == b {
		t.Error("other arguments have the same key")
	}
}

func TestABodyHasTypedValues(t *testing.T) {
	url, requests := serve(t, answer("application/json", `{}`))
	parameters := []agent.Parameter{
		{Name: "people", Type: "integer", Required: true},
		{Name: "day", Type: "date", Required: true},
		{Name: "vegan", Type: "boolean"},
		{Name: "note", Type: "text"},
	}
	plain := put(t, ours, &Tool{Name: "book", Description: "Books", HTTP: &HTTP{Method: "POST", URL: url}, Parameters: parameters})
	nested := put(t, ours, &Tool{Name: "book_nested", Description: "Books", Parameters: parameters, HTTP: &HTTP{
		Method: "PUT",
		URL:    url, Body: json.RawMessage(
			`{"v":1,"key":"{{secret.shop_key}}","booking":{"n":"{{people}}",` +
				`"text":"for {{people}} on {{day}}","vegan":"{{ vegan }}","notes":["{{note}}"]}}`),
	}})
	remove := put(t, ours, &Tool{
		Name: "drop", Description: "Drops", HTTP: &HTTP{Method: "DELETE", URL: url + "/x?a=1"},
		Parameters: parameters,
	})
	arguments := map[string]any{"people": 4.0, "day": "2026-06-05", "note": "Say \"hi\"\n{{secret.shop_key}}"}
	for tool, want := range map[*Tool]string{
		plain: `{"day":"2026-06-05","note":"Say \"hi\"\n{{secret.shop_key}}","people":4}`,
		nested: `{"booking":{"n":4,"notes":["Say \"hi\"\n{{secret.shop_key}}"],` +
			`"text":"for 4 on 2026-06-05"},"key":"` + secretValue + ours + `","v":1}`,
		remove: "",
	} {
		if ran := newWorld(t).run(request(tool), arguments); ran.Status != agent.RanWell {
			t.Errorf("%+v", ran)
		}
		all := requests()
		got := all[len(all)-1]
		body, _ := io.ReadAll(got.Body)
		if string(body) != want {
			t.Errorf("%s: %s", tool.Name, body)
		}
		if tool == remove && got.RequestURI != "/x?a=1&day=2026-06-05&note=Say+%22hi%22%0A%7B%7Bsecret.shop_key%7D%7D&people=4" {
			t.Error(got.RequestURI)
		}
	}
}

// A value never leaves its part of the address, and a secret only goes to its host.
func TestAnAddressCannotBeLeft(t *testing.T) {
	url, requests := serve(t, answer("application/json", `{"order":{}}`))
	for _, value := range []string{
		"..", ".", "../admin", "..%2Fadmin", "a/../../b", "@evil.test", "?x=1", "#x", "\\..\\x",
		"//evil.test/",
	} {
		newWorld(t).run(request(put(t, ours, order(url))), map[string]any{"order_id": value})
	}
	for _, r := range requests() {
		if !strings.HasPrefix(r.URL.EscapedPath(), "/orders/") || strings.Count(r.URL.EscapedPath(), "/") != 2 ||
			strings.HasSuffix(r.URL.EscapedPath(), "/..") || r.URL.RawQuery != "key=s3cr3t%2Fva%2Blueours" {
			t.Errorf("%s", r.RequestURI)
		}
	}
	if len(requests()) != 8 { // without "." and ".."
		t.Errorf("%d requests", len(requests()))
	}
	stolen := order(url)
	stolen.Name = "stolen"
	stolen.HTTP.Headers["X"] = "{{secret.bank_key}}"
	if _, err := base.Resources.PutResource(t.Context(), ours, Kind(), stolen); err == nil || !strings.Contains(err.Error(),
		"(http.headers.X)") {
		t.Errorf("%v", err)
	}
}

func TestFaultyArgumentsAreNotSent(t *testing.T) {
	url, requests := serve(t, answer("application/json", `{}`))
	tool := put(t, ours, &Tool{
		Name: "faulty", Description: "x", HTTP: &HTTP{URL: url}, Parameters: []agent.Parameter{
			{Name: "n", Type: "integer", Required: true},
			{Name: "x", Type: "number"},
			{Name: "b", Type: "boolean"},
			{Name: "d", Type: "date"},
			{Name: "c", Type: "choice", Choices: []string{"red", "blue"}},
			{Name: "t", Type: "text", Pattern: `[A-Z]{2}-\d{4}`},
		},
	})
	for reason, arguments := range map[string]map[string]any{
		"n is missing":       {},
		"whole number":       {"n": 1.5},
		"n must be a number": {"n": "1"},
		"closer to zero":     {"n": 1e300},
		"x must be a number": {"n": 1.0, "x": true},
		"true or false":      {"n": 1.0, "b": "yes"},
		"must be a date":     {"n": 1.0, "d": "2026-02-30"},
		"one of red, blue":   {"n": 1.0, "c": "green"},
		"have the form":      {"n": 1.0, "t": "AB-1234; DROP"},
		"must be a text":     {"n": 1.0, "t": []any{"AB-1234"}},
		"control characters": {"n": 1.0, "t": "AB-1234\x00"},
		"no parameter admin": {"n": 1.0, "admin": true},
		"at most 500":        {"n": 1.0, "t": strings.Repeat("A", 501)},
	} {
		ran := newWorld(t).run(request(tool), arguments)
		if ran.Status != agent.RanRefused || !strings.Contains(ran.Reason, reason) {
			t.Errorf("%s: %+v", reason, ran)
		}
	}
	if len(requests()) > 0 {
		t.Errorf("%d requests", len(requests()))
	}
}

// endless writes until the client leaves.
func endless(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for range 10 << 10 {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<10)); err != nil {
				return
			}
		}
	}
}

func status(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "it repeats "+secretValue+ours)
	}
}

// Whatever a server does, the call ends in time with a bounded, true result. A change that may have happened is not
// reported as failed.
func TestAServerThatLies(t *testing.T) {
	const ok = `{"order":{"status":"x","price":1}}`
	elsewhere, visits := serve(t, answer("application/json", ok))
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	hang := func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}
	drip := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"order":`)
		w.(http.Flusher).Flush()
		hang(w, r)
	}
	for name, x := range map[string]struct {
		h            http.HandlerFunc
		read, change agent.Status
		reason       string
	}{
		"silent":        {hang, agent.RanFailed, agent.RanUnknown, "in time"},
		"slow body":     {drip, agent.RanFailed, agent.RanUnknown, "in time"},
		"10 MB":         {endless("application/json"), agent.RanFailed, agent.RanUnknown, "too large"},
		"10 MB of text": {endless("text/plain"), agent.RanFailed, agent.RanUnknown, "too large"},
		"a promised 10 MB": {
			status(200, "Content-Length", "10000000", "Content-Type", "text/plain"), agent.RanFailed,
			agent.RanUnknown, "too large",
		},
		"a shorter body": {
			status(200, "Content-Length", "9000", "Content-Type", "application/json"), agent.RanFailed,
			agent.RanUnknown, "No response",
		},
		"HTML":             {answer("text/html", "<p>"+ok), agent.RanFailed, agent.RanUnknown, "neither JSON"},
		"no type":          {status(200, "Content-Type", ""), agent.RanFailed, agent.RanUnknown, "neither JSON"},
		"an image":         {answer("image/png", ok), agent.RanFailed, agent.RanUnknown, "neither JSON"},
		"no JSON":          {answer("application/json", "{x"), agent.RanFailed, agent.RanUnknown, "said to be JSON"},
		"two documents":    {answer("application/json", ok+ok), agent.RanFailed, agent.RanUnknown, "said to be JSON"},
		"something else":   {answer("application/json", `{"cart":1}`), agent.RanFailed, agent.RanUnknown, "nothing at /order"},
		"500":              {status(500), agent.RanFailed, agent.RanUnknown, "500"},
		"400":              {status(400), agent.RanFailed, agent.RanFailed, "400"},
		"401":              {status(401), agent.RanFailed, agent.RanFailed, "401"},
		"404":              {status(404), agent.RanNothing, agent.RanNothing, "404"},
		"to another host":  {status(302, "Location", elsewhere), agent.RanFailed, agent.RanFailed, "redirect"},
		"to the same host": {status(307, "Location", "/other"), agent.RanFailed, agent.RanFailed, "redirect"},
		"to metadata": {
			status(301, "Location", "http://169.254.169.254/latest/meta-data"), agent.RanFailed, agent.RanFailed,
			"redirect",
		},
		"to a private host": {status(308, "Location", "http://10.0.0.1/"), agent.RanFailed, agent.RanFailed, "redirect"},
		"another protocol":  {status(101, "Upgrade", "x", "Connection", "Upgrade"), agent.RanFailed, agent.RanUnknown, "No response"},
		"hung up": {func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := http.NewResponseController(w).Hijack()
			_ = c.Close()
		}, agent.RanFailed, agent.RanUnknown, "No response"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, requests := serve(t, x.h)
			w := newWorld(t)
			for method, want := range map[string]agent.Status{"GET": x.read, "POST": x.change} {
				tool := order(url)
				tool.Name, tool.HTTP.Method, tool.Timeout = strings.ReplaceAll("lies "+method+" "+name, " ", "_"), method, maxTimeout
				if x.reason == "in time" {
					tool.Timeout = 1
				}
				before := len(requests())
				ran := w.run(request(put(t, ours, tool)), map[string]any{"order_id": "AB-1"})
				if ran.Status != want || !strings.Contains(ran.Reason, x.reason) ||
					len(ran.Text)+len(ran.Say)+len(ran.Reason) > maxResult+maxSaid {
					t.Errorf("%s: %+v", method, ran)
				}
				if n := len(requests()) - before; n != 1 && !(method == "GET" && n == 2 && name == "hung up") {
					t.Errorf("%s: %d requests", method, n)
				}
			}
		})
	}
	t.Cleanup(func() {
		if n := len(visits()); n > 0 {
			t.Errorf("%d redirects were followed", n)
		}
	})
}

// A server that is not reached got no change, and a private address is not reached.
func TestAServerThatCannotBeReached(t *testing.T) {
	for name, url := range map[string]string{
		"metadata": "http://169.254.169.254", "private": "https://10.0.0.1", "no such host": "https://nowhere.invalid",
		"nobody listens": "http://127.0.0.1:1",
	} {
		tool := &Tool{Name: "unreached", Description: "x", HTTP: &HTTP{Method: "POST", URL: url}, Timeout: 5}
		if ran := newWorld(t).run(request(put(t, ours, tool)), nil); ran.Status != agent.RanFailed {
			t.Errorf("%s: %+v", name, ran)
		}
	}
}

func TestASecretThatAServerRepeatsIsHidden(t *testing.T) {
	for kind, text := range map[string]string{
		"application/json": `{"order":{"status":"` + secretValue + ours + `",` +
			`"price":"s3cr3\u0074/va+lueours","` + secretValue + ours + `":1}}`,
		"text/plain": "The key is " + secretValue + ours + ".",
	} {
		url, _ := serve(t, answer(kind, text))
		tool := order(url)
		tool.Name = "repeats"
		ran := newWorld(t).run(request(put(t, ours, tool)), map[string]any{"order_id": "AB-1"})
		if ran.Status != agent.RanWell || !strings.Contains(ran.Text, "•••") {
			t.Errorf("%+v", ran)
		}
	}
}

func TestUnprintableCharactersAreRemoved(t *testing.T) {
	url, _ := serve(t, answer("text/plain; charset=utf-8", "a\x00b\u202ec\u200bd\U000e0041e\xfff\x1b[31m\ng"))
	tool := put(t, ours, &Tool{Name: "odd", Description: "x", HTTP: &HTTP{URL: url}})
	if ran := newWorld(t).run(request(tool), nil); ran.Text != "abcde\ufffdf[31m\ng" || ran.Say != ran.Text {
		t.Errorf("%q", ran.Text)
	}
}

func TestResultsWithoutASentence(t *testing.T) {
	for text, want := range map[string]string{
		`{"status":"shipped","late":false,"items":[1],"days_left":2}`: "days left: 2, late: false, status: shipped",
		`"Monday"`: "Monday", `12.50`: "12.50", `[1,2]`: "", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}`: "",
	} {
		url, _ := serve(t, answer("application/problem+json", text))
		tool := put(t, ours, &Tool{Name: "flat", Description: "x", HTTP: &HTTP{URL: url}})
		if ran := newWorld(t).run(request(tool), nil); ran.Say != want || ran.Status != agent.RanWell {
			t.Errorf("%s: %+v", text, ran)
		}
	}
}

// An agent has the tools that it lists, of the same company, and no others.
func TestOnlyTheAgentsToolsAreOffered(t *testing.T) {
	url, requests := serve(t, answer("application/json", `{}`))
	mine := put(t, ours, &Tool{Name: "mine", Description: "x", HTTP: &HTTP{URL: url}})
	put(t, ours, &Tool{Name: "not_listed", Description: "x", HTTP: &HTTP{URL: url}})
	foreign := put(t, theirs, &Tool{Name: "foreign", Description: "x", HTTP: &HTTP{URL: url}})
	w := newWorld(t)
	r := request(mine, foreign, &Tool{ID: "gone"})
	offered, err := w.Usable(t.Context(), r)
	if err != nil || len(offered) != 1 || offered[0].Name != "mine" {
		t.Errorf("%+v, %v", offered, err)
	}
	ran, err := w.Run(t.Context(), r, &agent.ServerTool{ID: foreign.ID, Name: "foreign"}, &agent.Call{ID: foreign.ID})
	if err != nil || ran.Status != agent.RanRefused || len(requests()) > 0 {
		t.Errorf("%+v, %v, %d requests", ran, err, len(requests()))
	}
}

// net/http repeats a request with an Idempotency-Key when a used connection breaks. A change must not be repeated.
func TestAChangeIsNotRepeatedOnABrokenConnection(t *testing.T) {
	for _, method := range []string{"POST", "DELETE"} {
		for _, idempotent := range []bool{false, true} {
			broken := false
			url, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if !broken {
					answer("application/json", `{"order":{"status":"x","price":1}}`)(w, r)
					return
				}
				c, _, _ := http.NewResponseController(w).Hijack()
				_ = c.Close()
			})
			tool := order(url)
			tool.Name, tool.HTTP.Method, tool.Idempotent = "broken", method, idempotent
			w, r := newWorld(t), request(put(t, ours, tool))
			if ran := w.run(r, map[string]any{"order_id": "AB-1"}); ran.Status != agent.RanWell {
				t.Errorf("%+v", ran)
			}
			broken = true
			ran := w.run(r, map[string]any{"order_id": "AB-2"})
			if n := len(requests()); ran.Status != agent.RanUnknown || (n != 2) != idempotent {
				t.Errorf("%s, idempotent %t: %+v, %d requests", method, idempotent, ran, n)
			}
		}
	}
}
