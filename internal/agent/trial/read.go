package trial

import (
	"errors"
	"fmt"
	"strings"

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
