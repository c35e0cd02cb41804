package carillon

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// What the channel takes of a template's parts, where the contract is silent.
const (
	maxFooter       = 60
	maxButtonText   = 25
	maxButtonURL    = 2000
	maxURLButtons   = 2
	maxPhoneButtons = 1
)

// readComponents reads the payload's components; an absent list changes nothing.
func (d *Draft) readComponents(v Value) error {
	elements, present, err := v.Array("components")
	if err != nil || !present {
		return err
	}
	d.Components = make([]Component, 0, len(elements))
	for i, e := range elements {
		field := fmt.Sprintf("components.%d", i)
		o, present, err := e.Object(field)
		if err != nil {
			return err
		}
		if !present {
			return Missing(field)
		}
		c, err := readComponent(o, field)
		if err != nil {
			return err
		}
		d.Components = append(d.Components, c)
	}
	return nil
}

func readComponent(o *Object, field string) (c Component, err error) {
	if c.Type, err = required(o.Find("type"), field+".type"); err != nil {
		return c, err
	}
	c.Type = strings.ToUpper(c.Type)
	if c.Format, _, err = o.String(field+".format", "format"); err != nil {
		return c, err
	}
	if c.Text, _, err = o.String(field+".text", "text"); err != nil {
		return c, err
	}
	if c.Example, err = readExample(o.Find("example"), field+".example"); err != nil {
		return c, err
	}
	c.Format = strings.ToUpper(c.Format)
	if c.Type == TypeHeader && c.Format == "" {
		c.Format = FormatText
	}
	buttons, _, err := o.Array(field+".buttons", "buttons")
	if err != nil {
		return c, err
	}
	for i, e := range buttons {
		b, err := readButton(e, fmt.Sprintf("%s.buttons.%d", field, i))
		if err != nil {
			return c, err
		}
		c.Buttons = append(c.Buttons, b)
	}
	return c, nil
}

func readButton(v Value, field string) (b Button, err error) {
	o, present, err := v.Object(field)
	if err != nil {
		return b, err
	}
	if !present {
		return b, Missing(field)
	}
	if b.Type, err = required(o.Find("type"), field+".type"); err != nil {
		return b, err
	}
	b.Type = strings.ToUpper(b.Type)
	if b.Text, err = required(o.Find("text"), field+".text"); err != nil {
		return b, err
	}
	if b.URL, _, err = o.String(field+".url", "url"); err != nil {
		return b, err
	}
	if b.PhoneNumber, _, err = o.String(field+".phone_number", "phone_number"); err != nil {
		return b, err
	}
	return b, readStrings(o.Find("example"), field+".example", &b.Example)
}

// checkPart holds a component to what the compiled form leaves open.
func checkPart(c *Component, field string) error {
	switch c.Type {
	case TypeBody:
		return InvalidValue(field+".type", "The body is the payload's content", c.Type)
	case TypeHeader:
		if n := utf8.RuneCountInString(c.Text); n > maxHeader {
			return OverLimit("The header's text is too long", maxHeader, n)
		}
		if c.Format != FormatText && c.Text != "" {
			return Invalid(field+".text", "A media header has no text")
		}
	case TypeFooter:
		if utf8.RuneCountInString(c.Text) > maxFooter {
			return Invalid(field+".text", fmt.Sprintf("A footer has at most %d characters", maxFooter))
		}
	case TypeButtons:
		return checkButtons(c.Buttons, field+".buttons")
	}
	return nil
}

func checkButtons(buttons []Button, field string) error {
	count := map[string]int{}
	for i := range buttons {
		b := &buttons[i]
		if err := checkButton(b, fmt.Sprintf("%s.%d", field, i)); err != nil {
			return err
		}
		if b.Type == ButtonQuickReply && count[b.Type] > 0 && buttons[i-1].Type != b.Type {
			return Invalid(field, "Quick replies stand together")
		}
		count[b.Type]++
	}
	switch {
	case count[ButtonURL] > maxURLButtons:
		return Invalid(field, fmt.Sprintf("A template has at most %d URL buttons", maxURLButtons))
	case count[ButtonPhone] > maxPhoneButtons:
		return Invalid(field, fmt.Sprintf("A template has at most %d phone button", maxPhoneButtons))
	}
	return nil
}

func checkButton(b *Button, field string) error {
	if utf8.RuneCountInString(b.Text) > maxButtonText {
		return Invalid(field+".text", fmt.Sprintf("A button's text has at most %d characters", maxButtonText))
	}
	switch b.Type {
	case ButtonQuickReply:
		return nil
	case ButtonURL:
		return checkButtonURL(b.URL, field+".url")
	case ButtonPhone:
		if !ValidNumber(strings.TrimPrefix(b.PhoneNumber, "+")) {
			return BadNumber(field+".phone_number", shortened(b.PhoneNumber))
		}
		return nil
	}
	types := []string{ButtonURL, ButtonQuickReply, ButtonPhone}
	return InvalidValue(field+".type", "Must be one of "+strings.Join(types, ", "), shortened(b.Type))
}

func checkButtonURL(address, field string) error {
	if blank(address) {
		return Missing(field)
	}
	static, _, _ := strings.Cut(address, opening)
	u, err := url.Parse(static)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme) {
		return BadFormat(field, shortened(address), "absolute URL, with at most one variable at its end", "https://example.com/p/{{1}}")
	}
	if utf8.RuneCountInString(address) > maxButtonURL {
		return Invalid(field, fmt.Sprintf("A button's URL has at most %d characters", maxButtonURL))
	}
	return nil
}
