package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"carillon/client"
	"carillon/internal/base/config"
	"carillon/internal/base/need"
	"carillon/internal/edge/mcp"
)

// TestMain lets the test binary act as carillon itself, because an assistant starts the program as a process.
func TestMain(m *testing.M) {
	if os.Getenv("CARILLON_TEST_AS_PROGRAM") != "" {
		main()
	}
	// The tests are idle most of the time, so many can run in parallel. -parallel overrides this.
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// assistant is an MCP client from the official library.
type assistant struct {
	t       *testing.T
	session *sdk.ClientSession
	got     strings.Builder // everything received
}

func assist(t *testing.T, through sdk.Transport) *assistant {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), through, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return &assistant{t: t, session: session}
}

// call calls a tool. failed is the error text if the tool failed.
func (a *assistant) call(tool string, args map[string]any) (out map[string]any, failed string) {
	a.t.Helper()
	res, err := a.session.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return nil, err.Error()
	}
	text := res.Content[0].(*sdk.TextContent).Text
	a.got.WriteString(text)
	if res.IsError {
		return nil, text
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		a.t.Fatalf("%s returned %q", tool, text)
	}
	return out, ""
}

// good calls a tool that must succeed.
func (a *assistant) good(tool string, args map[string]any) map[string]any {
	a.t.Helper()
	out, failed := a.call(tool, args)
	if failed != "" {
		a.t.Fatalf("%s: %s", tool, failed)
	}
	return out
}

func (a *assistant) tools() (names []string) {
	a.t.Helper()
	for tool, err := range a.session.Tools(a.t.Context(), nil) {
		if err != nil {
			a.t.Fatal(err)
		}
		names = append(names, tool.Name)
		if schema, _ := json.Marshal(tool.InputSchema); strings.Contains(string(schema), "null") {
			a.t.Errorf("%s takes null: %s", tool.Name, schema)
		}
		if tool.Description == "" || tool.Annotations == nil || tool.Annotations.DestructiveHint == nil {
			a.t.Errorf("%s says too little of itself: %+v", tool.Name, tool)
		}
		if readOnly := strings.HasPrefix(tool.Name, "get_") || strings.HasPrefix(tool.Name, "list_") ||
			strings.HasPrefix(tool.Name, "read_"); tool.Annotations.ReadOnlyHint != readOnly {
			a.t.Errorf("%s says that it only reads: %v", tool.Name, tool.Annotations.ReadOnlyHint)
		}
	}
	slices.Sort(names)
	return names
}

func (a *assistant) read(uri string) string {
	a.t.Helper()
	res, err := a.session.ReadResource(a.t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return "error: " + err.Error()
	}
	return res.Contents[0].Text
}

var hello = map[string]any{
	"send_id": "first", "to": []any{map[string]any{"number": "34600111222", "name": "Ana"}}, "template": "hello", "language": "en",
	"values": map[string]any{"body_text_0": "{{name}}"},
	"sender": "demo", "type": "utility", "campaign": "assistant",
}

func with(base map[string]any, more map[string]any) map[string]any {
	all := maps.Clone(base)
	maps.Copy(all, more)
	return all
}

var allTools = []string{
	"answer_person", "cancel_notification", "create_template", "get_answer", "get_call", "get_notification", "get_template",
	"get_usage", "list_events", "list_notifications", "list_templates",
	"move_notification", "place_call", "send_message", "submit_template", "suppress_number", "upload_media",
}

