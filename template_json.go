package carillon

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Members are the members of an object of the channel that this program does not know.
type Members map[string]json.RawMessage

// UnmarshalJSON keeps unknown members in Rest.
func (c *Component) UnmarshalJSON(b []byte) (err error) {
	type members Component
	c.Rest, err = unmarshalRest(b, (*members)(c))
	return err
}

// MarshalJSON writes the members of Rest after the known ones.
func (c Component) MarshalJSON() ([]byte, error) {
	type members Component
	return marshalRest(members(c), c.Rest)
}

// UnmarshalJSON keeps unknown members in Rest.
func (e *ComponentExample) UnmarshalJSON(b []byte) (err error) {
	type members ComponentExample
	e.Rest, err = unmarshalRest(b, (*members)(e))
	return err
}

// MarshalJSON writes the members of Rest after the known ones.
func (e ComponentExample) MarshalJSON() ([]byte, error) {
	type members ComponentExample
	return marshalRest(members(e), e.Rest)
}

// UnmarshalJSON keeps unknown members in Rest.
func (b *Button) UnmarshalJSON(text []byte) (err error) {
	type members Button
	b.Rest, err = unmarshalRest(text, (*members)(b))
	return err
}

// MarshalJSON writes the members of Rest after the known ones.
func (b Button) MarshalJSON() ([]byte, error) {
	type members Button
	return marshalRest(members(b), b.Rest)
}

// UnmarshalJSON keeps unknown members in Rest.
func (o *Offer) UnmarshalJSON(b []byte) (err error) {
	type members Offer
	o.Rest, err = unmarshalRest(b, (*members)(o))
	return err
}

// MarshalJSON writes the members of Rest after the known ones.
func (o Offer) MarshalJSON() ([]byte, error) {
	type members Offer
	return marshalRest(members(o), o.Rest)
}

// UnmarshalJSON keeps unknown members in Rest.
func (c *Card) UnmarshalJSON(b []byte) (err error) {
	type members Card
	c.Rest, err = unmarshalRest(b, (*members)(c))
	return err
}

// MarshalJSON writes the members of Rest after the known ones.
func (c Card) MarshalJSON() ([]byte, error) {
	type members Card
	return marshalRest(members(c), c.Rest)
}

// unmarshalRest decodes an object into a struct. It returns the members that the struct does not have or has with
// another type, so that nothing of the channel's is lost.
func unmarshalRest(b []byte, into any) (Members, error) {
	var all Members
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	v := reflect.ValueOf(into).Elem()
	for name, i := range membersOf(v.Type()) {
		text, given := all[name]
		if !given {
			continue
		}
		to := reflect.New(v.Field(i).Type())
		if json.Unmarshal(text, to.Interface()) == nil {
			v.Field(i).Set(to.Elem())
			delete(all, name)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// marshalRest encodes a struct and appends rest, sorted by name. It does not escape HTML, which is the encoder's choice.
func marshalRest(v any, rest Members) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	b := bytes.TrimSpace(out.Bytes())
	if has(rest, membersOf(reflect.TypeOf(v))) {
		var all Members
		if err := json.Unmarshal(b, &all); err != nil {
			return nil, err
		}
		maps.Copy(all, rest)
		return json.Marshal(all)
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		b = b[:len(b)-1]
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = slices.Concat(b, key, []byte(":"), rest[name], []byte("}"))
	}
	return b, nil
}

// has reports whether a member has a known name, because its value was of another type.
func has(rest Members, known map[string]int) bool {
	for name := range rest {
		if _, is := known[name]; is {
			return true
		}
	}
	return false
}

//nolint:gochecknoglobals // a cache of types
var memberCache sync.Map // reflect.Type to map[string]int

// membersOf returns the fields of a struct by the names of their JSON members.
func membersOf(t reflect.Type) map[string]int {
	if known, ok := memberCache.Load(t); ok {
		return known.(map[string]int) //nolint:forcetypeassert // the cache holds nothing else
	}
	all := map[string]int{}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "-" && name != "" {
			all[name] = i
		}
	}
	memberCache.Store(t, all)
	return all
}

// UnknownMember returns the name of a member that this program does not know, in the component or below it, or "".
func (c *Component) UnknownMember() string {
	rests := []Members{c.Rest}
	if c.Example != nil {
		rests = append(rests, c.Example.Rest)
	}
	if c.LimitedTimeOffer != nil {
		rests = append(rests, c.LimitedTimeOffer.Rest)
	}
	for i := range c.Buttons {
		rests = append(rests, c.Buttons[i].Rest)
	}
	for i := range c.Cards {
		rests = append(rests, c.Cards[i].Rest)
		for k := range c.Cards[i].Components {
			if name := c.Cards[i].Components[k].UnknownMember(); name != "" {
				return name
			}
		}
	}
	for _, rest := range rests {
		for _, name := range slices.Sorted(maps.Keys(rest)) {
			return name
		}
	}
	return ""
}

// Samples are sample values. The channel sends a single one as a text instead of a list.
type Samples []string

// UnmarshalJSON accepts both forms.
func (s *Samples) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*s = Samples{""}
		return json.Unmarshal(b, &(*s)[0])
	}
	return json.Unmarshal(b, (*[]string)(s))
}

// SampleRows are rows of sample values. The channel sends a single row as a list of texts.
type SampleRows [][]string

// UnmarshalJSON accepts both forms.
func (s *SampleRows) UnmarshalJSON(b []byte) error {
	var row []string
	if json.Unmarshal(b, &row) == nil {
		if row != nil {
			*s = SampleRows{row}
		}
		return nil
	}
	return json.Unmarshal(b, (*[][]string)(s))
}
