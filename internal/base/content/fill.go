// Package content models the content of a message: the parts of a template and the variables in them, the values that
// a request gives for those variables, and the content that results for one recipient.
//
// Compile analyzes a template once. ReadComponents reads the values of a request; Check and Fill match them with a
// compiled template. FindTemplate picks a template by name and language. A Draft is the payload that creates or
// changes a template.
package content

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/provider"
)

// MaxRecipients bounds the recipients of one request.
const MaxRecipients = 100

// Source holds the values of a request that fill a template.
type Source struct {
	Components []Component
	Recipients int
	Bulk       bool // the recipients are a list, so an error names the recipient
	Lookup     Lookup
}

// Lookup finds the values of placeholders: first in a recipient's own fields, then in the values shared by all
// recipients.
type Lookup interface {
	Field(recipient int, name string) (string, bool)
	Shared(name string) (string, bool)
}

// Check returns nil if src fits the template. It returns a 422 variable_mismatch if a place that needs a value has
// none, a value has no place, or a placeholder is missing for a recipient. It returns a 400 if a filled header, body
// or media URL exceeds its limit.
func Check(t *carillon.Template, src *Source) error {
	if unsupported := Unsupported(t); len(unsupported) > 0 {
		return notSendable(t, unsupported)
	}
	s, err := ShapeOf(t)
	if err != nil {
		return err
	}
	c := resolver{src: src, shape: s, first: 0, end: src.Recipients, cards: cardsOf(s, src.Components)}
	for i := range src.Components {
		if comp := &src.Components[i]; c.place(comp) {
			c.resolve(comp)
		}
	}
	if c.mismatched() {
		return c.mismatch()
	}
	if c.limitErr != nil {
		return c.limitErr
	}
	if s.Code {
		if err := c.checkCode(); err != nil {
			return err
		}
	}
	return c.checkBodies()
}

// notSendable returns the 422 for a template of the channel with parts that this program cannot fill.
func notSendable(t *carillon.Template, unsupported []string) error {
	return &carillon.Error{Code: carillon.TemplateNotApproved, Message: "Template has parts that cannot be sent from here",
		Details: carillon.Details{
			{Key: "template_name", Value: t.Name},
			{Key: "current_status", Value: string(t.Status)},
			{Key: "unsupported", Value: unsupported},
		}}
}

// Fill returns the content for one recipient. The template may have changed since Check; if the source no longer fits,
// it returns the same 422.
func Fill(t *carillon.Template, src *Source, recipient int) (provider.Content, error) {
	s, err := ShapeOf(t)
	if err != nil {
		return provider.Content{}, err
	}
	if recipient < 0 || recipient >= src.Recipients {
		return provider.Content{}, errRecipient
	}
	c := resolver{src: src, shape: s, first: recipient, end: recipient + 1, fill: true, cards: cardsOf(s, src.Components)}
	content := emptyContent(s)
	for i := range c.cards {
		content.Cards = append(content.Cards, emptyContent(CardShape(s, i)))
	}
	for k := range src.Components {
		if comp := &src.Components[k]; c.place(comp) {
			value := c.resolve(comp)
			if into := &content; comp.card < 0 || comp.card < c.cards {
				if comp.card >= 0 {
					into = &content.Cards[comp.card]
				}
				setPlace(into, partOf(s, comp), comp, value)
			}
		}
	}
	if c.mismatched() {
		return provider.Content{}, c.mismatch()
	}
	complete(&content, s)
	for i := range content.Cards {
		complete(&content.Cards[i], CardShape(s, i))
	}
	return content, nil
}

var errRecipient = errors.New("the request has no such recipient")

func emptyContent(s *carillon.Shape) provider.Content {
	return provider.Content{Body: make([]string, len(s.Markers))}
}

