package agent_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/agent"
)

// faults returns the fields with a fault.
func faults(err error) (fields []string) {
	joined, _ := err.(interface{ Unwrap() []error })
	if joined == nil {
		return nil
	}
	for _, err := range joined.Unwrap() {
		if e, ok := errors.AsType[*carillon.Error](err); ok {
			field, _ := e.Details.Find("field").(string)
			fields = append(fields, field)
		}
	}
	return slices.Compact(fields)
}

func TestVoicesAreChecked(t *testing.T) {
	server := func(url string) *agent.Service { return &agent.Service{BaseURL: url, Model: "m", APIKey: "sk"} }
	for name, c := range map[string]struct {
		voice agent.Voice
		want  []string
	}{
		"nothing": {agent.Voice{}, nil},
		"all": {
			agent.Voice{
				Speaker: "openai", Transcriber: "vosk", Name: "alloy", Speed: 2, SilenceMS: 200,
				SpeakerService: server("https://a.test/v1"), TranscriberService: server("wss://a.test"),
			}, nil,
		},
		"unknown words": {
			agent.Voice{Speaker: "festival", Transcriber: "whisper"}, []string{"voice.speaker", "voice.transcriber"},
		},
		"too slow": {agent.Voice{Speed: 0.4, SilenceMS: 199}, []string{"voice.speed", "voice.silence_ms"}},
		"too fast": {agent.Voice{Speed: 2.1, SilenceMS: 2001}, []string{"voice.speed", "voice.silence_ms"}},
		"no servers": {
			agent.Voice{Speaker: "openai", Transcriber: "openai"}, []string{"voice.speaker_service", "voice.transcriber_service"},
		},
		"empty servers": {
			agent.Voice{
				Speaker: "openai", Transcriber: "vosk", SpeakerService: &agent.Service{},
				TranscriberService: &agent.Service{},
			}, []string{
				"voice.speaker_service.base_url", "voice.speaker_service.model", "voice.transcriber_service.base_url",
			},
		},
		"vosk over HTTP": {
			agent.Voice{Transcriber: "vosk", TranscriberService: server("https://a.test")}, []string{"voice.transcriber_service.base_url"},
		},
		"openai over sockets": {
			agent.Voice{Transcriber: "openai", TranscriberService: server("wss://a.test")}, []string{"voice.transcriber_service.base_url"},
		},
		"a query": {
			agent.Voice{Transcriber: "openai", TranscriberService: server("https://a.test/v1?key=x")},
			[]string{"voice.transcriber_service.base_url"},
		},
		"a user": {
			agent.Voice{Speaker: "openai", SpeakerService: server("https://u:p@a.test/v1")}, []string{"voice.speaker_service.base_url"},
		},
		"a server for later": {agent.Voice{TranscriberService: server("wss://a.test")}, nil},
		"a bad server for later": {
			agent.Voice{TranscriberService: server("ftp://a.test")}, []string{"voice.transcriber_service.base_url"},
		},
		"a key of several lines": {
			agent.Voice{Speaker: "openai", SpeakerService: &agent.Service{BaseURL: "https://a.test", Model: "m", APIKey: "a\nb"}},
			[]string{"voice.speaker_service.api_key"},
		},
		"a name of several lines": {agent.Voice{Name: "a\nb"}, []string{"voice.name"}},
	} {
		a := agent.Agent{Name: "a", Voice: &c.voice}
		if diff := cmp.Diff(c.want, faults(a.Validate())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	a := agent.Agent{Name: "a", Voice: &agent.Voice{SpeakerService: &agent.Service{APIKey: "sk"}, TranscriberService: &agent.Service{}}}
	if err := a.Validate(); err != nil || a.Voice.SpeakerService != nil || a.Voice.TranscriberService != nil {
		t.Errorf("servers without an address: %+v, %v", a.Voice, err)
	}
	if diff := cmp.Diff((*agent.Voice)(nil).Settings(), a.Voice); diff != "" {
		t.Error(diff)
	}
}

func TestToolsOfThePageAreChecked(t *testing.T) {
	tool := func(change func(x *agent.ClientTool)) agent.ClientTool {
		x := agent.ClientTool{
			Name: "show_page", Description: "Shows a page",
			Parameters: []byte(`{"type":"object","properties":{"page":{"type":"string"}}}`), Phrases: []string{"show me"},
		}
		change(&x)
		return x
	}
	for name, c := range map[string]struct {
		change func(x *agent.ClientTool)
		want   []string
	}{
		"good":            {func(*agent.ClientTool) {}, nil},
		"no parameters":   {func(x *agent.ClientTool) { x.Parameters = nil }, nil},
		"no name":         {func(x *agent.ClientTool) { x.Name = "" }, []string{"client_tools.0.name"}},
		"a sentence":      {func(x *agent.ClientTool) { x.Name = "show the page" }, []string{"client_tools.0.name"}},
		"the agent's own": {func(x *agent.ClientTool) { x.Name = "handoff" }, []string{"client_tools.0.name"}},
		"no description":  {func(x *agent.ClientTool) { x.Description = "" }, []string{"client_tools.0.description"}},
		"long description": {func(x *agent.ClientTool) {
			x.Description = strings.Repeat("é", 1001)
		}, []string{"client_tools.0.description"}},
		"a text as schema": {func(x *agent.ClientTool) { x.Parameters = []byte(`"x"`) }, []string{"client_tools.0.parameters"}},
		"a list as schema": {func(x *agent.ClientTool) {
			x.Parameters = []byte(`{"type":"array"}`)
		}, []string{"client_tools.0.parameters"}},
		"a long schema": {func(x *agent.ClientTool) {
			x.Parameters = []byte(`{"type":"object","x":"` + strings.Repeat("x", 9000) + `"}`)
		}, []string{"client_tools.0.parameters"}},
		"an empty phrase": {func(x *agent.ClientTool) { x.Phrases = []string{"a", " "} }, []string{"client_tools.0.phrases.1"}},
		"too many phrases": {func(x *agent.ClientTool) {
			x.Phrases = slices.Repeat([]string{"a"}, 21)
		}, []string{"client_tools.0.phrases"}},
	} {
		a := agent.Agent{Name: "a", ClientTools: []agent.ClientTool{tool(c.change)}}
		if diff := cmp.Diff(c.want, faults(a.Validate())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	twice := agent.Agent{Name: "a", ClientTools: slices.Repeat([]agent.ClientTool{tool(func(*agent.ClientTool) {})}, 2)}
	if diff := cmp.Diff([]string{"client_tools.1.name"}, faults(twice.Validate())); diff != "" {
		t.Error(diff)
	}
	many := agent.Agent{Name: "a"}
	for i := range 21 {
		many.ClientTools = append(many.ClientTools, tool(func(x *agent.ClientTool) { x.Name += strings.Repeat("x", i) }))
	}
	if diff := cmp.Diff([]string{"client_tools"}, faults(many.Validate())); diff != "" {
		t.Error(diff)
	}
}

func TestAgentsOfElevenLabsAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		of   agent.ElevenLabs
		want []string
	}{
		"good":             {agent.ElevenLabs{AgentID: "agent_1", APIKey: "sk"}, nil},
		"no agent":         {agent.ElevenLabs{}, []string{"elevenlabs.agent_id"}},
		"a path":           {agent.ElevenLabs{AgentID: "a/../b"}, []string{"elevenlabs.agent_id"}},
		"a socket address": {agent.ElevenLabs{AgentID: "a", BaseURL: "wss://a.test"}, []string{"elevenlabs.base_url"}},
		"a key with space": {agent.ElevenLabs{AgentID: "a", APIKey: "s k"}, []string{"elevenlabs.api_key"}},
	} {
		a := agent.Agent{Name: "a", Engine: "elevenlabs", ElevenLabs: &c.of}
		if diff := cmp.Diff(c.want, faults(a.Validate())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	a := agent.Agent{Name: "a", ElevenLabs: &agent.ElevenLabs{AgentID: "a"}}
	if err := a.Validate(); err != nil || a.ElevenLabs.BaseURL != agent.DefaultElevenLabs {
		t.Errorf("%+v, %v", a.ElevenLabs, err)
	}
}

func TestGoalsAndTopicsAreChecked(t *testing.T) {
	many := make([]agent.Topic, 51)
	for i := range many {
		many[i].Name = strings.Repeat("x", i+1)
	}
	results := []agent.Result{{Name: "sure", Type: "boolean", Description: "Whether they come"}}
	for name, c := range map[string]struct {
		agent agent.Agent
		want  []string
	}{
		"nothing": {agent.Agent{}, nil},
		"all": {
			agent.Agent{
				Goal: "They book", GoalResult: "sure", Result: results,
				Topics: []agent.Topic{{Name: "Prices", Words: []string{"how much"}}},
			}, nil,
		},
		"a long goal":            {agent.Agent{Goal: strings.Repeat("é", 501)}, []string{"goal"}},
		"a result of no name":    {agent.Agent{Goal: "x", GoalResult: "other", Result: results}, []string{"goal_result"}},
		"a result without goal":  {agent.Agent{GoalResult: "sure", Result: results}, []string{"goal_result"}},
		"too many topics":        {agent.Agent{Topics: many}, []string{"topics"}},
		"a topic without a name": {agent.Agent{Topics: []agent.Topic{{Name: " "}}}, []string{"topics.0.name"}},
		"a long name":            {agent.Agent{Topics: []agent.Topic{{Name: strings.Repeat("x", 61)}}}, []string{"topics.0.name"}},
		"a quotation mark":       {agent.Agent{Topics: []agent.Topic{{Name: `"x"`}, {Name: `x\y`}}}, []string{"topics.0.name"}},
		"the same twice":         {agent.Agent{Topics: []agent.Topic{{Name: "Dogs"}, {Name: "dogs "}}}, []string{"topics.1.name"}},
		"an empty word": {
			agent.Agent{Topics: []agent.Topic{{Name: "x", Words: []string{"a", " "}}}}, []string{"topics.0.words.1"},
		},
		"a long description": {
			agent.Agent{Result: []agent.Result{{Name: "a", Description: strings.Repeat("x", 501)}}}, []string{"result.0.description"},
		},
	} {
		c.agent.Name = "Ann"
		if diff := cmp.Diff(c.want, faults(c.agent.Validate())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