func TestAnAssistantOnStandardInputSendsLooksUpAndTriesTheSandbox(t *testing.T) {
	t.Parallel()
	file := demo(t)
	ready, err := config.ReadReady(file)
	if err != nil {
		t.Fatal(err)
	}
	program := exec.CommandContext(t.Context(), os.Args[0], "mcp", "--ready-file", file)
	program.Env = append(os.Environ(), "CARILLON_TEST_AS_PROGRAM=1")
	a := assist(t, &sdk.CommandTransport{Command: program})
	want := slices.Sorted(slices.Values(append([]string{"list_sandbox_phones", "read_sandbox_phone", "write_from_sandbox_phone"},
		allTools...)))
	if d := cmp.Diff(want, a.tools()); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}

	for tool, err := range a.session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if h := tool.Annotations; tool.Name == "send_message" && (!h.IdempotentHint || !*h.DestructiveHint || !*h.OpenWorldHint) {
			t.Errorf("an assistant would not ask before it sends: %+v", h)
		}
	}
	sent := a.good("send_message", hello)
	if again := a.good("send_message", hello); again["notification_id"] != sent["notification_id"] || again["already_accepted"] != true {
		t.Errorf("sent %v, and again %v", sent, again)
	}
	shown := []any{}
	eventually(t, "it arrives", func() bool {
		shown = a.good("read_sandbox_phone", map[string]any{"sender": "demo", "number": "34600111222"})["messages"].([]any)
		return len(shown) > 0
	})
	if text := shown[0].(map[string]any)["text"]; text != "Hello Ana, this is Carillon." {
		t.Errorf("the phone shows %v", shown)
	}
	if wrote := a.good("write_from_sandbox_phone",
		map[string]any{"sender": "demo", "number": "34600111222", "text": "Thank you"}); wrote["id"] == "" {
		t.Errorf("wrote %v", wrote)
	}
	if phones := a.good("list_sandbox_phones", map[string]any{"sender": "demo"}); len(phones["numbers"].([]any)) != 1 {
		t.Errorf("phones %v", phones)
	}

	later := a.good("send_message", with(hello, map[string]any{"send_id": "later", "at": "2090-01-15T09:30:00", "zone": "Europe/Madrid"}))
	if later["scheduled_time"] != "2090-01-15T08:30:00Z" {
		t.Errorf("scheduled %v", later)
	}
	if moved := a.good("move_notification", map[string]any{
		"notification_id": later["notification_id"],
		"at":              "2090-01-16T09:30:00Z",
	}); moved["scheduled_time"] != "2090-01-16T09:30:00Z" {
		t.Errorf("moved %v", moved)
	}
	if list := a.good("list_notifications", map[string]any{"campaign": "assistant", "limit": 1}); list["more"] != true ||
		len(list["notifications"].([]any)) != 1 {
		t.Errorf("listed %v", list)
	}
	if canceled := a.good("cancel_notification", map[string]any{"notification_id": later["notification_id"]}); canceled["canceled"] != 1.0 {
		t.Errorf("canceled %v", canceled)
	}

	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{
			"send_message", with(hello, map[string]any{"send_id": "x", "template": "helo"}),
			`^template_not_found: .*helo.*suggestion: .*hello.*\(request_id req_`,
		},
		{
			"send_message", with(hello, map[string]any{"send_id": "x", "values": map[string]any{}}),
			`^variable_mismatch: .*missing: \["body_text_0"\]`,
		},
		{"send_message", with(hello, map[string]any{"send_id": ""}), `^send_id must have`},
		{
			"send_message", with(hello, map[string]any{"send_id": "first", "campaign": "another"}),
			`(?s)^idempotency_key_reused.*Take another one for another message`,
		},
		{"send_message", map[string]any{"template": "hello"}, `missing properties`},
		{"get_notification", map[string]any{"notification_id": "019ac5b0-6f2e-7c41-9d3a-5b8e2f10c7d4"}, `^not_found`},
		{"list_notifications", map[string]any{"since": "yesterday"}, `^since must look like`},
		{"cancel_notification", map[string]any{"notification_id": later["notification_id"]}, `^conflict`},
	} {
		if _, failed := a.call(c.tool, c.args); !regexp.MustCompile(c.want).MatchString(failed) {
			t.Errorf("%s %v: %q, want %s", c.tool, c.args, failed, c.want)
		}
	}

	t.Run("templates", func(t *testing.T) { draftsTemplates(t, a) })
	t.Run("a call", func(t *testing.T) { hangsUp(t, a) })

	name := with(hello, map[string]any{"send_id": "Reserva nº 7\n"})
	if first, again := a.good("send_message", name), a.good("send_message", name); first["notification_id"] != again["notification_id"] {
		t.Errorf("sent %v, and again %v", first, again)
	}

	if text := a.read("carillon://docs/llms.txt"); !strings.Contains(text, "guides/sandbox") {
		t.Errorf("llms.txt is %.200q", text)
	}
	if text := a.read("carillon://docs/guides/sandbox.md"); !strings.Contains(text, "0001") {
		t.Errorf("the sandbox's guide is %.200q", text)
	}
	for _, uri := range []string{
		"carillon://docs/nowhere.md", "carillon://docs/../panel.md", "carillon://docs/guides/sandbox.md?x", "file:///etc/passwd",
	} {
		if text := a.read(uri); !strings.HasPrefix(text, "error: ") {
			t.Errorf("%s is %.100q", uri, text)
		}
	}
	if strings.Contains(a.got.String(), ready.AccessKey) || strings.Contains(a.got.String(), "eyJ") {
		t.Error("an answer has the key or a token in it")
	}
}

