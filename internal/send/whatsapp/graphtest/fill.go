package graphtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/base/content"
)

// place is a part of a template that takes one component of a message, with parameters of one type.
type place struct {
	subType  string   // for a button
	kind     string   // type of the parameters
	names    []string // of the parameters; positional ones are only counted
	optional bool
}

// maxPayload bounds the payload of a quick reply.
const maxPayload = 256

// partsOf returns a template's components as the channel reads them. Members of other types are skipped, because a
// declared template may have unknown parts.
func partsOf(components []carillon.Component) []part {
	text, err := json.Marshal(components)
	if err != nil {
		panic(err)
	}
	var parts []part
	_ = json.Unmarshal(text, &parts) // parts that do not fit are skipped
	return parts
}

// placesOf returns the places of a template or of a card, by type and index of the component.
func placesOf(parts []part, positional, code bool) map[string]place {
	all := map[string]place{}
	if code {
		all["body"] = place{kind: "text", names: []string{"1"}}
	}
	for i := range parts {
		p := &parts[i]
		names := variablesOf(p.Text)
		if positional {
			slices.Sort(names)
		}
		switch strings.ToUpper(p.Type) {
		case "BODY":
			if !code {
				all["body"] = place{kind: "text", names: names, optional: len(names) == 0}
			}
		case "HEADER":
			all["header"] = headerPlace(p, names)
		case "LIMITED_TIME_OFFER":
			if p.Offer != nil && p.Offer.HasExpiration != nil && *p.Offer.HasExpiration {
				all["limited_time_offer"] = place{kind: "limited_time_offer", names: []string{""}}
			}
		case "BUTTONS":
			for n := range p.Buttons {
				if x, takes := buttonPlace(&p.Buttons[n]); takes {
					all["button"+strconv.Itoa(n)] = x
				}
			}
		}
	}
	return all
}

func headerPlace(p *part, names []string) place {
	switch format := strings.ToLower(p.Format); format {
	case "", "text":
		return place{kind: "text", names: names, optional: len(names) == 0}
	default:
		return place{kind: format, names: []string{format}}
	}
}

func buttonPlace(b *button) (place, bool) {
	one := []string{""}
	switch strings.ToUpper(b.Type) {
	case "URL":
		return place{subType: "url", kind: "text", names: one}, variable.MatchString(b.URL)
	case "OTP":
		return place{subType: "url", kind: "text", names: one}, true
	case "QUICK_REPLY":
		return place{subType: "quick_reply", kind: "payload", names: one, optional: true}, true
	case "COPY_CODE":
		return place{subType: "COPY_CODE", kind: "coupon_code", names: one}, true
	case "CATALOG":
		return place{subType: "CATALOG", kind: "action", names: one}, true
	case "MPM", "FLOW":
		return place{subType: strings.ToLower(b.Type), kind: "action", names: one}, true
	case "VOICE_CALL":
		return place{subType: "voice_call", optional: true}, true
	}
	return place{}, false
}

// checkComponents matches each component with a place of the template.
func checkComponents(t *carillon.Template, components []component) *Error {
	parts := partsOf(t.Components)
	named, code := t.ParameterFormat == content.Named, t.Category == "AUTHENTICATION" && codeButton(parts)
	var carousel *component
	for i := range components {
		if components[i].Type == "carousel" && carousel == nil {
			carousel = &components[i]
		}
	}
	plain := slices.DeleteFunc(slices.Clone(components), func(c component) bool { return c.Type == "carousel" })
	if carousel != nil && len(plain) != len(components)-1 {
		return invalid("Unexpected component \"carousel\"")
	}
	if e := fill(placesOf(parts, !named, code), plain, named); e != nil {
		return e
	}
	if code {
		return checkSentCode(plain)
	}
	return checkCards(parts, carousel, named)
}

// codeButton reports whether an authentication template has the button of a one-time code, in either form.
func codeButton(parts []part) bool {
	for _, p := range parts {
		for _, b := range p.Buttons {
			if b.Type == "OTP" || b.Type == "URL" && variable.MatchString(b.URL) {
				return true
			}
		}
	}
	return false
}