// complete adds what a message has without a value of the request, and sorts the buttons.
func complete(c *provider.Content, s *carillon.Shape) {
	for i := range s.Buttons {
		switch s.Buttons[i].Type {
		case ButtonCatalog, ButtonFlow:
			buttonValue(c, s, i)
		case ButtonCode:
			for k := range c.Body {
				c.Body[k] = buttonValue(c, s, i).Value
			}
		}
	}
	slices.SortFunc(c.Buttons, func(a, b provider.ButtonValue) int { return a.Index - b.Index })
}

// buttonKinds are the kinds of values of buttons, by the type of the button.
var buttonKinds = map[string]string{ //nolint:gochecknoglobals // a single read-only table
	ButtonURL: "url", ButtonCode: "url", ButtonQuickReply: "quick_reply", ButtonCoupon: "copy_code", ButtonCatalog: "catalog",
	ButtonProducts: "mpm", ButtonFlow: "flow", ButtonCall: "voice_call",
}

// buttonValue returns the value of a button, which it adds if there is none yet.
func buttonValue(c *provider.Content, s *carillon.Shape, n int) *provider.ButtonValue {
	i := slices.IndexFunc(c.Buttons, func(v provider.ButtonValue) bool { return v.Index == n })
	if i < 0 {
		i = len(c.Buttons)
		c.Buttons = append(c.Buttons, provider.ButtonValue{Index: n, Kind: buttonKinds[s.Buttons[n].Type]})
	}
	return &c.Buttons[i]
}

func setPlace(c *provider.Content, s *carillon.Shape, comp *Component, value string) {
	switch comp.place {
	case headerText:
		c.HeaderText = value
	case headerImage, headerVideo, headerDocument:
		c.MediaURL = value
	case headerLatitude, headerLongitude, headerPlaceName, headerAddress:
		setLocation(c, comp.place, value)
	case headerProduct, headerCatalog:
		if c.Product == nil {
			c.Product = &provider.Product{}
		}
		if comp.place == headerProduct {
			c.Product.ID = value
		} else {
			c.Product.Catalog = value
		}
	case offerExpiration:
		at, _ := parseInstant(value)
		c.OfferEnds = at.UnixMilli()
	case bodyText:
		c.Body[comp.n] = value
	default:
		setButton(buttonValue(c, s, comp.n), &s.Buttons[comp.n], comp.place, value)
	}
}

func setLocation(c *provider.Content, p place, value string) {
	if c.Location == nil {
		c.Location = &provider.HeaderLocation{}
	}
	switch p {
	case headerLatitude:
		c.Location.Latitude = value
	case headerLongitude:
		c.Location.Longitude = value
	case headerPlaceName:
		c.Location.Name = value
	default:
		c.Location.Address = value
	}
}

func setButton(v *provider.ButtonValue, b *carillon.ButtonShape, p place, value string) {
	switch p {
	case buttonURL:
		if b.Counted {
			v.Destination = value
			return
		}
		v.Value, _ = urlSuffix(b, value)
	case buttonProducts:
		v.Products = value
	case buttonFlowData:
		v.Data = value
	case buttonCallTTL:
		v.Minutes, _ = strconv.Atoi(value)
	default:
		v.Value = value
	}
}

// Mask stands for a one-time code wherever a stored message is shown.
const Mask = "••••••"

// Secret reports whether the values of a template's messages are one-time codes, which nobody but their recipient sees.
func Secret(t *carillon.Template) bool { return t.Category == Authentication }

// Masked returns a content with masks in the place of its texts and of its buttons' values.
func Masked(c *provider.Content) provider.Content {
	m := *c
	m.Body, m.Buttons = slices.Repeat([]string{Mask}, len(c.Body)), slices.Clone(c.Buttons)
	for i := range m.Buttons {
		m.Buttons[i].Value = Mask
	}
	if m.HeaderText != "" {
		m.HeaderText = Mask
	}
	return m
}

