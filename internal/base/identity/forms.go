package identity

// rule describes the two forms of certain numbers. A number is dialed as it was given: a digit is added or dropped
// only for matching.
type rule struct {
	dialed, other string // d: a digit; other letters: one of the digits in sets; the rest is literal
}

// rules are the countries whose numbers WhatsApp reports in two forms. No other pairs are guessed, because a wrong
// guess would merge two people.
var rules = []rule{ //nolint:gochecknoglobals // read only
	{"52nddddddddd", "521nddddddddd"}, // Mexico: the 1 of mobile numbers, not dialed since 2019
	{"54addddddddd", "549addddddddd"}, // Argentina: the 9 of mobile numbers
	{"55zz9mddddddd", "55zzmddddddd"}, // Brazil: the ninth digit of mobile numbers; landlines have eight, from 2 to 5 on
}

// sets are the digits that a letter in a rule stands for.
var sets = map[byte]string{ //nolint:gochecknoglobals // read only
	'd': "0123456789", 'n': "23456789", 'a': "123", 'z': "123456789", 'm': "6789",
}

// forms returns the two forms of a number, the dialed one first, or "" if the number has only one form.
func forms(number string) (dialed, other string) {
	for _, r := range rules {
		if rest, ok := match(r.dialed, number); ok {
			return number, fill(r.other, rest)
		}
		if rest, ok := match(r.other, number); ok {
			return fill(r.dialed, rest), number
		}
	}
	return "", ""
}

// match returns the digits that the letters of a form stand for. It returns false if the number does not have the
// form.
func match(form, number string) (rest string, ok bool) {
	if len(form) != len(number) {
		return "", false
	}
	letters := make([]byte, 0, len(form))
	for i := range len(form) {
		set, letter := sets[form[i]]
		switch {
		case !letter && form[i] != number[i], letter && !contains(set, number[i]):
			return "", false
		case letter:
			letters = append(letters, number[i])
		}
	}
	return string(letters), true
}

func contains(set string, digit byte) bool {
	for i := range len(set) {
		if set[i] == digit {
			return true
		}
	}
	return false
}

// fill replaces the letters of a form by digits.
func fill(form, rest string) string {
	number := []byte(form)
	for i := range number {
		if _, letter := sets[number[i]]; letter {
			number[i], rest = rest[0], rest[1:]
		}
	}
	return string(number)
}
