// Package clients runs one table of scenarios with both client libraries, against the real program.
package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/client"
	"carillon/e2e/instance"
	"carillon/internal/app"
	"carillon/internal/base/need"
)

type scenario struct {
	Name   string         `json:"name"`
	As     string         `json:"as"`
	Needs  string         `json:"needs"` // name of a required program
	Faults []string       `json:"faults"`
	Steps  []step         `json:"steps"`
	Seen   map[string]int `json:"seen"`
	Pauses [][2]int       `json:"pauses"`
}

type step struct {
	Do     string            `json:"do"`
	Args   []any             `json:"args"`
	Want   any               `json:"want"`
	Has    any               `json:"has"` // one row of a list
	Length any               `json:"length"`
	Error  map[string]any    `json:"error"`
	Save   map[string]string `json:"save"`
	Until  bool              `json:"until"`
	Within int               `json:"within"` // milliseconds after which the caller gives up
}

const secret, otherSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"

// site is a program behind a proxy, with the data that calls to it need.
type site struct {
	proxy *proxy
	facts map[string]string // email, password, key, readKey
}

func TestClientsDoWhatTheTableSays(t *testing.T) {
	s := startSite(t)
	t.Run("go", func(t *testing.T) {
		for _, x := range scenarios(t) {
			t.Run(x.Name, func(t *testing.T) { s.run(t, x) })
		}
	})
	t.Run("typescript", func(t *testing.T) {
		node, err := exec.LookPath("node")
		need.That(t, err == nil, "the client for TypeScript is tried in Node, which is not installed")
		_, err = os.Stat("../../clients/typescript/dist/index.js")
		need.That(t, err == nil, "the client for TypeScript is not built: run make web")
		facts, _ := json.Marshal(s.facts)
		for _, script := range []string{"run.mjs", "patience.mjs"} {
			c := exec.CommandContext(t.Context(), node, script)
			c.Env = append(os.Environ(), "BASE="+s.proxy.server.URL, "FACTS="+string(facts))
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", script, err, out)
			}
		}
	})
}

func scenarios(t *testing.T) (all []scenario) {
	t.Helper()
	text, err := os.ReadFile("scenarios.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all[1:] // the first one describes the others
}

func startSite(t *testing.T) *site {
	t.Helper()
	addr := instance.FreeAddress(t) // the program reports only its public address
	at := instance.Start(t, app.Options{}, map[string][]string{
		"addr": {addr}, "base-url": {"https://carillon.example.org"}, "demo": {"true"}, "media-allow-private": {"127.0.0.1/32"},
	})
	here := "http://" + addr
	s := &site{
		proxy: newProxy(t, here), facts: map[string]string{
			"email": at.Email, "password": at.Password, "key": at.AccessKey, "agent": at.AgentID,
		},
	}
	owner, err := client.New(here, client.WithSignIn(at.Email, at.Password))
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Key string `json:"key"`
	}
	if _, err := owner.Do(t.Context(), client.Call{
		Method: http.MethodPost, Path: "/panel/v1/keys", As: client.User,
		Body: map[string]any{"label": "reads", "scopes": []string{"notify:read"}}, Out: &made,
	}); err != nil {
		t.Fatal(err)
	}
	s.facts["readKey"] = made.Key
	if _, err := exec.LookPath("espeak-ng"); err == nil {
		s.facts["programs"] = "espeak-ng"
		// Both sides speak in it.
		accepted, err := owner.With(client.WithKey(s.facts["key"])).Call(t.Context(), client.VoiceCall{
			Contact: client.Contact{Number: "34600110021", FirstName: "Ana"}, Line: "demo-line", Agent: s.facts["agent"],
			Type: client.Transactional, Campaign: "recorded",
		})
		if err != nil {
			t.Fatal(err)
		}
		s.facts["recorded"] = accepted.ID
	}
	return s
}