// Values returns the values of a content by their request keys. Those of a one-time code are masked.
func Values(t *carillon.Template, c *provider.Content) map[string]string {
	values := map[string]string{}
	if t.Shape == nil {
		addValues(values, "", &carillon.Shape{}, c)
	} else {
		addValues(values, "", t.Shape, c)
		for i := range c.Cards {
			if s := CardShape(t.Shape, i); s != nil {
				addValues(values, "card_"+strconv.Itoa(i)+"_", s, &c.Cards[i])
			}
		}
	}
	if Secret(t) {
		for key := range values {
			values[key] = Mask
		}
	}
	return values
}

func addValues(values map[string]string, prefix string, s *carillon.Shape, c *provider.Content) {
	add := func(key, value string) {
		if value != "" {
			values[prefix+key] = value
		}
	}
	add("header_text_0", c.HeaderText)
	if s.HeaderFormat != "" {
		add("header_"+strings.ToLower(s.HeaderFormat), c.MediaURL)
	}
	if l := c.Location; l != nil {
		add(string(headerLatitude), l.Latitude)
		add(string(headerLongitude), l.Longitude)
		add(string(headerPlaceName), l.Name)
		add(string(headerAddress), l.Address)
	}
	if p := c.Product; p != nil {
		add(string(headerProduct), p.ID)
		add(string(headerCatalog), p.Catalog)
	}
	if c.OfferEnds > 0 {
		add(string(offerExpiration), carillon.FormatTime(time.UnixMilli(c.OfferEnds)))
	}
	for i, text := range c.Body {
		values[prefix+"body_text_"+strconv.Itoa(i)] = text
	}
	for _, b := range c.Buttons {
		addButtonValues(add, &b)
	}
}

// valueKeys are the keys of the values of buttons, by kind. The payload of a quick reply is not shown.
var valueKeys = map[string]place{ //nolint:gochecknoglobals // a single read-only table
	"url": buttonURL, "copy_code": buttonCoupon, "catalog": buttonProduct, "mpm": buttonProduct, "flow": buttonFlow,
	"voice_call": buttonPayload,
}

func addButtonValues(add func(key, value string), b *provider.ButtonValue) {
	n := "_" + strconv.Itoa(b.Index)
	if key, shown := valueKeys[b.Kind]; shown {
		add(string(key)+n, cmp.Or(b.Destination, b.Value))
	}
	add(string(buttonProducts)+n, b.Products)
	add(string(buttonFlowData)+n, b.Data)
	if b.Minutes > 0 {
		add(string(buttonCallTTL)+n, strconv.Itoa(b.Minutes))
	}
}

// resolver resolves the components of a source for a range of its recipients and collects the faults.
type resolver struct {
	src        *Source
	shape      *carillon.Shape
	first, end int  // the range of recipients to resolve
	cards      int  // of a carousel, in this message
	fill       bool // only fill: the values were checked when the request was accepted

	filled     int      // required places that have a component
	missing    []string // keys of blank values; names of variables that were not found or are blank
	unexpected []string // keys of components without a place, or with a value that does not fit it
	limitErr   error    // the first exceeded limit; a 400

	sharedLength int                // code points of the rendered body that are the same for every recipient
	lengths      [MaxRecipients]int // code points that differ, by recipient
}

// place reports whether the template has a place for the component, and counts the filled places. No two components
// share a place: see ReadComponents.
func (c *resolver) place(comp *Component) bool {
	switch {
	case !hasPlace(c.shape, comp):
		c.unexpected = append(c.unexpected, comp.shownKey())
		return false
	case !optional(c.shape, comp):
		c.filled++
	}
	return true
}

func (c *resolver) mismatched() bool {
	return len(c.missing)+len(c.unexpected) > 0 || c.filled != requiredPlaces(c.shape, c.cards)
}

