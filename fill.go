package carillon

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// CheckAgainst holds the request to the template: every place that needs a value has one, no value is without a
// place, every placeholder is found for every contact (else 422 variable_mismatch); headers, bodies and media
// addresses keep their limits once filled (else 400). decisions.md, section 3.
func (r *Request) CheckAgainst(t *Template) error {
	s, err := t.shape()
	if err != nil {
		return err
	}
	f := r.fit(s)
	c := check{r: r, s: s, misfits: f.misfits}
	for i := range r.components {
		if f.placed(&r.components[i]) {
			c.component(&r.components[i])
		}
	}
	if len(c.missing)+len(c.misfits) > 0 || !f.complete(s) {
		return r.mismatch(s, &f, &c)
	}
	if c.err != nil {
		return c.err
	}
	return c.bodies()
}

// Content is what goes to the channel for contact i. The template may have changed since the request was accepted: a
// request that no longer fits it is the same 422 as before acceptance.
func (r *Request) Content(t *Template, i int) (Content, error) {
	s, err := t.shape()
	if err != nil {
		return Content{}, err
	}
	if i < 0 || i >= len(r.Contacts) {
		return Content{}, errContact
	}
	f := r.fit(s)
	c := check{r: r, s: s, misfits: f.misfits, only: i, one: true}
	content := Content{Body: make([]string, len(s.Markers))}
	for k := range r.components {
		if comp := &r.components[k]; f.placed(comp) {
			content.put(comp, s, c.component(comp))
		}
	}
	if len(c.missing)+len(c.misfits) > 0 || !f.complete(s) {
		return Content{}, r.mismatch(s, &f, &c)
	}
	slices.SortFunc(content.Buttons, func(a, b ButtonValue) int { return a.Index - b.Index })
	return content, nil
}

var errContact = errors.New("the request has no such contact")

func (c *Content) put(comp *component, s *Shape, value string) {
	switch comp.place {
	case headerText:
		c.HeaderText = value
	case headerImage, headerVideo, headerDocument:
		c.MediaURL = value
	case bodyText:
		c.Body[comp.n] = value
	case buttonURL:
		value, _ = s.Buttons[comp.n].suffix(value)
		c.Buttons = append(c.Buttons, ButtonValue{Index: comp.n, Kind: "url", Value: value})
	case buttonPayload:
		c.Buttons = append(c.Buttons, ButtonValue{Index: comp.n, Kind: "quick_reply", Value: value})
	case nowhere:
	}
}

// fit is how a request's components and a template's places go together.
type fit struct {
	shape   *Shape
	misfits []string // keys of components without a place
	filled  int      // needed places that have a component
}

// fit finds the place of each component. No two components share one: keys are distinct, and both forms of one key are
// refused before.
func (r *Request) fit(s *Shape) fit {
	f := fit{shape: s}
	for i := range r.components {
		c := &r.components[i]
		switch {
		case !f.placed(c):
			f.misfits = append(f.misfits, c.shownKey())
		case c.place != buttonPayload:
			f.filled++
		}
	}
	return f
}

// placed tells whether the template has a place for the component.
func (f *fit) placed(c *component) bool {
	s := f.shape
	switch c.place {
	case headerText:
		return c.n == 0 && s.HeaderVariable != ""
	case headerImage:
		return c.n == 0 && s.HeaderFormat == FormatImage
	case headerVideo:
		return c.n == 0 && s.HeaderFormat == FormatVideo
	case headerDocument:
		return c.n == 0 && s.HeaderFormat == FormatDocument
	case bodyText:
		return c.n >= 0 && c.n < len(s.Markers)
	case buttonURL:
		return c.n >= 0 && c.n < len(s.Buttons) && s.Buttons[c.n].Variable
	case buttonPayload:
		return c.n >= 0 && c.n < len(s.Buttons) && s.Buttons[c.n].Type == ButtonQuickReply
	case nowhere:
	}
	return false
}

// complete tells whether every needed place has a component.
func (f *fit) complete(s *Shape) bool { return f.filled == s.needed }