// run runs a scenario with the Go client.
func (s *site) run(t *testing.T, x scenario) {
	if x.Needs != "" {
		need.Program(t, x.Needs, x.Needs)
	}
	s.begin(t, x.Faults)
	pauses := []time.Duration{}
	c, err := client.New(s.proxy.server.URL, client.WithPause(func(ctx context.Context, d time.Duration) error {
		pauses = append(pauses, d)
		return ctx.Err()
	}))
	if err != nil {
		t.Fatal(err)
	}
	switch x.As {
	case "", "key":
		c = c.With(client.WithKey(s.facts["key"]))
	case "query":
		c = c.With(client.WithKeyInQuery(s.facts["key"]))
	case "readKey":
		c = c.With(client.WithKey(s.facts["readKey"]))
	case "badKey":
		c = c.With(client.WithKey("ck_" + strings.Repeat("x", 43)))
	case "user":
		c = c.With(client.WithSignIn(s.facts["email"], s.facts["password"]))
	case "badUser":
		c = c.With(client.WithSignIn(s.facts["email"], "not the password"))
	default:
		t.Fatal("nobody is called ", x.As)
	}
	vars := s.variables()
	for i, st := range x.Steps {
		if err := perform(t.Context(), c, st, vars); err != nil {
			t.Fatalf("step %d, %s: %v", i+1, st.Do, err)
		}
	}
	s.judge(t, x, pauses)
}

func (s *site) begin(t *testing.T, faults []string) {
	t.Helper()
	text, _ := json.Marshal(append([]string{}, faults...))
	resp, err := http.Post(s.proxy.server.URL+"/_next", "application/json", bytes.NewReader(text))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
}

// variables returns the values of the variables ($name) in the table.
func (s *site) variables() map[string]any {
	id := carillon.NewID(time.Now())
	run := "go " + id
	message := func(number, name string) map[string]any {
		return map[string]any{
			"contact": map[string]any{"number": number, "name": name}, "name_template": "hello", "language_template": "en",
			"recipient_id": "demo", "notification_type": "utility", "campaign_name": run,
			"components_push": map[string]any{"body_text_0": "{{name}}"},
		}
	}
	hundred, large := message("", ""), message("34600111222", "Ana")
	delete(hundred, "contact")
	contacts := []any{}
	for i := range 100 {
		contacts = append(contacts, map[string]any{"number": fmt.Sprintf("346001%05d", 10000+i*10), "name": "Ana"})
	}
	hundred["contacts"] = contacts
	large["components_push"] = map[string]any{"body_text_0": strings.Repeat("x", 1<<20)}
	return map[string]any{
		"run": run, "word": strings.ReplaceAll(id, "-", "_"), "number": "34699" + strconv.FormatInt(time.Now().UnixNano()%1e7, 10),
		"hello": message("34600111222", "Ana"), "hundred": hundred, "large": large,
		"hook": s.proxy.server.URL + "/_hook", "key": s.facts["key"], "recorded": s.facts["recorded"], "secret": secret,
		"otherSecret": otherSecret, "agent": s.facts["agent"],
	}
}

func (s *site) judge(t *testing.T, x scenario, pauses []time.Duration) {
	t.Helper()
	s.proxy.mu.Lock()
	defer s.proxy.mu.Unlock()
	for pattern, want := range x.Seen {
		got := 0
		for _, r := range s.proxy.seen {
			if pattern == "address" && r.Address || pattern != "address" && r.is(pattern) {
				got++
			}
		}
		if got != want {
			t.Errorf("%d requests of %s, want %d: %v", got, pattern, want, s.proxy.seen)
		}
	}
	if len(s.proxy.faults) > 0 {
		t.Errorf("faults that nothing met: %q", s.proxy.faults)
	}
	if x.Pauses == nil {
		return
	}
	if len(pauses) != len(x.Pauses) {
		t.Fatalf("paused %v, want %v ms", pauses, x.Pauses)
	}
	for i, p := range pauses {
		if ms := int(p.Milliseconds()); ms < x.Pauses[i][0] || ms > x.Pauses[i][1] {
			t.Errorf("paused %v, want %v ms", pauses, x.Pauses)
		}
	}
}

const maxUntil = 30 * time.Second

