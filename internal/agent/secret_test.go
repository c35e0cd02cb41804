package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/base/resource"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
)

func TestKeysOfAnAgentsServersAreKeptForTheSameServerAlone(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: "shop", Name: "shop"}, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	const id = "3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11"
	with := func(speaker, transcriber, key string) *agent.Agent {
		named := func(name string) string {
			if key == "" {
				return ""
			}
			return key + "-" + name
		}
		return &agent.Agent{
			OpenAI:     &agent.OpenAI{BaseURL: "https://ai.test", Model: "m", APIKey: named("think")},
			ElevenLabs: &agent.ElevenLabs{AgentID: "agent_1", APIKey: named("lab")},
			Voice: &agent.Voice{
				Speaker: "openai", SpeakerService: &agent.Service{BaseURL: speaker, Model: "m", APIKey: named("speak")},
				Transcriber: "openai", TranscriberService: &agent.Service{BaseURL: transcriber, Model: "m", APIKey: named("hear")},
			},
		}
	}
	onlyThink := with("", "", "sk")
	onlyThink.ElevenLabs, onlyThink.Voice = nil, nil
	for _, step := range []struct {
		name string
		put  *agent.Agent
		want string // of OpenAI, ElevenLabs, the speaker and the transcriber
	}{
		{"one key", onlyThink, "sk-think"},
		{"more servers", with("https://s.test", "https://t.test", ""), "sk-think,,,"},
		{"all keys", with("https://s.test", "https://t.test", "sk"), "sk-think,sk-lab,sk-speak,sk-hear"},
		{"none given", with("https://s.test", "https://t.test", ""), "sk-think,sk-lab,sk-speak,sk-hear"},
		{"another speaker", with("https://evil.test", "https://t.test", ""), "sk-think,sk-lab,,sk-hear"},
		{"servers swapped", with("https://t.test", "https://s.test", ""), "sk-think,sk-lab,,"},
		{"one again", onlyThink, "sk-think"},
		{"more again", with("https://s.test", "https://t.test", ""), "sk-think,,,"},
	} {
		a := *step.put
		a.ID, a.Name = id, "Ann"
		if err := a.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Resources.PutResource(t.Context(), "shop", agent.Kind(), &a); err != nil {
			t.Fatal(err)
		}
		read, err := s.Resources.Resource(t.Context(), "shop", agent.Kind(), id)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, secret := range resource.SecretsOf(read) {
			keys = append(keys, *secret.Value)
		}
		if got := strings.Join(keys, ","); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
		resource.HideSecrets(read)
		if text := fmt.Sprintf("%+v %+v %+v", read, read.(*agent.Agent).OpenAI, read.(*agent.Agent).Voice); strings.Contains(text, "sk-") {
			t.Errorf("%s: a key is not hidden: %s", step.name, text)
		}
	}
}