// checkSentCode requires the same code, of at most 15 characters, in the body and the button.
func checkSentCode(components []component) *Error {
	for _, c := range components {
		switch text := c.Parameters[0].Text; {
		case length(text) > 15:
			return &Error{HTTP: 400, Code: 132005, Message: "a one-time code has at most 15 characters"}
		case text != components[0].Parameters[0].Text:
			return &Error{HTTP: 400, Code: 132012, Message: "the body and the button have different codes"}
		}
	}
	return nil
}

func fill(left map[string]place, components []component, named bool) *Error {
	for i := range components {
		c := &components[i]
		at := c.Type + c.Index
		p, ok := left[at]
		if !ok || c.Cards != nil {
			return invalid("Unexpected component " + strconv.Quote(at))
		}
		delete(left, at)
		if e := p.check(c, c.Type != "button" && named); e != nil {
			return e
		}
	}
	for at, p := range left {
		if !p.optional {
			return mismatch(at)
		}
	}
	return nil
}

// checkCards matches the cards of a carousel. Cards of media are sent as created, those of products in any number.
func checkCards(parts []part, sent *component, named bool) *Error {
	i := slices.IndexFunc(parts, func(p part) bool { return strings.EqualFold(p.Type, "carousel") })
	switch {
	case i < 0 && sent == nil:
		return nil
	case i < 0:
		return invalid("Unexpected component \"carousel\"")
	case sent == nil || sent.Parameters != nil:
		return mismatch("carousel")
	}
	cards := parts[i].Cards
	products := strings.EqualFold(cards[0].Components[0].Format, "product")
	if n := len(sent.Cards); products && (n < 2 || n > maxCards) || !products && n != len(cards) {
		return &Error{HTTP: 400, Code: 132012, Message: "carousel: wrong number of cards"}
	}
	for n := range sent.Cards {
		given, created := &sent.Cards[n], &cards[0]
		if !products {
			created = &cards[n]
		}
		if given.Index != n {
			return invalid("carousel: wrong card_index")
		}
		if e := fill(placesOf(created.Components, !named, false), given.Components, named); e != nil {
			e.Message = fmt.Sprintf("card %d: %s", n, e.Message)
			return e
		}
	}
	return nil
}

func (p *place) check(c *component, named bool) *Error {
	switch {
	case c.SubType != p.subType:
		return wrongFormat(c)
	case p.subType == "voice_call":
		return checkCall(c)
	case len(c.Parameters) != len(p.names):
		return mismatch(c.Type + c.Index)
	}
	names := slices.Clone(p.names)
	for _, given := range c.Parameters {
		named := named && given.Type == "text"
		at := slices.Index(names, given.Name)
		switch {
		case given.Type != p.kind, !named && given.Name != "":
			return wrongFormat(c)
		case given.Type == "action" && !fitsAction(c.SubType, &given):
			return wrongFormat(c)
		case len(given.Payload) > maxPayload:
			return invalid("the payload of a quick reply is too long")
		case c.Type != "button" && badSpace.MatchString(given.Text):
			return &Error{
				HTTP: 400, Code: 132018, Message: "Param text cannot have new-line/tab characters or more than 4 consecutive spaces",
			}
		case named && at < 0:
			return invalid("Parameter name is missing or unknown")
		case named:
			names = slices.Delete(names, at, at+1)
		}
	}
	return nil
}

// checkCall checks the parameters of a call's button, each of which is optional.
func checkCall(c *component) *Error {
	seen := map[string]bool{}
	for _, p := range c.Parameters {
		if p.Type != "ttl_minutes" && p.Type != "payload" || seen[p.Type] {
			return wrongFormat(c)
		}
		seen[p.Type] = true
	}
	return nil
}

// fitsAction reports whether an action has the members of its button and no others.
func fitsAction(subType string, p *parameter) bool {
	a := p.Action
	flow := a.FlowToken != "" || a.FlowData != nil
	switch subType {
	case "CATALOG":
		return !flow && a.Sections == nil
	case "flow":
		return a.Thumbnail == "" && a.Sections == nil
	}
	items := 0
	for _, s := range a.Sections {
		items += len(s.Items)
	}
	return !flow && a.Thumbnail != "" && len(a.Sections) >= 1 && len(a.Sections) <= 10 && items <= 30
}

func mismatch(at string) *Error {
	return &Error{HTTP: 400, Code: 132000, Message: at + ": number of parameters differs"}
}

func wrongFormat(c *component) *Error {
	return &Error{HTTP: 400, Code: 132012, Message: c.Type + c.Index + ": a parameter does not fit the template"}
}