// draftsTemplates creates templates with every component through the assistant, and reads them back in each language.
func draftsTemplates(t *testing.T, a *assistant) {
	for language, title := range map[string]string{"en": "Booking {{1}}", "es_ES": "Reserva {{1}}"} {
		found := a.good("get_template", map[string]any{"template": "booking_confirmed", "language": language})
		if header := found["components"].([]any)[0].(map[string]any); found["language"] != language || header["text"] != title {
			t.Errorf("in %s: %v", language, found)
		}
	}
	if found := a.good("get_template", map[string]any{"template": "booking_confirmed"}); found["name"] != "booking_confirmed" ||
		found["status"] != "APPROVED" {
		t.Errorf("without a language: %v", found)
	}

	draft := map[string]any{
		"name": "moved", "language": "en", "category": "UTILITY", "body": "Hello {{1}}, your tour is on {{2}} now.",
		"samples": map[string]any{"1": "Ana", "2": "Monday"},
	}
	whole := with(draft, map[string]any{
		"header": map[string]any{"text": "Booking {{1}}", "sample": "HT-1042"}, "footer": "Harbour Tours",
		"buttons": []any{
			map[string]any{
				"type": "URL", "text": "Your booking", "url": "https://harbour.test/b/{{1}}", "sample": "https://harbour.test/b/HT-1042",
			},
			map[string]any{"type": "PHONE_NUMBER", "text": "Call us", "phone_number": "34600111222"},
			map[string]any{"type": "QUICK_REPLY", "text": "Fine"},
			map[string]any{"type": "QUICK_REPLY", "text": "Too late"},
		},
	})
	made := a.good("create_template", whole)
	a.good("submit_template", map[string]any{"id": made["id"]})
	sends := with(hello, map[string]any{
		"send_id": "moved", "template": "moved", "values": map[string]any{
			"header_text": "HT-1042", "body_text_0": "Ana", "body_text_1": "Monday", "button_url_0": "HT-1042",
		},
	})
	eventually(t, "the template is approved", func() bool {
		_, failed := a.call("send_message", sends)
		if failed != "" && !strings.HasPrefix(failed, "template_not_approved") {
			t.Fatalf("it cannot be sent: %s", failed)
		}
		return failed == ""
	})
	want := []any{
		map[string]any{
			"type": "HEADER", "format": "TEXT", "text": "Booking {{1}}", "example": map[string]any{"header_text": []any{"HT-1042"}},
		},
		map[string]any{"type": "BODY", "text": draft["body"], "example": map[string]any{"body_text": []any{[]any{"Ana", "Monday"}}}},
		map[string]any{"type": "FOOTER", "text": "Harbour Tours"},
		map[string]any{"type": "BUTTONS", "buttons": []any{
			map[string]any{
				"type": "URL", "text": "Your booking", "url": "https://harbour.test/b/{{1}}",
				"example": []any{"https://harbour.test/b/HT-1042"},
			},
			map[string]any{"type": "PHONE_NUMBER", "text": "Call us", "phone_number": "34600111222"},
			map[string]any{"type": "QUICK_REPLY", "text": "Fine"},
			map[string]any{"type": "QUICK_REPLY", "text": "Too late"},
		}},
	}
	if d := cmp.Diff(want, a.good("get_template", map[string]any{"template": "moved", "language": "en"})["components"]); d != "" {
		t.Errorf("components (-want +got):\n%s", d)
	}

	a.good("create_template", map[string]any{
		"name": "moved", "language": "de", "category": "UTILITY", "body": "Hallo {{name}}.", "variables": []any{"name"},
		"header": map[string]any{"format": "image", "sample": "4::aW"},
	})
	image := map[string]any{"type": "HEADER", "format": "IMAGE", "example": map[string]any{"header_handle": []any{"4::aW"}}}
	german := a.good("get_template", map[string]any{"template": "moved", "language": "de"})
	if d := cmp.Diff(image, german["components"].([]any)[0]); d != "" || german["status"] != "DRAFT" ||
		german["parameter_format"] != "NAMED" {
		t.Errorf("a picture above (-want +got):\n%s\n%v", d, german)
	}
	a.good("create_template", map[string]any{
		"name": "named", "language": "en", "category": "UTILITY", "body": "Hello.",
		"header": map[string]any{"text": "For {{ name }}", "sample": "Ana"},
	})
	named := map[string]any{
		"type": "HEADER", "format": "TEXT", "text": "For {{ name }}",
		"example": map[string]any{"header_text_named_params": []any{map[string]any{"param_name": "name", "example": "Ana"}}},
	}
	if d := cmp.Diff(named, a.good("get_template", map[string]any{"template": "named"})["components"].([]any)[0]); d != "" {
		t.Errorf("a name in a header (-want +got):\n%s", d)
	}

	button := func(more map[string]any) []any {
		return []any{with(map[string]any{"type": "QUICK_REPLY", "text": "Fine"}, more)}
	}
	for _, c := range []struct {
		more map[string]any
		want string
	}{
		{map[string]any{"header": map[string]any{}}, `^validation_failed: Required field missing; field: header\.text;`},
		{
			map[string]any{"header": map[string]any{"format": "SOUND"}},
			`field: header\.format; reason: Must be TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION or PRODUCT`,
		},
		{
			map[string]any{"header": map[string]any{"format": "VIDEO", "text": "A tour"}},
			`field: header\.text; reason: A header that is no text has no text`,
		},
		{
			map[string]any{"header": map[string]any{"text": "{{1}} and {{2}}"}},
			`field: header\.text; reason: A header has at most one variable`,
		},
		{map[string]any{"header": map[string]any{"text": strings.Repeat("x", 61)}}, `^limit_exceeded: The header's text is too long`},
		{
			map[string]any{"header": map[string]any{"text": "Your booking", "sample": "HT-1042"}},
			`^header\.sample is an example of the variable`,
		},
		{map[string]any{"footer": "For {{1}}"}, `field: footer; reason: A footer has no variables`},
		{map[string]any{"footer": strings.Repeat("x", 61)}, `field: footer; reason: A footer has at most 60`},
		{
			map[string]any{"footer": "Harbour Tours", "buttons": button(map[string]any{"text": ""})},
			`Required field missing; field: buttons\.0\.text`,
		},
		{
			map[string]any{"header": map[string]any{"text": "Hello"}, "buttons": button(map[string]any{"type": "LINK"})},
			`field: buttons\.0\.type; reason: Must be one of URL, OTP, QUICK_REPLY, PHONE_NUMBER`,
		},
		{map[string]any{"buttons": button(map[string]any{"type": "URL"})}, `Required field missing; field: buttons\.0\.url`},
		{
			map[string]any{"buttons": button(map[string]any{"type": "PHONE_NUMBER", "phone_number": "call"})},
			`field: buttons\.0\.phone_number; provided: call`,
		},
		{map[string]any{"buttons": slices.Repeat(button(nil), 11)}, `field: buttons; reason: A template has 1 to 10 buttons`},
		{map[string]any{"body": "Hello {{1}} {{3}}"}, `field: body; reason: Numbered variables`},
		{map[string]any{"sender_number": "+1"}, `Invalid phone number format; field: sender_number`},
		{map[string]any{"footer": 7}, `footer`},
		{map[string]any{"header": "Hello"}, `header`},
		{map[string]any{"header": nil}, `header`},
		{map[string]any{"buttons": []any{"Fine"}}, `buttons`},
		{map[string]any{"buttons": button(map[string]any{"payload": "x"})}, `payload`},
	} {
		if _, failed := a.call("create_template", with(draft, c.more)); !regexp.MustCompile(c.want).MatchString(failed) {
			t.Errorf("%v: %q, want %s", c.more, failed, c.want)
		}
	}
	for _, where := range []map[string]any{{"template": "moved", "language": "fr"}, {"template": "nowhere"}} {
		if _, failed := a.call("get_template", where); !strings.HasPrefix(failed, "not_found") || !strings.Contains(failed, "language") {
			t.Errorf("%v: %q", where, failed)
		}
	}
}

