package config

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"unicode"

	"carillon"
	"carillon/internal/base/resource"
)

// Resource is a validated agent, knowledge, flow, widget or webhook. Its id may be empty.
type Resource struct {
	resource.Resource
	Kind   resource.Kind
	At     Position
	places map[string]Position // positions of its fields, by path
}

// Problems converts the joined errors of a resource to problems, each with the position of its field.
func (x *Resource) Problems(err error) Problems {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all Problems
		for _, err := range joined.Unwrap() {
			all = append(all, x.Problems(err)...)
		}
		return all
	}
	if e, ok := errors.AsType[*carillon.Error](err); ok {
		return Problems{x.problem(e)}
	}
	return nil
}

func (x *Resource) problem(e *carillon.Error) Problem {
	field, _ := e.Details.Find("field").(string)
	reason, _ := e.Details.Find("reason").(string)
	at, exact := x.place(field)
	name := lastName(field)
	switch {
	case reason == "":
		return Problem{x.At, e.Message, field}
	case e.Message == carillon.Missing("").Message && exact:
		return Problem{at, name + " must not be empty", field}
	case e.Message == carillon.Missing("").Message:
		return Problem{at, name + " is required", field}
	}
	if strings.HasSuffix(reason, ".") { // a whole sentence
		return Problem{at, name + ": " + reason, field}
	}
	return Problem{at, name + " " + lowerFirst(reason), field}
}

// lastName returns the last part of a path that is not a number.
func lastName(path string) string {
	for {
		i := strings.LastIndexByte(path, '.')
		if last := path[i+1:]; i < 0 || strings.TrimFunc(last, unicode.IsDigit) != "" {
			return last
		}
		path = path[:i]
	}
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// place returns the position of a field, or of the nearest enclosing part of the resource; exact reports which.
func (x *Resource) place(field string) (at Position, exact bool) {
	for path := field; path != ""; {
		if at, ok := x.places[path]; ok {
			return at, path == field
		}
		i := strings.LastIndexByte(path, '.')
		path = path[:max(i, 0)]
	}
	return x.At, false
}

// resource reads one resource into the type of its kind and validates it.
func (c *company) resource(f *form, kind resource.Kind) {
	x := Resource{Resource: kind.New(), Kind: kind, At: f.at, places: map[string]Position{}}
	before := len(f.r.problems)
	x.object(f, reflect.ValueOf(x.Resource).Elem(), "")
	if len(f.r.problems) == before && !f.r.unfinished {
		f.r.problems = append(f.r.problems, x.Problems(x.Validate())...)
	}
	id, name := x.Key()
	f.r.once(f.at, kind.Phrase+" of this name", c.scope, *name)
	if *id != *name && !kind.Local {
		f.r.once(f.at, kind.Phrase+" of this id", *id)
	}
	c.Resources = append(c.Resources, x)
}

// maxNumber bounds whole numbers in resources. Each field also has its own limits.
const maxNumber = 1_000_000

// object reads a mapping into a struct by its JSON tags.
func (x *Resource) object(f *form, to reflect.Value, path string) {
	for i := range to.NumField() {
		tags := to.Type().Field(i).Tag
		name, _, _ := strings.Cut(tags.Get("json"), ",")
		found, given := f.find(name)
		if !given {
			continue
		}
		if tags.Get("secret") != "" {
			if s, indirect := f.indirect(found); indirect {
				x.places[path+name] = f.r.at(found.value)
				to.Field(i).SetString(s)
				continue
			}
		}
		x.value(f, found, to.Field(i), path+name)
	}
}

// value reads a field of form f into to.
func (x *Resource) value(f *form, from field, to reflect.Value, path string) {
	x.places[path] = f.r.at(from.value)
	switch to.Kind() { //nolint:exhaustive // resources use only these types
	case reflect.String:
		s, _ := f.textOf(from)
		to.SetString(s)
	case reflect.Bool:
		b, _ := f.flag(from.name)
		to.SetBool(b)
	case reflect.Int:
		to.SetInt(int64(f.number(from.name, 0, maxNumber)))
	case reflect.Float64:
		to.SetFloat(decimal(f, from.name))
	case reflect.Pointer: // distinguishes an absent field from its zero value
		to.Set(reflect.New(to.Type().Elem()))
		x.value(f, from, to.Elem(), path)
	case reflect.Slice:
		if to.Type() == reflect.TypeFor[json.RawMessage]() {
			to.SetBytes(jsonOf(f, from))
			return
		}
		items := f.items(from.name)
		to.Set(reflect.MakeSlice(to.Type(), len(items), len(items)))
		for i, item := range items {
			x.value(f, item, to.Index(i), resource.Index(path, i))
		}
	case reflect.Struct, reflect.Map:
		inner, ok := f.r.form(from.value, from.name, from.path)
		switch {
		case !ok:
		case to.Kind() == reflect.Struct:
			x.object(inner, to, path+".")
			inner.end()
		default:
			to.Set(reflect.MakeMap(to.Type()))
			for _, entry := range inner.fields {
				value := reflect.New(to.Type().Elem()).Elem()
				x.value(inner, entry, value, path+"."+entry.name)
				x.places[path+"."+entry.name] = entry.at
				to.SetMapIndex(reflect.ValueOf(entry.name), value)
			}
		}
	}
}