// resolve finds the component's value for each recipient, checks it, and returns the last value.
func (c *resolver) resolve(comp *Component) string {
	if comp.name == "" {
		c.checkLines(comp, comp.text, -1)
		c.checkButton(comp, comp.text, -1)
		if c.usable(comp, comp.text, comp.shownKey()) && comp.place == bodyText && comp.card < 0 {
			c.sharedLength += c.shape.MarkerUses[comp.n] * utf8.RuneCountInString(comp.text)
		}
		return comp.text
	}
	var value string
	for i := c.first; i < c.end; i++ {
		value = c.lookUp(comp.name, i)
		if !c.usable(comp, value, carillon.Shorten(comp.name)) {
			return value
		}
		c.checkLines(comp, value, i)
		c.checkButton(comp, value, i)
		c.checkLimits(comp, value, i)
	}
	return value
}

// LinesReason is the reason of the error of checkLines.
const LinesReason = "A value has no line ends, no tabs and at most four spaces in a row: the channel refuses others"

// checkLines refuses line ends, tabs and long runs of spaces in a value, which WhatsApp accepts only in the template's
// own text. recipient is -1 for a static value.
func (c *resolver) checkLines(comp *Component, value string, recipient int) {
	text := comp.place == bodyText || comp.place == headerText
	if c.fill || c.limitErr != nil || !text || !strings.ContainsAny(value, "\n\r\t") && !strings.Contains(value, "     ") {
		return
	}
	c.limitErr = carillon.Invalid(comp.field(), LinesReason+c.of(recipient))
}

// of returns the end of a reason that names the recipient, "" for a value of all recipients.
func (c *resolver) of(recipient int) string {
	if !c.src.Bulk || recipient < 0 {
		return ""
	}
	return fmt.Sprintf(", for contacts.%d", recipient)
}

// usable reports whether a value can fill the component's place; name is reported as missing if the value is blank.
func (c *resolver) usable(comp *Component, value, name string) bool {
	suffix, ok := value, true
	if comp.place == buttonURL {
		suffix, ok = c.urlValue(&partOf(c.shape, comp).Buttons[comp.n], value)
	}
	switch {
	case !ok:
		c.unexpected = append(c.unexpected, comp.shownKey())
	case blank(suffix):
		c.missing = append(c.missing, name)
		ok = false
	}
	return ok
}

// urlValue returns what a value adds to a button's URL. The destination of a counted link is checked on acceptance, by
// checkButton; the button may have become a counted link since.
func (c *resolver) urlValue(b *carillon.ButtonShape, value string) (suffix string, ok bool) {
	if b.Counted {
		return value, !c.fill || blank(value) || checkDestination(value) == ""
	}
	return urlSuffix(b, value)
}

// checkLimits applies the limits of the place to a looked-up value. Static values were checked when the request was
// read.
func (c *resolver) checkLimits(comp *Component, value string, recipient int) {
	switch {
	case comp.place == bodyText && comp.card >= 0:
	case comp.place == bodyText:
		c.lengths[recipient] += c.shape.MarkerUses[comp.n] * utf8.RuneCountInString(value)
	case c.limitErr == nil && !c.fill:
		c.limitErr = comp.check(value)
	}
}

// checkButton applies the limits of a value that depend on the type of its button. recipient is -1 for a static value.
func (c *resolver) checkButton(comp *Component, value string, recipient int) {
	if c.fill || c.limitErr != nil || comp.place != buttonURL && comp.place != buttonPayload && comp.place != offerExpiration {
		return
	}
	if comp.place == offerExpiration {
		if at, ok := parseInstant(value); ok && !at.After(time.Now()) {
			c.limitErr = carillon.InvalidValue(comp.field(), "The end of an offer must be in the future", value)
		}
		return
	}
	n := utf8.RuneCountInString(value)
	b := &partOf(c.shape, comp).Buttons[comp.n]
	switch kind := b.Type; {
	case b.Counted && !blank(value):
		if reason := checkDestination(value); reason != "" {
			c.limitErr = carillon.InvalidValue(comp.field(), reason+c.of(recipient), value)
		}
	case kind == ButtonCode && n > maxCode: // the value is a secret, so the error does not repeat it
		c.limitErr = carillon.Invalid(comp.field(), fmt.Sprintf("A one-time code has at most %d characters, this one %d", maxCode, n))
	case kind == ButtonCall && n > maxCallPayload:
		c.limitErr = carillon.Invalid(comp.field(), fmt.Sprintf("A payload has at most %d characters, this one %d", maxCallPayload, n))
	}
}

