package manual

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// object is a JSON object that keeps the order of its keys, because pages list fields in the order of the description.
type object struct {
	keys []string
	of   map[string]any
}

func (o *object) get(key string) any {
	if o == nil {
		return nil
	}
	return o.of[key]
}

// at returns the object under a key, or nil.
func (o *object) at(key string) *object {
	x, _ := o.get(key).(*object)
	return x
}

func (o *object) text(key string) string {
	s, _ := o.get(key).(string)
	return s
}

func (o *object) list(key string) []any {
	l, _ := o.get(key).([]any)
	return l
}

// texts returns the strings of a list, or a single string as a list.
func (o *object) texts(key string) (all []string) {
	if s := o.text(key); s != "" {
		return []string{s}
	}
	for _, x := range o.list(key) {
		if s, ok := x.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// parse decodes JSON and keeps the order of keys.
func parse(data []byte) (*object, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := value(d)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*object)
	if !ok {
		return nil, errors.New("not an object")
	}
	return o, nil
}

func value(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return members(d)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := value(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	return t, nil
}

func members(d *json.Decoder) (*object, error) {
	o := &object{of: map[string]any{}}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok {
			return nil, fmt.Errorf("key %v", k)
		}
		v, err := value(d)
		if err != nil {
			return nil, err
		}
		o.keys = append(o.keys, key)
		o.of[key] = v
	}
	_, err := d.Token()
	return o, err
}

// pretty formats a value as readable JSON, with short lists and objects on one line.
func pretty(v any) string { return prettyAt(v, "") }

const maxLine = 72 // characters of a list or object on one line

func prettyAt(v any, indent string) string {
	one := compact(v)
	if len(one)+len(indent) <= maxLine {
		return one
	}
	var items []string
	brackets := "{}"
	switch v := v.(type) {
	case *object:
		for _, k := range v.keys {
			items = append(items, compact(k)+": "+prettyAt(v.of[k], indent+"  "))
		}
	case []any:
		brackets = "[]"
		for _, x := range v {
			items = append(items, prettyAt(x, indent+"  "))
		}
	default:
		return one
	}
	return brackets[:1] + "\n" + indent + "  " + strings.Join(items, ",\n"+indent+"  ") + "\n" + indent + brackets[1:]
}

func compact(v any) string {
	switch v := v.(type) {
	case *object:
		items := make([]string, 0, len(v.keys))
		for _, k := range v.keys {
			items = append(items, compact(k)+": "+compact(v.of[k]))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case []any:
		items := make([]string, 0, len(v))
		for _, x := range v {
			items = append(items, compact(x))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // only strings, numbers, booleans and null
	return strings.TrimSuffix(b.String(), "\n")
}