// hangsUp ends an ongoing call through the assistant.
func hangsUp(t *testing.T, a *assistant) {
	need.Program(t, "espeak-ng", "espeak-ng")
	call := map[string]any{
		"send_id": "call", "to": map[string]any{"number": "34600110020", "name": "Ana"}, // says nothing, so that the call lasts
		"agent": "3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11", "line": "demo-line", "type": "transactional", "campaign": "assistant",
	}
	id := a.good("place_call", call)["notification_id"]
	state := func(want string) {
		t.Helper()
		eventually(t, "the call is "+want, func() bool {
			got, _ := a.call("get_call", map[string]any{"call_id": id})
			return got["state"] == want
		})
	}
	state("in_progress")
	if _, failed := a.call("cancel_notification", map[string]any{"notification_id": id}); !strings.HasPrefix(failed, "conflict") ||
		!strings.Contains(failed, "hang_up") {
		t.Errorf("without hang_up: %q", failed)
	}
	if got := a.good("cancel_notification", map[string]any{"notification_id": id, "hang_up": true}); got["hung_up"] != 1.0 ||
		got["notification_id"] != id {
		t.Errorf("hung up %v", got)
	}
	state("completed")
	for _, again := range []map[string]any{{"notification_id": id, "hang_up": true}, {"notification_id": id, "hang_up": false}} {
		if _, failed := a.call("cancel_notification", again); !strings.HasPrefix(failed, "conflict") {
			t.Errorf("%v: %q", again, failed)
		}
	}
	if _, failed := a.call("cancel_notification",
		map[string]any{"notification_id": id, "hang_up": "yes"}); !strings.Contains(failed, "hang_up") {
		t.Errorf("a text for hang_up: %q", failed)
	}
}

