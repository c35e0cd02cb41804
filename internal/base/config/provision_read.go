package config

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"carillon"
	"carillon/internal/base/resource"
)

// reader reads the files of one set-up and collects its problems.
type reader struct {
	o          ProvisionOptions
	env        func(string) (string, bool)
	readFile   func(string) (string, error)
	name       string // the file being read
	companies  []*company
	problems   Problems
	values     bool                // secrets are literal values; {env: NAME} and {file: PATH} are refused
	unfinished bool                // resources are not validated
	unique     map[string]Position // positions of declarations that must be unique across all files
}

// company reads a company, which may be spread over several files.
type company struct {
	Company
	scope string // prefix for keys that are unique within the company
}

func newReader(o ProvisionOptions) *reader {
	r := &reader{o: o, env: o.Env, readFile: o.File, unique: map[string]Position{}}
	if r.env == nil {
		r.env = os.LookupEnv
	}
	if r.readFile == nil {
		r.readFile = ReadSecretFile
	}
	return r
}

func (r *reader) problem(at Position, text string) { r.problemOf("", at, text) }

func (r *reader) problemOf(field string, at Position, text string) {
	r.problems = append(r.problems, Problem{at, text, field})
}

// once reports a second declaration of the same object. key may contain a secret, but `what` must not.
func (r *reader) once(at Position, what string, key ...string) {
	if slices.Contains(key, "") {
		return // already reported as missing
	}
	k := what + "\x00" + strings.Join(key, "\x00")
	if before, taken := r.unique[k]; taken {
		r.problem(at, what+" is declared before, at "+before.String())
		return
	}
	r.unique[k] = at
}

func (r *reader) file(name string, text []byte) {
	r.name = name
	root := r.parseYAML(name, text)
	if root == nil {
		return
	}
	if f, ok := r.form(root, "a set-up", ""); ok {
		f.each("companies", "a company", r.company)
		f.end()
	}
}

// end returns the set-up, or its problems.
func (r *reader) end() (*Provision, error) {
	if err := r.problems.Sorted(); err != nil {
		return nil, err
	}
	p := &Provision{}
	for _, c := range r.companies {
		slices.SortStableFunc(c.Resources, func(a, b Resource) int { return cmp.Compare(r.rank(a), r.rank(b)) })
		p.Companies = append(p.Companies, c.Company)
	}
	return p, nil
}

// rank returns the index of a resource's kind.
func (r *reader) rank(x Resource) int {
	return slices.IndexFunc(r.o.Kinds, func(k resource.Kind) bool { return k.Name == x.Kind.Name })
}

func (r *reader) company(f *form) {
	id := strings.ToLower(f.checked("id", carillon.ValidUUID, "must be a UUID"))
	c := r.find(f, id, f.neededAs("name", oneLine, oneLineRule))
	c.fields(f)
	f.each("users", "a user", c.user)
	f.each("keys", "a key", c.key)
	f.each("senders", "a sender", c.sender)
	f.each("templates", "a template", c.template)
	for _, kind := range r.o.Kinds {
		f.each(kind.Plural, kind.Phrase, func(f *form) { c.resource(f, kind) })
	}
	c.suppress(f)
}

// find returns the company that an earlier file declared, or adds a new one.
func (r *reader) find(f *form, id, name string) *company {
	for _, c := range r.companies {
		sameName := c.Name == name
		if id != "" && c.ID == id || sameName && (id == "" || c.ID == "") {
			if !sameName {
				r.problem(f.place("name"), "the company has another name at "+c.At.String())
			}
			if c.At.File == f.at.File {
				r.problem(f.at, "the company is declared before, at "+c.At.String())
			}
			if c.ID == "" {
				c.ID = id
			}
			return c
		}
		if sameName {
			r.problem(f.place("name"), "another company has this name, at "+c.At.String())
		}
	}
	c := &company{Company: Company{ID: id, Name: name, At: f.at}, scope: name}
	r.companies = append(r.companies, c)
	return c
}

const oneLineRule = "must be one line of at most 200 bytes"

func oneLine(s string) bool { return len(s) <= 200 && !strings.ContainsAny(s, "\r\n\t\x00") }
