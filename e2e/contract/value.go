package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// A value is JSON with the order of its keys: nil, bool, json.Number, string, []any or Object.

// Object is a JSON object with its members in order.
type Object []Member

// Member is one key of an object.
type Member struct {
	Key   string
	Value any
}

// Find returns the value of a key.
func (o Object) Find(key string) (any, bool) {
	i := slices.IndexFunc(o, func(m Member) bool { return m.Key == key })
	if i < 0 {
		return nil, false
	}
	return o[i].Value, true
}

// MarshalJSON writes the members in order.
func (o Object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(m.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

// Parse parses one JSON value. A duplicate key in an object is an error.
func Parse(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := parse(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("bytes after the value")
	}
	return v, nil
}

func parse(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return parseObject(d)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parse(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	default:
		return t, nil
	}
}

func parseObject(d *json.Decoder) (any, error) {
	o := Object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string) // the decoder accepts nothing else
		if _, twice := o.Find(name); twice {
			return nil, fmt.Errorf("the key %q stands twice", name)
		}
		v, err := parse(d)
		if err != nil {
			return nil, err
		}
		o = append(o, Member{name, v})
	}
	_, err := d.Token()
	return o, err
}

// merge applies a JSON merge patch (RFC 7396): null removes, objects merge, any other value replaces. Existing keys
// keep their positions; new keys are appended.
func merge(base, patch any) any {
	p, ok := patch.(Object)
	if !ok {
		return patch
	}
	b, _ := base.(Object)
	b = slices.Clone(b)
	for _, m := range p {
		i := slices.IndexFunc(b, func(x Member) bool { return x.Key == m.Key })
		switch {
		case m.Value == nil && i >= 0:
			b = slices.Delete(b, i, i+1)
		case m.Value == nil:
		case i >= 0:
			b[i].Value = merge(b[i].Value, m.Value)
		default:
			b = append(b, Member{m.Key, merge(nil, m.Value)})
		}
	}
	return b
}
