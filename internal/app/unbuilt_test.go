package app

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/base/config"
	"carillon/internal/store"
)

func TestSetUpWarnsOfWhatIsNotBuilt(t *testing.T) {
	for parts, want := range map[string][]string{
		`senders: [{id: a, number: "15555550101", channel: voice, provider: sandbox}]`: nil,
		`senders: [{id: a, number: "15555550101", channel: voice, provider: sip, settings: {trunk: "sip:a.test"}}, {number: ` +
			`"15555550102", channel: voice, provider: twilio}]`: {
			"a.yaml:3:111: the provider twilio of the line voice-15555550102 is not built yet: its calls fail with line_unavailable",
		},
		`agents: [{name: Ann}, {name: Bob, engine: openai}]`: {"a.yaml:3:27: the agent Bob " +
			"of engine openai names no server: the engine builtin responds"},
		`agents: [{name: Bob, engine: openai, openai: {base_url: "https://ai.test/v1", model: m}}]`: nil,
		`agents: [{name: Bob, engine: elevenlabs}]`: {
			"a.yaml:3:14: the agent Bob of engine elevenlabs names no agent there: the engine builtin responds",
		},
		`agents: [{name: Bob, engine: elevenlabs, elevenlabs: {agent_id: agent_1}}]`: {
			"a.yaml:3:14: the agent Bob of engine elevenlabs talks in voice widgets alone: in chats the engine builtin responds",
		},
		`agents: [{name: Bob, voice: {}}]`: {
			"a.yaml:3:14: the agent Bob has no transcriber: it understands visitors of voice widgets whose browser recognizes " +
				"speech; the others type, and it answers aloud",
		},
		`agents: [{name: Bob, voice: {transcriber: vosk, transcriber_service: {base_url: "wss://vosk.test"}}}]`: nil,
		`webhooks: [{url: "https://acme.test/T0/hunter2?key=hunter2"}]`:                                         nil,
	} {
		p, err := config.ParseProvision("a.yaml", []byte("companies:\n  - name: Acme\n    "+parts+"\n"), ProvisionOptions())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range unbuilt(p) {
			got = append(got, fmt.Sprintf("%s: %s", w.At, w.Text))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", parts, diff)
		}
	}
}

func TestApplyWarnsOncePerApply(t *testing.T) {
	var log bytes.Buffer
	far := filepath.Join(t.TempDir(), "far.yaml")
	if err := os.WriteFile(far, []byte("companies:\n  - name: Far\n    senders: [{id: far, number: \"15555550177\", channel: voice, "+
		"provider: twilio}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{Data: t.TempDir(), Provision: []string{"../base/config/testdata/provision.example.yaml", far}}
	var last store.Summary
	for range 2 {
		log.Reset()
		var err error
		if last, err = Apply(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
		for _, once := range []string{"twilio"} {
			if n := strings.Count(log.String(), once); n != 1 {
				t.Errorf("%d warnings about %q:\n%s", n, once, &log)
			}
		}
	}
	if last.Changed() {
		t.Errorf("the example changes something when it is applied again: %v", last)
	}
}

func TestApplyWarnsOfWebhooksThatNothingIsDeliveredTo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	set := `companies: [{name: Acme, webhooks: [{url: "https://acme.test/hook"}, {url: "http://127.0.0.1:3000/hook?key=hunter2"}, ` +
		`{url: "https://10.0.0.1/hook"}]}]`
	if err := os.WriteFile(file, []byte(set), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{Data: t.TempDir(), Provision: []string{file}}
	for _, want := range []string{"127.0.0.1 10.0.0.1", "10.0.0.1"} {
		var log bytes.Buffer
		if _, err := Apply(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(log.String()) {
			if _, of, found := strings.Cut(line, "nothing can be delivered to the webhook at "); found {
				host, _, _ := strings.Cut(of, ":")
				got = append(got, host)
			}
		}
		if strings.Join(got, " ") != want || strings.Contains(log.String(), "hunter2") {
			t.Errorf("warned of %v, want %s:\n%s", got, want, &log)
		}
		cfg.MediaAllowPrivate = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
}

func TestDemoNeedsNothingThatIsNotBuilt(t *testing.T) {
	demo, _, err := config.Demo(ProvisionOptions())
	if err != nil {
		t.Fatal(err)
	}
	if w := unbuilt(demo); len(w) > 0 {
		t.Errorf("the demo warns: %v", w)
	}
}
