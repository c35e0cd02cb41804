package flow

import "fmt"

// Program is a compiled flow: all steps in one list, each with the index of the next. The same definition always
// yields the same indexes.
type Program struct {
	places   []place
	name     string
	patterns int // instructions of all patterns
	texts    int // bytes of all conditions
}

// Name returns the flow's name.
func (p *Program) Name() string { return p.name }

// Size returns the approximate size of the program in memory, excluding its flow.
func (p *Program) Size() int {
	return len(p.places)*placeSize + p.texts*textSize + p.patterns*instructionSize
}

// Approximate bytes of memory of a place, of a byte of a condition, and of an instruction of a pattern.
const (
	placeSize       = 500
	textSize        = 100
	instructionSize = 100
)

// place is a step. If step is nil, it only leads to the next place.
type place struct {
	step      *Step
	path      string // for example steps.2.then.0
	next      int
	otherwise int // next place if the condition is false
	condition *condition
	fault     error // the reason why the condition cannot be evaluated; only in flows stored by an earlier version
}

// Compile compiles a valid flow.
func Compile(f *Flow) (*Program, error) {
	p, err := lay(f)
	if err != nil {
		return nil, err
	}
	for i := range p.places {
		if x := &p.places[i]; x.step != nil && x.step.If != "" {
			x.condition, x.fault = p.condition(x.step.If)
		}
	}
	return p, nil
}

// lay returns the places of a flow, without its conditions.
func lay(f *Flow) (*Program, error) {
	p := &Program{name: f.Name}
	ids := map[string]int{}
	p.add("steps", f.Steps, ids)
	for i := range p.places {
		x := &p.places[i]
		if x.step == nil || x.step.Goto == "" {
			continue
		}
		to, ok := ids[x.step.Goto]
		if !ok {
			return nil, fmt.Errorf("%s: there is no step %s", x.path, x.step.Goto)
		}
		x.next = to
	}
	return p, nil
}

func (p *Program) add(field string, steps []Step, ids map[string]int) {
	for i := range steps {
		s := &steps[i]
		at, x := len(p.places), place{step: s, path: fmt.Sprintf("%s.%d", field, i), next: len(p.places) + 1}
		if s.ID != "" {
			ids[s.ID] = at
		}
		if s.Kind() == "" { // an earlier version allowed a set step without variables
			x.step = nil
		}
		p.places = append(p.places, x)
		if s.If == "" {
			continue
		}
		p.add(x.path+".then", s.Then, ids)
		leave := len(p.places)
		p.places = append(p.places, place{path: x.path})
		p.add(x.path+".else", s.Else, ids)
		p.places[leave].next = len(p.places)
		p.places[at].otherwise = leave + 1
	}
}

// condition compiles a condition, unless the flow's patterns would exceed maxPatterns.
func (p *Program) condition(text string) (*condition, error) {
	c, err := compile(text, maxPatterns-p.patterns)
	if err != nil {
		return nil, err
	}
	p.texts, p.patterns = p.texts+len(text), p.patterns+c.size()
	return c, nil
}

// Where returns the path of the step at a place, such as steps.2.then.0, or "end" after the last one.
func (p *Program) Where(at int) string {
	if at < 0 || at >= len(p.places) {
		return "end"
	}
	return p.places[at].path
}
