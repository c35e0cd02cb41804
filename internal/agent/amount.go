package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"carillon/internal/agent/knowledge"
	"carillon/internal/base/language"
)

// amount is a number in a message. word means that it is written out.
type amount struct {
	value float64
	word  bool
}

var (
	digitsForm = regexp.MustCompile(`[-+]?\d+(?:[.,']\d{3})*(?:[.,]\d+)?`)
	thousands  = regexp.MustCompile(`^[-+]?\d{1,3}(?:([.,'])\d{3})+(?:[.,]\d+)?$`)
)

// numberWords are the numbers that people write out, folded like the result of knowledge.Words. "One" is missing in
// every language, because it is also an article or a pronoun.
//
//nolint:gochecknoglobals // read-only
var numberWords = map[string]float64{
	"zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
	"twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
	"twenty": 20,
	"cero":   0, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9, "diez": 10, "once": 11,
	"doce": 12, "trece": 13, "catorce": 14, "quince": 15, "dieciseis": 16, "diecisiete": 17, "dieciocho": 18, "diecinueve": 19,
	"veinte": 20,
	"dois":   2, "duas": 2, "quatro": 4, "sete": 7, "oito": 8, "nove": 9, "dez": 10, "onze": 11, "doze": 12, "treze": 13, "quatorze": 14,
	"dezesseis": 16, "dezessete": 17, "dezoito": 18, "dezenove": 19, "vinte": 20,
}

// alone are the words for one, which count only as the whole answer.
var alone = []string{"one", "uno", "una", "um", "uma"} //nolint:gochecknoglobals // read-only

// numbersIn returns the numbers of a message in order, digits before words.
func numbersIn(message, tag string) (all []amount) {
	for _, at := range digitsForm.FindAllStringIndex(message, maxFound) {
		if joined(message[:at[0]], message[at[1]:]) {
			continue
		}
		if n, ok := decimal(message[at[0]:at[1]], tag); ok {
			all = append(all, amount{n, false})
		}
	}
	words := knowledge.Words(message)
	if len(words) == 1 && slices.Contains(alone, words[0]) {
		return append(all, amount{1, true})
	}
	for _, word := range words {
		if n, ok := numberWords[word]; ok {
			all = append(all, amount{n, true})
		}
	}
	return all
}

// joined reports whether digits are part of a larger whole: an order number, a time, a date.
func joined(before, after string) bool {
	left, _ := utf8.DecodeLastRuneInString(before)
	right, _ := utf8.DecodeRuneInString(after)
	const joints = "-/:#_"
	if tail := strings.TrimLeft(after, ".,"); tail != after && tail != "" && unicode.IsDigit(rune(tail[0])) {
		return true // 1.2.3
	}
	if head := strings.TrimRight(before, ".,"); head != before && head != "" && unicode.IsDigit(rune(head[len(head)-1])) {
		return true
	}
	return inWord(left) || inWord(right) || strings.ContainsRune(joints, left) || strings.ContainsRune(joints, right)
}

// decimal reads a number with the separators of a language: 1,234.5 in English, 1.234,5 in the others. A single
// separator that is not followed by exactly three digits is the decimal one in every language.
func decimal(text, tag string) (float64, bool) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "+")
	point := ","
	if language.Base(tag) == "en" || tag == "" {
		point = "."
	}
	if m := thousands.FindStringSubmatch(text); m != nil && (m[1] != point || strings.Count(text, m[1]) > 1) {
		text = strings.ReplaceAll(text, m[1], "")
	}
	if strings.Count(text, ".")+strings.Count(text, ",") > 1 {
		return 0, false
	}
	text = strings.NewReplacer(",", ".").Replace(text)
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// date is a date in a message.
type date struct{ text, found string } // as 2026-06-05, and as written