// perform executes a step and compares its result.
func perform(ctx context.Context, c *client.Client, st step, vars map[string]any) error {
	args := fill(st.Args, vars).([]any)
	for end := time.Now().Add(maxUntil); ; {
		err := once(ctx, c, st, args, vars)
		if !st.Until || err == nil || time.Now().After(end) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func once(ctx context.Context, c *client.Client, st step, args []any, vars map[string]any) error {
	if st.Within > 0 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(st.Within)*time.Millisecond)
		defer cancel()
		ctx = limited
	}
	do := operations()[st.Do]
	if do == nil {
		return errors.New("no such operation")
	}
	result, err := do(ctx, c, given(args))
	if st.Error != nil {
		return differs("error", fill(st.Error, vars), plain(describe(err)))
	}
	if err != nil {
		return err
	}
	got := plain(result)
	if st.Want != nil {
		if err := differs("result", fill(st.Want, vars), got); err != nil {
			return fmt.Errorf("%w; all of it: %v", err, got)
		}
	}
	if st.Has != nil {
		rows, _ := got.([]any)
		if !slices.ContainsFunc(rows, func(row any) bool { return differs("", fill(st.Has, vars), row) == nil }) {
			return fmt.Errorf("no row is %v: %v", st.Has, got)
		}
	}
	if err := lengths(st.Length, got); err != nil {
		return err
	}
	for name, path := range st.Save {
		vars[name] = at(got, path)
	}
	return nil
}

// lengths compares the length of a list, or of lists in an object.
func lengths(want, got any) error {
	switch want := want.(type) {
	case float64:
		if rows, _ := got.([]any); len(rows) != int(want) {
			return fmt.Errorf("%d rows, want %v: %v", len(rows), want, got)
		}
	case map[string]any:
		for name, n := range want {
			if err := lengths(n, at(got, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// at returns the value at a path such as recipients.0.number.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// fill replaces variables in a value: "$id" becomes the variable, also within a text.
func fill(v any, vars map[string]any) any {
	switch v := v.(type) {
	case string:
		if x, ok := vars[strings.TrimPrefix(v, "$")]; ok && strings.HasPrefix(v, "$") {
			return fill(x, map[string]any{})
		}
		return regexp.MustCompile(`\$\w+`).ReplaceAllStringFunc(v, func(name string) string {
			if x, ok := vars[name[1:]]; ok {
				return fmt.Sprint(x)
			}
			return name
		})
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = fill(v[i], vars)
		}
		return all
	case map[string]any:
		all := maps.Clone(v)
		for name := range all {
			all[name] = fill(all[name], vars)
		}
		return all
	}
	return v
}

// plain returns a value as decoded JSON.
func plain(v any) (p any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return fmt.Sprint(err)
	}
	return p
}

// differs compares a result with the expected one. Additional members and rows are ignored.
func differs(where string, want, got any) error {
	switch want := want.(type) {
	case map[string]any:
		members, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %v, want %v", where, got, want)
		}
		for name, value := range want {
			if err := differs(where+"."+name, value, members[name]); err != nil {
				return err
			}
		}
		return nil
	case []any:
		rows, ok := got.([]any)
		if !ok || len(rows) < len(want) || len(want) == 0 && len(rows) > 0 {
			return fmt.Errorf("%s is %v, want %v", where, got, want)
		}
		for i := range want {
			if err := differs(fmt.Sprint(where, "[", i, "]"), want[i], rows[i]); err != nil {
				return err
			}
		}
		return nil
	case string:
		if pattern, is := strings.CutPrefix(want, "~"); is {
			if !regexp.MustCompile(pattern).MatchString(fmt.Sprint(got)) {
				return fmt.Errorf("%s is %v, want %s", where, got, want)
			}
			return nil
		}
	}
	if want == nil && (got == nil || got == "") || want == got {
		return nil
	}
	return fmt.Errorf("%s is %v, want %v", where, got, want)
}

// describe returns an error in the form of the table.
func describe(err error) map[string]any {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return map[string]any{"code": e.Code, "status": e.Status, "details": e.Details, "retry_after": e.RetryAfter}
	}
	_, unreachable := errors.AsType[*client.Unreachable](err)
	switch {
	case err == nil:
		return map[string]any{"none": true}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return map[string]any{"canceled": true}
	case unreachable:
		return map[string]any{"unreachable": true}
	case errors.Is(err, client.ErrSignature):
		return map[string]any{"webhook": "signature"}
	case errors.Is(err, client.ErrTime):
		return map[string]any{"webhook": "time"}
	case errors.Is(err, client.ErrNoSignature):
		return map[string]any{"webhook": "headers"}
	}
	return map[string]any{"other": true, "text": err.Error()}
}
