package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"carillon"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/resource"
)

// ReadResource reads and validates a file that contains a single resource, written as in a set-up. Errors in it are
// Problems.
func ReadResource(name string, kind resource.Kind, o ProvisionOptions) (resource.Resource, error) {
	text, err := readLimited(name, maxProvision)
	if err != nil {
		return nil, err
	}
	return parseResource(name, text, kind, newReader(o))
}

// ParseResource is ReadResource for a text, without {env: NAME} and {file: PATH}. name is its file in the problems.
func ParseResource(name string, text []byte, kind resource.Kind) (resource.Resource, error) {
	r := newReader(ProvisionOptions{})
	r.values = true
	return parseResource(name, text, kind, r)
}

func parseResource(name string, text []byte, kind resource.Kind, r *reader) (resource.Resource, error) {
	r.name = name
	root := r.parseYAML(name, text)
	if root == nil && len(r.problems) > 0 {
		return nil, r.problems.Sorted()
	}
	x := r.single(root, kind)
	return x, r.problems.Sorted()
}

// ResourceOf reads and validates a resource in a request body, written as in a set-up but without {env: NAME} and
// {file: PATH}. The error joins a *carillon.Error of code validation_failed for each fault.
func ResourceOf(o *jsonbody.Object, kind resource.Kind) (resource.Resource, error) {
	r := newReader(ProvisionOptions{})
	r.values = true
	x := r.single(node(o), kind)
	return x, r.problems.invalid()
}

// UnfinishedOf reads a resource like ResourceOf but does not validate it: absent fields may be added later.
func UnfinishedOf(o *jsonbody.Object, kind resource.Kind) (resource.Resource, error) {
	r := newReader(ProvisionOptions{})
	r.values, r.unfinished = true, true
	x := r.single(node(o), kind)
	return x, r.problems.invalid()
}

// SenderOf reads a sender in a request body like ResourceOf. The settings are not validated.
func SenderOf(o *jsonbody.Object) (*carillon.Sender, error) {
	r := newReader(ProvisionOptions{})
	r.values = true
	var c company
	if f, ok := r.form(node(o), "a sender", ""); ok {
		c.sender(f)
		f.end()
	}
	if err := r.problems.invalid(); err != nil {
		return nil, err
	}
	return &c.Senders[0].Sender, nil
}

// CompanyOf reads a company's own fields in a request body like ResourceOf, and applies them to now. Absent fields
// keep their values. A null calling_hours allows calls at any time. Fields named in besides are ignored here, because
// the caller reads them.
func CompanyOf(o *jsonbody.Object, now carillon.Company, besides ...string) (carillon.Company, error) {
	r := newReader(ProvisionOptions{})
	r.values = true
	var c company
	if f, ok := r.form(node(o), "a company", ""); ok {
		c.Name = f.neededAs("name", oneLine, oneLineRule)
		c.settings(f)
		f.known = append(f.known, besides...)
		f.end()
	}
	if err := r.problems.invalid(); err != nil {
		return now, err
	}
	if slices.Contains(o.Keys(), "calling_hours") && !o.Find("calling_hours").Present() {
		now.CallingHours = nil
	}
	return c.Over(now), nil
}

func (r *reader) single(n ast.Node, kind resource.Kind) resource.Resource {
	if n == nil {
		r.problem(Position{File: r.name, Line: 1, Column: 1}, "the file is empty")
		return nil
	}
	f, ok := r.form(n, kind.Phrase, "")
	if !ok {
		return nil
	}
	var c company
	c.resource(f, kind)
	f.end()
	return c.Resources[0].Resource
}

// invalid joins the problems as errors of a request.
func (p Problems) invalid() error {
	var all []error
	for _, x := range p {
		reason := strings.TrimLeft(strings.TrimPrefix(x.Text, lastName(x.Field)), ": ")
		if reason == "is required" {
			all = append(all, carillon.Missing(x.Field))
			continue
		}
		all = append(all, carillon.Invalid(x.Field, strings.ToUpper(reason[:1])+reason[1:]))
	}
	return errors.Join(all...)
}

// node converts a JSON object to YAML nodes, so that one reader serves both forms. The nodes have no positions; errors
// name fields.
func node(o *jsonbody.Object) ast.Node {
	m := ast.Mapping(tokenOf("{"), true)
	for key, v := range o.Members() {
		m.Values = append(m.Values, ast.MappingValue(tokenOf(":"), ast.String(tokenOf(key)), nodeOf(v)))
	}
	return m
}

func nodeOf(v jsonbody.Value) ast.Node {
	if o, present, err := v.Object(""); err == nil && present {
		return node(o)
	}
	if list, present, err := v.Array(""); err == nil && present {
		s := ast.Sequence(tokenOf("["), true)
		for _, x := range list {
			s.Values = append(s.Values, nodeOf(x))
		}
		return s
	}
	text, ok := v.Scalar()
	switch {
	case !ok:
		return ast.Null(tokenOf("null"))
	case v.IsString():
		return ast.String(tokenOf(text))
	case text == "true", text == "false":
		return ast.Bool(tokenOf(text))
	case strings.ContainsAny(text, ".eE"):
		return ast.Float(tokenOf(text))
	}
	return ast.Integer(tokenOf(text))
}

func tokenOf(text string) *token.Token {
	return &token.Token{Value: text, Origin: text, Position: &token.Position{Line: 1, Column: 1}}
}