func TestAssistantsOverHTTPHaveTheRightsOfTheirKeys(t *testing.T) {
	t.Parallel()
	file := demo(t)
	ready, err := config.ReadReady(file)
	if err != nil {
		t.Fatal(err)
	}
	owner, err := client.New(ready.BaseURL, client.WithSignIn(ready.Email, ready.Password))
	if err != nil {
		t.Fatal(err)
	}
	var reader struct{ ID, Key string }
	if _, err := owner.Do(t.Context(), client.Call{
		Method: http.MethodPost, Path: "/panel/v1/keys", As: client.User,
		Body: map[string]any{"label": "assistant", "scopes": []string{"notify:read", "templates:read"}}, Out: &reader,
	}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	out, said := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"mcp", "--http", "127.0.0.1:0", "--ready-file", file},
			environment{Stdout: io.Discard, Stderr: said, Lookup: func(string) (string, bool) { return "", false }})
	}()
	line := make([]byte, 200)
	n, err := out.Read(line)
	address := regexp.MustCompile(`http://[\d.:]+`).FindString(string(line[:n]))
	if err != nil || address == "" {
		t.Fatalf("no address in the output %q, %v", line[:n], err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()

	through := func(key string) sdk.Transport {
		return &sdk.StreamableClientTransport{
			Endpoint: address, HTTPClient: &http.Client{Transport: bearing(key)}, DisableStandaloneSSE: true,
		}
	}
	a := assist(t, through(ready.AccessKey))
	if d := cmp.Diff(allTools, a.tools()); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
	sent := a.good("send_message", with(hello, map[string]any{"send_id": "over http"}))

	b := assist(t, through(reader.Key))
	if d := cmp.Diff([]string{"get_call", "get_notification", "get_template", "list_notifications", "list_templates"}, b.tools()); d != "" {
		t.Errorf("tools of a key that reads (-want +got):\n%s", d)
	}
	if n := b.good("get_notification", map[string]any{"notification_id": sent["notification_id"]}); n["campaign_name"] != "assistant" {
		t.Errorf("read %v", n)
	}
	if _, failed := b.call("send_message", hello); !strings.Contains(failed, "unknown tool") {
		t.Errorf("a key that reads sent: %q", failed)
	}
	if _, err := owner.Do(t.Context(), client.Call{
		Method: http.MethodDelete, Path: "/panel/v1/keys/" + reader.ID, As: client.User,
	}); err != nil {
		t.Fatal(err)
	}
	if _, failed := b.call("list_templates", map[string]any{"sender_number": "15550100100"}); !strings.Contains(failed, "unauthorized") {
		t.Errorf("a key that was revoked: %q", failed)
	}

	for name, c := range map[string]struct {
		change func(r *http.Request)
		status int
	}{
		"no key": {func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusUnauthorized},
		"another key": {func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer ck_"+strings.Repeat("x", 43))
		}, http.StatusUnauthorized},
		"another host": {func(r *http.Request) { r.Host = "attacker.test" }, http.StatusForbidden},
		"another host and no key": {func(r *http.Request) {
			r.Host = "attacker.test"
			r.Header.Del("Authorization")
		}, http.StatusForbidden},
		"another site": {func(r *http.Request) { r.Header.Set("Origin", "https://attacker.test") }, http.StatusForbidden},
		"a large body": {func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"`+strings.Repeat("x", 2<<20)+`"}}`)), -1
		}, http.StatusRequestEntityTooLarge},
		"all is well": {func(*http.Request) {}, http.StatusOK},
		"JSON alone":  {func(r *http.Request) { r.Header.Set("Accept", "application/json") }, http.StatusOK},
		"JSON of a charset": {func(r *http.Request) {
			r.Header.Set("Accept", "text/plain, Application/JSON;charset=utf-8")
		}, http.StatusOK},
		"anything":      {func(r *http.Request) { r.Header.Set("Accept", "*/*") }, http.StatusOK},
		"no word of it": {func(r *http.Request) { r.Header.Del("Accept") }, http.StatusOK},
		"two headers":   {func(r *http.Request) { r.Header["Accept"] = []string{"text/html", "application/*"} }, http.StatusOK},
		"a page alone":  {func(r *http.Request) { r.Header.Set("Accept", "text/html") }, http.StatusBadRequest},
		"events alone":  {func(r *http.Request) { r.Header.Set("Accept", "text/event-stream") }, http.StatusBadRequest},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address,
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+ready.AccessKey)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		c.change(r)
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != c.status || strings.Contains(string(text), `"cacheScope":"public"`) {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}

	stop()
	if c := <-code; c != exitOK {
		t.Errorf("exit code %d", c)
	}
}

// TestAnAssistantUploadsFilesForMessages uploads over standard input, where a path on the local machine is allowed,
// and over HTTP, where it is not.
func TestAnAssistantUploadsFilesForMessages(t *testing.T) {
	t.Parallel()
	// Only the public address is reported. No other test listens on this address, and no outgoing connection uses it.
	l, err := net.Listen("tcp", "127.0.0.41:0")
	if err != nil { // this system has no loopback network beyond 127.0.0.1
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	ready, err := config.ReadReady(demo(t, "--addr", addr, "--base-url", "https://carillon.example.org"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := func(name, content string) string {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	menu := "%PDF-1.7\n" + strings.Repeat("menu ", 300_000) // too large for a single tool call
	small := "%PDF-1.7\n" + strings.Repeat("x", 700<<10-9)
	onDisk := path("menu.pdf", menu)
	secret := path("id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\nhush")
	encoded := func(file string) string { return base64.StdEncoding.EncodeToString([]byte(file)) }
	check := func(got map[string]any, name, content string) {
		t.Helper()
		public, _ := got["url"].(string)
		rest, is := strings.CutPrefix(public, "https://carillon.example.org/")
		resp, err := http.Get("http://" + addr + "/" + rest)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if !is || err != nil || string(stored) != content || got["name"] != name || got["type"] != "application/pdf" {
			t.Errorf("%v, %d bytes, %v", got, len(stored), err)
		}
	}
	refuses := func(a *assistant, cases map[string]map[string]any) {
		t.Helper()
		for want, args := range cases {
			if _, failed := a.call("upload_media", args); !regexp.MustCompile(want).MatchString(failed) ||
				strings.Contains(failed, "hush") {
				t.Errorf("%.80v: %q, want %s", args, failed, want)
			}
		}
	}
	wrong := map[string]map[string]any{
		`^name must have`:                   {"content": encoded(small), "name": ""},
		`^name must be one line`:            {"name": "a\nb.pdf", "content": encoded(small)},
		`^content is larger than 700 KiB`:   {"name": "menu.pdf", "content": encoded(small + "xyz")},
		`^content must be a file in base64`: {"name": "menu.pdf", "content": "%PDF"},
		`^validation_failed: .*file`:        {"name": "menu.pdf", "content": encoded("<html>")},
	}

	program := exec.CommandContext(t.Context(), os.Args[0], "mcp", "--url", "http://"+addr)
	program.Env = append(os.Environ(), "CARILLON_TEST_AS_PROGRAM=1", "CARILLON_ACCESS_KEY="+ready.AccessKey)
	a := assist(t, &sdk.CommandTransport{Command: program})
	check(a.good("upload_media", map[string]any{"path": onDisk}), "menu.pdf", menu)
	check(a.good("upload_media", map[string]any{"path": onDisk, "name": "Today.pdf"}), "Today.pdf", menu)
	check(a.good("upload_media", map[string]any{"name": "small.pdf", "content": encoded(small)}), "small.pdf", small)
	refuses(a, wrong)
	refuses(a, map[string]map[string]any{
		`^give either path or content`: {"path": onDisk, "content": "eA=="}, `^path must be absolute`: {"path": "menu.pdf"},
		`^path must name a file`:             {"path": dir},
		`^path cannot be read: no such file`: {"path": onDisk + "x"}, `^validation_failed: .*file`: {"path": secret},
		`^give path, or name and content`: {},
	})

	c, err := client.New("http://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(mcp.NewHandler(c, mcp.Options{Files: true}, []string{"127.0.0.1"})) // over HTTP, Files must be ignored
	t.Cleanup(server.Close)
	b := assist(t, &sdk.StreamableClientTransport{
		Endpoint: server.URL, HTTPClient: &http.Client{Transport: bearing(ready.AccessKey)}, DisableStandaloneSSE: true,
	})
	check(b.good("upload_media", map[string]any{"name": "small.pdf", "content": encoded(small)}), "small.pdf", small)
	refuses(b, wrong)
	refuses(b, map[string]map[string]any{
		`path`: {"name": "menu.pdf", "content": encoded(small), "path": onDisk}, `content`: {"name": "menu.pdf"},
	})
	for tool, err := range b.session.Tools(t.Context(), nil) {
		if schema, _ := json.Marshal(tool); err != nil || tool.Name == "upload_media" && strings.Contains(string(schema), `"path"`) {
			t.Errorf("%s, %v", schema, err)
		}
	}
}

// bearing adds an access key to each request.
type bearing string

func (key bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(key))
	return http.DefaultTransport.RoundTrip(r)
}

func TestAUsersSessionGivesAnAssistantNoRightsBeyondItsKey(t *testing.T) {
	t.Parallel()
	for scopes, want := range map[string][]string{
		"notify:read": {"list_sandbox_phones", "read_sandbox_phone"}, "notify:send": {"write_from_sandbox_phone"}, "usage:read": nil,
	} {
		c, err := client.New("http://127.0.0.1:1")
		if err != nil {
			t.Fatal(err)
		}
		near, far := sdk.NewInMemoryTransports()
		served, err := mcp.New(c, &client.Key{Scopes: []string{scopes}}, mcp.Options{User: c}).Connect(t.Context(), far, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = served.Close() })
		a := assist(t, near)
		var phones []string
		for _, name := range a.tools() {
			if strings.Contains(name, "sandbox") {
				phones = append(phones, name)
			}
		}
		if !slices.Equal(phones, want) {
			t.Errorf("%s has %v", scopes, phones)
		}
	}
}

func TestMistakesInHowAssistantsAreServedAreUsage(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"name what clients address by --host": {"--http", ":8090"}, "must be an address like": {"--http", "8090"},
		"--host goes with --http":                 {"--host", "x.test"},
		"leave --key, --key-file and --token out": {"--http", "127.0.0.1:0", "--key", "ck_x"},
	} {
		var errs strings.Builder
		code := run(t.Context(), append([]string{"mcp", "--url", "http://127.0.0.1:1"}, args...), environment{
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &errs, Lookup: func(string) (string, bool) { return "", false },
		})
		if code != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: %d %s", args, code, errs.String())
		}
	}
}
