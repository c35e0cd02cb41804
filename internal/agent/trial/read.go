package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"carillon/internal/base/config"
	"carillon/internal/base/resource"
)

// Read parses and validates a suite in YAML. name is its file in the problems. agent is the tested agent if the file
// names none.
func Read(name, text, agent string) (*Suite, config.Problems) {
	start := config.Position{File: name, Line: 1, Column: 1}
	if len(text) > MaxFile {
		return nil, config.Problems{{At: start, Text: fmt.Sprintf("the file is larger than %d bytes", MaxFile)}}
	}
	kind := Kind()
	kind.New = func() resource.Resource { return &Suite{Agent: agent} }
	x, err := config.ParseResource(name, []byte(text), kind)
	if err != nil {
		problems, ok := errors.AsType[config.Problems](err)
		if !ok {
			problems = config.Problems{{At: start, Text: err.Error()}}
		}
		return nil, problems
	}
	s, _ := x.(*Suite)
	if s == nil {
		return nil, config.Problems{{At: start, Text: "the file is empty"}}
	}
	if strings.TrimSpace(s.Source) != "" {
		return nil, config.Problems{{At: start, Text: "source is a field of stored suites only"}}
	}
	return s, nil
}

// Text returns the suite as a file: as it was written, or else without comments. The file names no agent.
func (s *Suite) Text() (string, error) {
	if s.Source != "" {
		return s.Source, nil
	}
	shown := *s
	shown.ID, shown.Agent, shown.Source = "", "", ""
	doc, err := json.Marshal(&shown)
	if err != nil {
		return "", fmt.Errorf("write a suite: %w", err)
	}
	var fields yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(doc, &fields, yaml.UseOrderedMap()); err != nil {
		return "", fmt.Errorf("write a suite: %w", err)
	}
	fields = slices.DeleteFunc(fields, func(f yaml.MapItem) bool { return f.Key == "agent" })
	text, err := yaml.MarshalWithOptions(fields, yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true))
	return string(text), err
}
