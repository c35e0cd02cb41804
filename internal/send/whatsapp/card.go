package whatsapp

import (
	"cmp"
	"strings"

	"carillon/internal/base/provider"
)

// card is a contact card. Some phones fill its members, others only its text.
type card struct {
	Origin loose `json:"origin"`
	Name   struct {
		Formatted loose `json:"formatted_name"`
		First     loose `json:"first_name"`
		Last      loose `json:"last_name"`
	} `json:"name"`
	Birthday loose `json:"birthday"`
	Org      struct {
		Company loose `json:"company"`
		Title   loose `json:"title"`
	} `json:"org"`
	Phones []struct {
		Phone loose `json:"phone"`
		WaID  loose `json:"wa_id"`
	} `json:"phones"`
	Emails []struct {
		Email loose `json:"email"`
	} `json:"emails"`
	URLs []struct {
		URL loose `json:"url"`
	} `json:"urls"`
	Addresses []struct {
		Street  loose `json:"street"`
		City    loose `json:"city"`
		State   loose `json:"state"`
		Zip     loose `json:"zip"`
		Country loose `json:"country"`
	} `json:"addresses"`
	VCard string `json:"vcard"`
}

const (
	maxCards  = 100
	maxValues = 20 // per kind and card
)

// cards returns contact cards and their text, one card per line.
func cards(all []card) (some []provider.Card, text string) {
	var lines []string
	for i := range all[:min(len(all), maxCards)] {
		c := all[i].read()
		line := []string{c.Name}
		for _, values := range [][]string{c.Numbers, c.Emails, notEmpty(c.Company, c.Title), c.URLs, c.Addresses, notEmpty(c.Birthday)} {
			line = append(line, values...)
		}
		if s := strings.Join(notEmpty(line...), " "); s != "" {
			some, lines = append(some, c), append(lines, s)
		}
	}
	if len(all) > maxCards && len(some) > 0 {
		lines = append(lines, "…")
	}
	return some, strings.Join(lines, "\n")
}

func (c *card) read() provider.Card {
	x := provider.Card{
		Name: c.Name.Formatted.line(), Company: c.Org.Company.line(), Title: c.Org.Title.line(), Birthday: c.Birthday.line(),
	}
	if x.Name == "" {
		x.Name = strings.Join(notEmpty(c.Name.First.line(), c.Name.Last.line()), " ")
	}
	for _, p := range c.Phones[:min(len(c.Phones), maxValues)] {
		number := p.Phone.line()
		if number == "" && p.WaID != "" {
			number = "+" + strings.TrimPrefix(p.WaID.line(), "+")
		}
		x.Numbers = append(x.Numbers, notEmpty(number)...)
	}
	for _, e := range c.Emails[:min(len(c.Emails), maxValues)] {
		x.Emails = append(x.Emails, notEmpty(e.Email.line())...)
	}
	for _, u := range c.URLs[:min(len(c.URLs), maxValues)] {
		x.URLs = append(x.URLs, notEmpty(u.URL.line())...)
	}
	for _, a := range c.Addresses[:min(len(c.Addresses), maxValues)] {
		address := strings.Join(notEmpty(a.Street.line(), a.Zip.line(), a.City.line(), a.State.line(), a.Country.line()), ", ")
		x.Addresses = append(x.Addresses, notEmpty(address)...)
	}
	complete(&x, c.VCard)
	return x
}

// complete adds the properties of a card's text (RFC 6350) that its members lack.
func complete(x *provider.Card, vcard string) {
	text := provider.Card{}
	for line := range strings.SplitSeq(unfold.Replace(vcard), "\n") {
		property, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		name, parameters, _ := strings.Cut(property, ";")
		if i := strings.LastIndexByte(name, '.'); i >= 0 { // remove a property group
			name = name[i+1:]
		}
		value = oneLine(strings.Join(notEmpty(strings.Split(unescape.Replace(value), "\x00")...), ", "))
		switch strings.ToUpper(name) {
		case "FN":
			text.Name = value
		case "N":
			text.Name = cmp.Or(text.Name, value)
		case "TEL":
			if _, id, ok := strings.Cut(strings.ToLower(parameters), "waid="); ok && value == "" {
				id, _, _ = strings.Cut(id, ";")
				value = "+" + oneLine(id)
			}
			text.Numbers = addValue(text.Numbers, strings.TrimPrefix(value, "tel:"))
		case "EMAIL":
			text.Emails = addValue(text.Emails, value)
		case "ORG":
			text.Company = value
		case "TITLE":
			text.Title = value
		case "BDAY":
			text.Birthday = value
		case "URL":
			text.URLs = addValue(text.URLs, value)
		case "ADR":
			text.Addresses = addValue(text.Addresses, value)
		}
	}
	x.Name, x.Company = cmp.Or(x.Name, text.Name), cmp.Or(x.Company, text.Company)
	x.Title, x.Birthday = cmp.Or(x.Title, text.Title), cmp.Or(x.Birthday, text.Birthday)
	for _, of := range []struct{ have, add *[]string }{
		{&x.Numbers, &text.Numbers}, {&x.Emails, &text.Emails}, {&x.URLs, &text.URLs}, {&x.Addresses, &text.Addresses},
	} {
		if len(*of.have) == 0 {
			*of.have = *of.add
		}
	}
}

var (
	unfold   = strings.NewReplacer("\r\n ", "", "\n ", "", "\r\n\t", "", "\n\t", "", "\r\n", "\n") //nolint:gochecknoglobals // read-only
	unescape = strings.NewReplacer(`\;`, ";", `\,`, ",", `\\`, `\`, `\n`, " ", ";", "\x00")        //nolint:gochecknoglobals // read-only
)

func addValue(all []string, value string) []string {
	if value == "" || len(all) >= maxValues {
		return all
	}
	return append(all, value)
}