// checkCode requires that the body's value, which a request may omit, is the code.
func (c *resolver) checkCode() error {
	var body, code *Component
	for i := range c.src.Components {
		switch comp := &c.src.Components[i]; comp.place {
		case bodyText:
			body = comp
		case buttonURL:
			code = comp
		}
	}
	for i := c.first; body != nil && i < c.end; i++ {
		if c.valueOf(body, i) != c.valueOf(code, i) {
			return carillon.Invalid(body.field(), "The body of a one-time code has the code of "+code.shownKey()+"; leave this value out")
		}
	}
	return nil
}

func (c *resolver) valueOf(comp *Component, recipient int) string {
	if comp.name == "" {
		return comp.text
	}
	return c.lookUp(comp.name, recipient)
}

// checkBodies checks the length of every recipient's rendered body.
func (c *resolver) checkBodies() error {
	for i := range c.src.Recipients {
		n := c.shape.StaticLength + c.sharedLength + c.lengths[i]
		if n <= maxContent {
			continue
		}
		reason := fmt.Sprintf("The rendered body has at most %d characters, this one %d", maxContent, n)
		if c.src.Bulk {
			reason += fmt.Sprintf(", for contacts.%d", i)
		}
		return carillon.Invalid(c.longest(i).field(), reason)
	}
	return nil
}

// longest returns the component that adds most to a recipient's rendered body.
func (c *resolver) longest(recipient int) *Component {
	found, most := &Component{key: string(bodyText) + "_0"}, -1
	for i := range c.src.Components {
		comp := &c.src.Components[i]
		if comp.place != bodyText || comp.card >= 0 || !hasPlace(c.shape, comp) {
			continue
		}
		if n := c.shape.MarkerUses[comp.n] * utf8.RuneCountInString(c.valueOf(comp, recipient)); n > most {
			found, most = comp, n
		}
	}
	return found
}

// lookUp finds the value of a placeholder for a recipient. It returns "" if there is none.
func (c *resolver) lookUp(name string, recipient int) string {
	value, found := c.src.Lookup.Field(recipient, name)
	if !found {
		value, _ = c.src.Lookup.Shared(name)
	}
	return value
}

// mismatch returns the 422 that lists the keys that the template needs, the keys of the request, and the difference.
func (c *resolver) mismatch() error {
	required := requiredKeys(c.shape, c.cards)
	provided, missing := make([]string, 0, len(c.src.Components)), []string{}
	filled := make(map[string]bool, len(c.src.Components))
	for i := range c.src.Components {
		comp := &c.src.Components[i]
		provided = append(provided, comp.shownKey())
		if hasPlace(c.shape, comp) {
			filled[comp.placeKey()] = true
		}
	}
	for _, key := range required {
		if !filled[key] {
			missing = append(missing, key)
		}
	}
	message := "Template variables do not match the provided data" + c.unknownNames()
	return &carillon.Error{Code: carillon.VariableMismatch, Message: message, Details: carillon.Details{
		{Key: "template_variables", Value: required},
		{Key: "provided_variables", Value: provided},
		{Key: "missing", Value: appendDistinct(missing, c.missing)},
		{Key: "unexpected", Value: appendDistinct([]string{}, c.unexpected)},
	}}
}

// unknownNames returns a message if a placeholder has no value, else "". The caller's name of the placeholder appears
// only in the details, because messages are logged.
func (c *resolver) unknownNames() string {
	for _, name := range c.missing {
		if _, _, _, key := parseKey(name); !key {
			return ": neither the contact nor the request has a value for a placeholder; `missing` has its name"
		}
	}
	return ""
}

// appendDistinct appends those of more that list does not have yet.
func appendDistinct(list, more []string) []string {
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
