package freeform

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
)

// The channel's limits. Lengths are in characters.
const (
	maxText        = 4096 // of a text message, and above a list
	maxBody        = 1024 // of the text above buttons and the like
	maxCaption     = 1024
	maxFilename    = 240
	maxHeader      = 60
	maxFooter      = 60
	maxButtons     = 3
	maxLabel       = 20 // of a button
	maxButtonID    = 256
	maxSections    = 10
	maxSection     = 24 // title of a section
	maxRows        = 10 // of all sections
	maxRowID       = 200
	maxRow         = 24
	maxDescription = 72
	maxURL         = 2000
	maxProducts    = 30 // of all sections
	maxContacts    = 257
	maxID          = 200 // of a catalog, product or flow
	maxName        = 1000
	maxEmoji       = 64 // bytes
)

// checker keeps the first error.
type checker struct{ err error }

func (c *checker) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// text checks the length of a text.
func (c *checker) text(field, s string, least, most int) {
	switch n := utf8.RuneCountInString(s); {
	case n > most:
		c.fail(carillon.Invalid(field, fmt.Sprintf("At most %d characters, this one has %d", most, n)))
	case least > 0 && strings.TrimSpace(s) == "":
		c.fail(carillon.Missing(field))
	}
}

// count checks the number of entries.
func (c *checker) count(field string, n, most int) {
	switch {
	case n == 0:
		c.fail(carillon.Missing(field))
	case n > most:
		c.fail(carillon.Invalid(field, fmt.Sprintf("At most %d, these are %d", most, n)))
	}
}

func (c *checker) file(field, kind, address string) {
	switch reason := content.CheckMediaURL(kind, address); {
	case address == "":
		c.fail(carillon.Missing(field))
	case reason != "":
		c.fail(carillon.InvalidValue(field, reason, address))
	}
}

// check checks a message whose fields fit its type. The first error is returned.
func check(m *provider.Message) error {
	c := &checker{}
	c.body(m)
	c.text("footer", m.Footer, 0, maxFooter)
	if m.Header != nil {
		c.header(m)
	}
	switch m.Type {
	case provider.MessageImage, provider.MessageVideo, provider.MessageAudio, provider.MessageDocument, provider.MessageSticker:
		c.media(m)
	case provider.MessageButtons:
		c.buttons(m.Buttons)
	case provider.MessageList:
		c.list(m.List)
	case provider.MessageLink:
		c.link(m.Link)
	case provider.MessageLocation:
		c.location(m.Location)
	case provider.MessageContacts:
		c.contacts(m.Contacts)
	case provider.MessageProduct:
		c.text("product.catalog_id", m.Product.Catalog, 1, maxID)
		c.text("product.product_id", m.Product.ID, 1, maxID)
	case provider.MessageProducts:
		c.products(m.Products)
	case provider.MessageFlow:
		c.flow(m.Flow)
	case provider.MessageReaction:
		c.text("reaction.message_id", m.Reaction.MessageID, 1, maxID)
		if len(m.Reaction.Emoji) > maxEmoji || strings.ContainsAny(m.Reaction.Emoji, " \n\t") {
			c.fail(carillon.InvalidValue("reaction.emoji", "One emoji, or empty to remove the reaction", m.Reaction.Emoji))
		}
	}
	return c.err
}

// body checks the text.
func (c *checker) body(m *provider.Message) {
	least, most := 1, maxBody
	switch m.Type {
	case provider.MessageText, provider.MessageList:
		most = maxText
	}
	if membersOf[m.Type]["text"] != required {
		least = 0
	}
	c.text("text", m.Text, least, most)
}

// header checks the header: a text, or a file where the type takes one.
func (c *checker) header(m *provider.Message) {
	h := m.Header
	given := 0
	for _, s := range []string{h.Text, h.Image, h.Video, h.Document} {
		if s != "" {
			given++
		}
	}
	switch {
	case given != 1:
		c.fail(carillon.Invalid("header", "A header has one of text, image, video and document"))
	case h.Text != "":
		c.text("header.text", h.Text, 1, maxHeader)
	case m.Type == provider.MessageList || m.Type == provider.MessageProducts:
		c.fail(carillon.Invalid("header", "The header of a message of type "+m.Type+" is a text"))
	default:
		for kind, address := range map[string]string{"image": h.Image, "video": h.Video, "document": h.Document} {
			if address != "" {
				c.file("header."+kind, kind, address)
			}
		}
	}
}

func (c *checker) media(m *provider.Message) {
	f := m.Media
	c.file("media.url", m.Type, f.URL)
	switch {
	case f.Caption != "" && (m.Type == provider.MessageAudio || m.Type == provider.MessageSticker):
		c.fail(carillon.Invalid("media.caption", "A message of type "+m.Type+" has no caption"))
	case f.Filename != "" && m.Type != provider.MessageDocument:
		c.fail(carillon.Invalid("media.filename", "Only a document has a filename"))
	case f.Voice && m.Type != provider.MessageAudio:
		c.fail(carillon.Invalid("media.voice", "Only audio can be a voice message"))
	}
	c.text("media.caption", f.Caption, 0, maxCaption)
	c.text("media.filename", f.Filename, 0, maxFilename)
}

