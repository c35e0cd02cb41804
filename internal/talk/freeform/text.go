package freeform

import (
	"strconv"
	"strings"

	"carillon/internal/base/provider"
)

// Text returns a message in readable form, for the thread, without the titles of its options.
func Text(m *provider.Message) string {
	var lines []string
	add := func(all ...string) {
		if s := strings.Join(notEmpty(all), ", "); s != "" {
			lines = append(lines, s)
		}
	}
	if h := m.Header; h != nil {
		add(h.Text, h.Image, h.Video, h.Document)
	}
	add(m.Text)
	switch m.Type {
	case provider.MessageLink:
		add(m.Link.Title + ": " + m.Link.URL)
	case provider.MessageLocation:
		at := m.Location
		add(at.Name, at.Address, coordinate(*at.Latitude)+" "+coordinate(*at.Longitude))
	case provider.MessageContacts:
		for i := range m.Contacts {
			c := &m.Contacts[i]
			add(append([]string{c.Name, c.Company, c.Title}, append(c.Numbers, c.Emails...)...)...)
		}
	case provider.MessageProduct:
		add("Product " + m.Product.ID)
	case provider.MessageProducts:
		for _, s := range m.Products.Sections {
			add(strings.TrimPrefix(s.Title+": ", ": ") + "Products " + strings.Join(s.Products, ", "))
		}
	case provider.MessageReaction:
		add(m.Reaction.Emoji)
		if m.Reaction.Emoji == "" {
			add("Reaction removed")
		}
	}
	if f := m.Media; f != nil {
		add(f.Caption)
		add(f.Filename)
		add(f.URL)
	}
	add(m.Footer)
	return strings.Join(lines, "\n")
}

// Titles returns the titles of the buttons and rows below a message.
func Titles(m *provider.Message) (titles []string) {
	for _, o := range m.Options() {
		titles = append(titles, o.Title)
	}
	if m.Flow != nil {
		titles = append(titles, m.Flow.Button)
	}
	return titles
}

func coordinate(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func notEmpty(all []string) (some []string) {
	for _, s := range all {
		if s != "" {
			some = append(some, s)
		}
	}
	return some
}