// check resolves components for the contacts and gathers what is wrong.
type check struct {
	r       *Request
	s       *Shape
	missing []string // keys of blank values, names found nowhere or empty
	misfits []string
	err     error // the first limit that is passed, a 400
	only    int   // with one: the contact that is looked at
	one     bool

	shared  int              // code points of the rendered body that are the same for every contact
	lengths [maxContacts]int // and those that differ
}

// component resolves one component for the contacts looked at, checks each value, and returns the last.
func (c *check) component(comp *component) string {
	if comp.name == "" {
		if c.usable(comp, comp.text, comp.shownKey()) && comp.place == bodyText {
			c.shared += c.s.body.uses[comp.n] * utf8.RuneCountInString(comp.text)
		}
		return comp.text
	}
	root, inRoot := c.r.value(comp.name)
	first, end := 0, len(c.r.Contacts)
	if c.one {
		first, end = c.only, c.only+1
	}
	var value string
	for i := first; i < end; i++ {
		var found bool
		if value, found = c.r.Contacts[i].Field(comp.name); !found {
			value, found = root, inRoot
		}
		if !found {
			value = ""
		}
		if !c.usable(comp, value, shortened(comp.name)) {
			return value
		}
		c.limit(comp, value, i)
	}
	return value
}

// value is the body's own value of that name as text; in flat form a key with a dot is no value of the root.
func (r *Request) value(name string) (string, bool) {
	v := r.root.Find(name)
	if !v.Present() || r.flat && strings.Contains(name, ".") {
		return "", false
	}
	return v.doc.scalar(v.at)
}

// usable tells whether a value can fill its component's place; name is what is told to be missing when it is blank.
func (c *check) usable(comp *component, value, name string) bool {
	suffix, ok := value, true
	if comp.place == buttonURL {
		suffix, ok = c.s.Buttons[comp.n].suffix(value)
	}
	switch {
	case !ok:
		c.misfits = append(c.misfits, comp.shownKey())
	case blank(suffix):
		c.missing = append(c.missing, name)
		ok = false
	}
	return ok
}

// limit holds a value that came from contact i to the limits of its place. What stood in the request itself was
// checked when it was read.
func (c *check) limit(comp *component, value string, i int) {
	switch {
	case comp.place == bodyText:
		c.lengths[i] += c.s.body.uses[comp.n] * utf8.RuneCountInString(value)
	case c.err == nil && !c.one:
		c.err = comp.check(value)
	}
}

// bodies holds every contact's rendered body to its limit.
func (c *check) bodies() error {
	for i := range c.r.Contacts {
		n := c.s.body.static + c.shared + c.lengths[i]
		if n <= maxContent {
			continue
		}
		reason := fmt.Sprintf("The rendered body has at most %d characters, this one %d", maxContent, n)
		if c.r.Bulk {
			reason += fmt.Sprintf(", for contacts.%d", i)
		}
		return Invalid(componentsKey, reason)
	}
	return nil
}

// mismatch is the 422 that tells what the template has, what came, and how they differ.
func (r *Request) mismatch(s *Shape, f *fit, c *check) error {
	wanted := s.keys()
	provided, missing := make([]string, 0, len(r.components)), []string{}
	filled := make(map[string]bool, len(r.components))
	for i := range r.components {
		comp := &r.components[i]
		provided = append(provided, comp.shownKey())
		if f.placed(comp) {
			filled[comp.placeKey()] = true
		}
	}
	for _, key := range wanted {
		if !filled[key] {
			missing = append(missing, key)
		}
	}
	missing = appendNew(missing, c.missing)
	return &Error{Code: VariableMismatch, Message: "Template variables do not match the provided data", Details: Details{
		{"template_variables", wanted},
		{"provided_variables", provided},
		{"missing", missing},
		{"unexpected", appendNew([]string{}, c.misfits)},
	}}
}

func appendNew(list, more []string) []string {
	seen := make(map[string]bool, len(list)+len(more))
	for _, s := range list {
		seen[s] = true
	}
	for _, s := range more {
		if !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	return list
}
