package config

import "fmt"

// maxSteps bounds the steps of a flow, branches included.
const maxSteps = 500

func (c *company) flow(f *form) {
	d := Document{Kind: KindFlow, Name: short(f, "name")}
	trigger := map[string]any{}
	f.inner("trigger", func(f *form) { trigger["event"] = f.needed("event") })
	total := 0
	d.Doc = map[string]any{"name": d.Name, "trigger": trigger, "steps": steps(f, "steps", &total)}
	if total > maxSteps {
		f.r.problem(f.place("steps"), fmt.Sprintf("a flow has at most %d steps", maxSteps))
	}
	c.add(f, d)
}

func steps(f *form, name string, total *int) []any {
	all := []any{}
	f.each(name, "a step", func(f *form) {
		*total++
		all = append(all, step(f, total))
	})
	return all
}

// step is one of say, ask, if and handoff; each has its own other fields.
func step(f *form, total *int) map[string]any {
	var kinds []string
	for _, kind := range []string{"say", "ask", "if", "handoff"} {
		if _, given := f.find(kind); given {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) != 1 {
		f.find("choices")
		f.find("then")
		f.find("else")
		f.r.problem(f.at, "a step is one of say, ask, if and handoff")
		return nil
	}
	out := map[string]any{kinds[0]: f.needed(kinds[0])}
	switch kinds[0] {
	case "ask":
		out["choices"] = list(f.texts("choices"))
	case "if":
		out["then"], out["else"] = steps(f, "then", total), steps(f, "else", total)
	}
	return out
}
