// Package spoken converts texts to their spoken form: money, dates, times, percentages, e-mail addresses and telephone
// numbers, by the rules of English, Spanish and Portuguese. Texts in other languages are left to the speaker. The
// package is pure and does not handle sound.
package spoken

import (
	"regexp"
	"strings"
)

// Text returns the spoken form of a text in a language (BCP 47).
func Text(text, language string) string {
	tag := strings.ToLower(language)
	base, _, _ := strings.Cut(tag, "-")
	w, ok := languages[base]
	if !ok {
		return text
	}
	r := rules{words: w, tag: tag, base: base}
	for _, rule := range []struct {
		pattern *regexp.Regexp
		say     func(m []string) string // the match and its groups; "" keeps the text
	}{
		{email, r.email},
		{host, r.host},
		{isoDate, r.isoDate},
		{slashDate, r.slashDate},
		{clock, r.clock},
		{moneyBefore, r.moneyBefore},
		{moneyAfter, r.moneyAfter},
		{percent, r.percent},
		{telephone, r.telephone},
		{longNumber, r.longNumber},
	} {
		text = replace(text, rule.pattern, rule.say)
	}
	return text
}

const (
	amounts = `(\d[\d.,' \x{a0}]*\d|\d)`
	scales  = `(?:\s(million|billion|thousand|mil|millón|millones|milhão|milhões)\b)?`
)

// The first group of some patterns must precede the match, and the last must follow it: both are kept.
var (
	email = regexp.MustCompile(`()\b([A-Za-z0-9][A-Za-z0-9._+-]*)@((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})()`)
	host  = regexp.MustCompile(`(^|[\s("'])((?:[a-z0-9-]+\.)+(?:com|org|net|info|app|dev|edu|gov|test|io|` +
		`co|es|mx|br|ar|cl|pe|uk|us|eu|de|fr|pt)(?:\.[a-z]{2})?)($|[\s.,;:!?)"'])`)
	isoDate     = regexp.MustCompile(`(^|[^\w.,/-])(\d{4})-(\d\d)-(\d\d)($|[^\w/-])`)
	slashDate   = regexp.MustCompile(`(^|[^\w.,/-])(\d{1,2})/(\d{1,2})/(\d{4})($|[^\w/-])`)
	clock       = regexp.MustCompile(`(^|[^\w.,:/-])([01]?\d|2[0-3]):([0-5]\d)(\s?[aApP]\.?[mM]\b|$|[^\w:])`)
	moneyBefore = regexp.MustCompile(`(^|[^\w])(US\$|R\$|S/|\$|€|£|USD|EUR|GBP|BRL|MXN|COP|ARS|CLP|PEN)\s?` + amounts + scales + `()`)
	moneyAfter  = regexp.MustCompile(`(^|[^\w.,])` + amounts + scales + `\s?(US\$|R\$|\$|€|£|USD|EUR|GBP|BRL|MXN|COP|ARS|CLP|PEN)($|[^\w])`)
	percent     = regexp.MustCompile(`(^|[^\w.,])(\d+(?:[.,]\d+)?)\s?%($|[^\w])`)
	telephone   = regexp.MustCompile(`(^|[^\w+])(\+\d[\d ().-]{5,20}\d)($|[^\w])`)
	longNumber  = regexp.MustCompile(`(^|[^\w.,-])(\d{7,20})($|[^\w])`)
)

// replace replaces all matches. The text after one match may be the text before the next.
func replace(text string, pattern *regexp.Regexp, say func(m []string) string) string {
	var b strings.Builder
	for {
		m := pattern.FindStringSubmatchIndex(text)
		if m == nil {
			b.WriteString(text)
			return b.String()
		}
		groups := make([]string, len(m)/2)
		for i := range groups {
			if m[2*i] >= 0 {
				groups[i] = text[m[2*i]:m[2*i+1]]
			}
		}
		begin, end := m[3], m[len(m)-2] // after the first group, before the last
		b.WriteString(text[:begin])
		if said := say(groups); said != "" {
			b.WriteString(said)
		} else {
			b.WriteString(text[begin:end])
		}
		text = text[end:]
	}
}
