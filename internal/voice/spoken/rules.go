package spoken

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
)

// rules are the rules of a language. Each receives a match and its groups, and returns the spoken form, or "" to keep
// the text.
type rules struct {
	words
	tag, base string
}

func (r rules) email(m []string) string { return r.letters(m[2]) + " " + r.at + " " + r.letters(m[3]) }

func (r rules) host(m []string) string { return r.letters(m[2]) }

// letters replaces the marks of an address by words.
func (r rules) letters(address string) string {
	return strings.NewReplacer(".", " "+r.dot+" ", "-", " "+r.dash+" ", "_", " "+r.underscore+" ", "+", " "+r.plus+" ").Replace(address)
}

func (r rules) isoDate(m []string) string { return r.date(m[2], m[3], m[4]) }

// slashDate reads day, month, year, except in American English: month, day, year.
func (r rules) slashDate(m []string) string {
	if r.tag == "en" || r.tag == "en-us" {
		return r.date(m[4], m[2], m[3])
	}
	return r.date(m[4], m[3], m[2])
}

func (r rules) date(year, month, day string) string {
	y, m, d := number(year), number(month), number(day)
	if m < 1 || m > 12 || d < 1 || d > 31 {
		return ""
	}
	name := r.months[m-1]
	switch {
	case r.tag == "en" || r.tag == "en-us":
		return name + " " + strconv.Itoa(d) + ", " + strconv.Itoa(y)
	case r.base == "en":
		return strconv.Itoa(d) + " " + name + " " + strconv.Itoa(y)
	}
	return strconv.Itoa(d) + " de " + name + " de " + strconv.Itoa(y)
}

// clock returns the spoken form of a time of day.
func (r rules) clock(m []string) string {
	hour, minute := number(m[2]), number(m[3])
	said := strconv.Itoa(hour)
	half := strings.TrimFunc(m[4], func(r rune) bool { return !unicode.IsLetter(r) }) != "" // am or pm follows
	switch {
	case minute == 0 && (half || r.base == "es" && hour <= 12):
		return said
	case minute == 0 && r.base == "en" && hour >= 1 && hour <= 12:
		return said + " o'clock"
	case minute == 0 && r.base == "en":
		return said + " hundred"
	case minute == 0:
		return said + " horas"
	case minute < 10 && r.base == "en":
		return said + " oh " + strconv.Itoa(minute)
	}
	return strings.TrimSpace(said+" "+r.and) + " " + strconv.Itoa(minute)
}

func (r rules) moneyBefore(m []string) string { return r.money(m[2], m[3], m[4]) }

func (r rules) moneyAfter(m []string) string { return r.money(m[4], m[2], m[3]) }

// money returns the spoken form of an amount with its currency.
func (r rules) money(symbol, amount, scale string) string {
	code := cmp.Or(codes[symbol], symbol)
	if symbol == "$" {
		code = "USD"
		if pesos[r.tag] {
			code = "peso"
		}
	}
	name, ok := r.currencies[code]
	whole, cents, valid := split(amount)
	switch {
	case !ok || !valid:
		return ""
	case scale != "":
		of := ""
		if r.of != "" && scale != "mil" {
			of = r.of + " "
		}
		return strings.TrimSpace(amount) + " " + scale + " " + of + name.many
	}
	said := count(whole, name.one, name.many)
	switch {
	case cents == "":
		return said
	case whole == "0":
		return count(cents, name.cent, name.cents)
	}
	return said + " " + r.cents + " " + count(cents, name.cent, name.cents)
}

func count(n, one, many string) string {
	if n == "1" {
		return "1 " + one
	}
	return n + " " + many
}

// split parses an amount: 1.234,50 and 1,234.50 are 1234 and 50. cents is "" if there are none.
func split(amount string) (whole, cents string, ok bool) {
	amount = strings.Map(func(r rune) rune {
		if r == ' ' || r == '\u00a0' || r == '\'' {
			return -1
		}
		return r
	}, amount)
	whole = amount
	if at := strings.LastIndexAny(amount, ".,"); at >= 0 {
		switch after := amount[at+1:]; len(after) {
		case 3: // thousands
		case 1:
			whole, cents = amount[:at], after+"0"
		case 2:
			whole, cents = amount[:at], after
		default:
			return "", "", false
		}
	}
	whole = strings.NewReplacer(".", "", ",", "").Replace(whole)
	whole = cmp.Or(strings.TrimLeft(whole, "0"), "0")
	cents = strings.TrimLeft(cents, "0")
	return whole, cents, len(whole) <= 15
}

func (r rules) percent(m []string) string { return m[2] + " " + r.words.percent }

// telephone returns a number digit by digit, in its written groups.
func (r rules) telephone(m []string) string {
	var groups []string
	for group := range strings.FieldsFuncSeq(m[2], func(r rune) bool { return !unicode.IsDigit(r) }) {
		groups = append(groups, digits(group))
	}
	return r.plus + " " + strings.Join(groups, ", ")
}

// longNumber returns the digits of a number that is no amount, such as an order, telephone or account number.
func (r rules) longNumber(m []string) string {
	var groups []string
	for rest := m[2]; rest != ""; {
		n := min(3, len(rest))
		if len(rest) == 4 {
			n = 2
		}
		groups, rest = append(groups, digits(rest[:n])), rest[n:]
	}
	return strings.Join(groups, ", ")
}

// digits separates digits, so that they are spoken one by one.
func digits(s string) string { return strings.Join(strings.Split(s, ""), " ") }

func number(s string) int {
	n, _ := strconv.Atoi(s) // the patterns only match digits
	return n
}
