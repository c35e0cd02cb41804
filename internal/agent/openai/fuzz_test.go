package openai

import (
	"bytes"
	"testing"
)

// Any stream of a server is either read or refused. The text and the arguments of tools are bounded.
func FuzzStream(f *testing.F) {
	for _, s := range []step{
		text("Hello ", "there"), uses([2]string{"search", `{"query":"x"}`}), {lines: []string{`data: {"error":{"code":1}}`}},
	} {
		var all []byte
		for _, line := range s.lines {
			all = append(all, line+"\n"...)
		}
		f.Add(all)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		var a answer
		for line := range bytes.Lines(stream) {
			data, ok := bytes.CutPrefix(line, []byte("data:"))
			if !ok {
				continue
			}
			if err := a.add(bytes.TrimSpace(data), func(string) error { return nil }); err != nil {
				return
			}
		}
		turn, err := a.turn()
		if err != nil {
			return
		}
		if len(turn.ToolCalls) > maxCalls {
			t.Errorf("%d calls", len(turn.ToolCalls))
		}
		for _, c := range turn.ToolCalls {
			if c.ID == "" || c.Function.Name == "" || len(c.Function.Arguments) > maxArguments {
				t.Errorf("a call %+v", c)
			}
			if value, fault := argument(c.Function.Arguments, "query", maxQuery); (value == "") == (fault == "") {
				t.Errorf("%q is read as %q, %q", c.Function.Arguments, value, fault)
			}
		}
	})
}