// option checks a button or row. seen holds the ids so far.
func (c *checker) option(field string, o provider.Option, maxID, maxTitle int, seen map[string]bool) {
	c.text(field+".id", o.ID, 1, maxID)
	c.text(field+".title", o.Title, 1, maxTitle)
	switch {
	case strings.HasPrefix(o.ID, provider.ChoicePrefix):
		c.fail(carillon.InvalidValue(field+".id", "IDs that begin with "+provider.ChoicePrefix+" are reserved", o.ID))
	case seen[o.ID]:
		c.fail(carillon.InvalidValue(field+".id", "Another entry has the same id", o.ID))
	}
	seen[o.ID] = true
}

func (c *checker) buttons(all []provider.Option) {
	c.count("buttons", len(all), maxButtons)
	seen, titles := map[string]bool{}, map[string]bool{}
	for i, o := range all {
		field := "buttons." + strconv.Itoa(i)
		c.option(field, o, maxButtonID, maxLabel, seen)
		switch {
		case o.Description != "":
			c.fail(carillon.Invalid(field+".description", "A button has no description"))
		case titles[o.Title]:
			c.fail(carillon.InvalidValue(field+".title", "Another button has the same title", o.Title))
		}
		titles[o.Title] = true
	}
}

func (c *checker) list(l *provider.OptionList) {
	c.text("list.button", l.Button, 1, maxLabel)
	c.count("list.sections", len(l.Sections), maxSections)
	seen, n := map[string]bool{}, 0
	for i, s := range l.Sections {
		field := "list.sections." + strconv.Itoa(i)
		c.text(field+".title", s.Title, min(len(l.Sections)-1, 1), maxSection)
		c.count(field+".rows", len(s.Rows), maxRows)
		for j, o := range s.Rows {
			row := field + ".rows." + strconv.Itoa(j)
			c.option(row, o, maxRowID, maxRow, seen)
			c.text(row+".description", o.Description, 0, maxDescription)
		}
		n += len(s.Rows)
	}
	if n > maxRows {
		c.count("list.sections", n, maxRows)
	}
}

func (c *checker) link(l *provider.MessageURL) {
	c.text("link.title", l.Title, 1, maxLabel)
	c.text("link.url", l.URL, 1, maxURL)
	if u, err := url.Parse(l.URL); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		c.fail(carillon.BadFormat("link.url", l.URL, "A complete http or https URL", "https://example.com/booking"))
	}
}

func (c *checker) location(at *provider.Location) {
	for _, x := range []struct {
		field string
		value *float64
		most  float64
	}{{"location.latitude", at.Latitude, 90}, {"location.longitude", at.Longitude, 180}} {
		switch {
		case x.value == nil:
			c.fail(carillon.Missing(x.field))
		case *x.value < -x.most || *x.value > x.most:
			c.fail(carillon.InvalidValue(x.field, fmt.Sprintf("From -%g to %g", x.most, x.most), *x.value))
		}
	}
	c.text("location.name", at.Name, 0, maxName)
	c.text("location.address", at.Address, 0, maxName)
}

func (c *checker) contacts(all []provider.Card) {
	c.count("contacts", len(all), maxContacts)
	for i := range all {
		x, field := &all[i], "contacts."+strconv.Itoa(i)
		c.text(field+".name", x.Name, 1, maxName)
		for name, values := range map[string][]string{
			"company": {x.Company}, "title": {x.Title}, "birthday": {x.Birthday}, "numbers": x.Numbers, "emails": x.Emails,
			"urls": x.URLs, "addresses": x.Addresses,
		} {
			for _, v := range values {
				c.text(field+"."+name, v, 0, maxName)
			}
		}
	}
}

func (c *checker) products(p *provider.ProductList) {
	c.text("products.catalog_id", p.Catalog, 1, maxID)
	c.count("products.sections", len(p.Sections), maxSections)
	n := 0
	for i, s := range p.Sections {
		field := "products.sections." + strconv.Itoa(i)
		c.text(field+".title", s.Title, min(len(p.Sections)-1, 1), maxSection)
		c.count(field+".product_ids", len(s.Products), maxProducts)
		for j, id := range s.Products {
			c.text(field+".product_ids."+strconv.Itoa(j), id, 1, maxID)
		}
		n += len(s.Products)
	}
	if n > maxProducts {
		c.count("products.sections", n, maxProducts)
	}
}

func (c *checker) flow(f *provider.MessageFlowForm) {
	switch {
	case f.ID == "" && f.Name == "":
		c.fail(carillon.Missing("flow.id"))
	case f.ID != "" && f.Name != "":
		c.fail(carillon.Invalid("flow.name", "A flow is named by id or by name"))
	case len(f.Data) > 0 && f.Screen == "":
		c.fail(carillon.Invalid("flow.data", "Data is for a screen: flow.screen names it"))
	}
	c.text("flow.id", f.ID, 0, maxID)
	c.text("flow.name", f.Name, 0, maxID)
	c.text("flow.screen", f.Screen, 0, maxID)
	c.text("flow.token", f.Token, 1, maxID)
	c.text("flow.button", f.Button, 1, maxLabel)
}