//nolint:gochecknoglobals // read-only
var (
	months = []string{
		"jan|january|ene|enero|janeiro", "feb|february|febrero|fev|fevereiro", "mar|march|marzo|marco", "apr|april|abr|abril",
		"may|mayo|mai|maio", "jun|june|junio|junho", "jul|july|julio|julho", "aug|august|ago|agosto",
		"sep|sept|september|septiembre|setiembre|set|setembro",
		"oct|october|octubre|out|outubro", "nov|november|noviembre|novembro", "dec|december|dic|diciembre|dez|dezembro",
	}
	weekdays = []string{
		"sunday|domingo", "monday|lunes|segunda|segunda feira", "tuesday|martes|terca|terca feira",
		"wednesday|miercoles|quarta|quarta feira",
		"thursday|jueves|quinta|quinta feira", "friday|viernes|sexta|sexta feira", "saturday|sabado",
	}
	relative = []struct {
		phrase string
		days   int
	}{
		{"day after tomorrow", 2},
		{"pasado manana", 2},
		{"depois de amanha", 2},
		{"tomorrow", 1},
		{"manana", 1},
		{"amanha", 1},
		{"today", 0},
		{"hoy", 0},
		{"hoje", 0},
	}
	monthNames = map[string][]string{
		"en": {
			"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
		},
		"es": {
			"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
		},
		"pt": {
			"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro",
		},
	}
	isoDate   = regexp.MustCompile(`\b(\d{4})-(\d{1,2})-(\d{1,2})\b`)
	shortDate = regexp.MustCompile(`\b(\d{1,2})[/.-](\d{1,2})(?:[/.-](\d{4}|\d{2}))?\b`)
	dayMonth  = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th|º)?(?: of| de)? (\pL{3,10})\.?(?:(?:,| of| de| del)? (\d{4})\b)?`)
	monthDay  = regexp.MustCompile(`(?i)(\pL{3,10})\.? (\d{1,2})(?:st|nd|rd|th)?\b(?:,? (\d{4})\b)?`)
)

// datesIn returns the dates of a message. A date without a year is the next one. A date such as 5/6/2026 is read as
// its language writes it, but not in English, where it has two meanings.
func datesIn(message, tag string, now time.Time) (all []date) {
	add := func(year, month, day int, found string) bool {
		if year < 100 {
			year += 2000
		}
		d := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
		if d.Day() != day || int(d.Month()) != month {
			return false
		}
		all = append(all, date{d.Format(dateForm), found})
		return true
	}
	if m := isoDate.FindStringSubmatch(message); m != nil {
		add(whole(m[1]), whole(m[2]), whole(m[3]), m[0])
		return all
	}
	if m := shortDate.FindStringSubmatch(message); m != nil {
		a, b := whole(m[1]), whole(m[2])
		switch {
		case language.Base(tag) != "en" || a > 12 || a == b:
		case b > 12:
			a, b = b, a
		case tag == "en-US":
			a, b = b, a
		default:
			if tag == "en" || tag == "" {
				return nil
			}
		}
		if m[3] != "" || !strings.ContainsAny(m[0], ".") { // 2.50 is a price
			add(yearOf(m[3], b, a, now), b, a, m[0])
		}
		return all
	}
	folded := strings.Join(knowledge.Words(message), " ")
	for _, m := range dayMonth.FindAllStringSubmatch(message, maxFound) {
		if month := monthOf(m[2]); month > 0 && add(yearOf(m[3], month, whole(m[1]), now), month, whole(m[1]), m[0]) {
			return all
		}
	}
	for _, m := range monthDay.FindAllStringSubmatch(message, maxFound) {
		if month := monthOf(m[1]); month > 0 && add(yearOf(m[3], month, whole(m[2]), now), month, whole(m[2]), m[0]) {
			return all
		}
	}
	spaced := " " + folded + " "
	for _, x := range relative {
		if strings.Contains(spaced, " "+x.phrase+" ") {
			return []date{{now.AddDate(0, 0, x.days).Format(dateForm), ""}}
		}
	}
	for i, names := range weekdays {
		for name := range strings.SplitSeq(names, "|") {
			if strings.Contains(spaced, " "+name+" ") {
				days := (i - int(now.Weekday()) + 7) % 7
				if days == 0 {
					days = 7
				}
				return []date{{now.AddDate(0, 0, days).Format(dateForm), ""}}
			}
		}
	}
	return nil
}

func whole(text string) int {
	n, _ := strconv.Atoi(text) // digits, or nothing
	return n
}

// monthOf returns the number of a month's name, 0 if it is none.
func monthOf(word string) int {
	folded := strings.Join(knowledge.Words(word), " ")
	for i, names := range months {
		if slices.Contains(strings.Split(names, "|"), folded) {
			return i + 1
		}
	}
	return 0
}

// yearOf returns the year of a date: the given one, or that of the next such day.
func yearOf(given string, month, day int, now time.Time) int {
	if given != "" {
		return whole(given)
	}
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	if time.Date(now.Year(), time.Month(month), day, 0, 0, 0, 0, time.UTC).Before(today) {
		return now.Year() + 1
	}
	return now.Year()
}

// dateText writes a date in words.
func dateText(day time.Time, tag string) string {
	base := language.Base(tag)
	names := language.Of(monthNames, tag)
	if base == "es" || base == "pt" {
		return fmt.Sprintf("%d de %s de %d", day.Day(), names[day.Month()-1], day.Year())
	}
	return fmt.Sprintf("%d %s %d", day.Day(), names[day.Month()-1], day.Year())
}
