package identity

// A rule says which two forms the numbers of some lines have. What is dialled stays as it was given: adding or dropping a digit is for
// matching alone.
type rule struct {
	dialled, other string // d: a digit; a letter: one of the digits of that set; the rest as it is
}

// rules are the countries whose numbers WhatsApp reports in two forms. Other pairs are not known, and none is guessed: two people would be
// taken for one.
var rules = []rule{ //nolint:gochecknoglobals // read only
	{"52nddddddddd", "521nddddddddd"}, // Mexico: the 1 of mobile numbers, which is not dialled since 2019
	{"54addddddddd", "549addddddddd"}, // Argentina: the 9 of mobile numbers
	{"55zz9mddddddd", "55zzmddddddd"}, // Brazil: the ninth digit of mobile numbers; eight digits from 2 to 5 on are of landlines
}

// sets are the digits that a letter of a rule stands for.
var sets = map[byte]string{ //nolint:gochecknoglobals // read only
	'd': "0123456789", 'n': "23456789", 'a': "123", 'z': "123456789", 'm': "6789",
}

// forms are the two forms of a line's number, the dialled one first; "" where it has one form.
func forms(number string) (dialled, other string) {
	for _, r := range rules {
		if rest, ok := match(r.dialled, number); ok {
			return number, fill(r.other, rest)
		}
		if rest, ok := match(r.other, number); ok {
			return fill(r.dialled, rest), number
		}
	}
	return "", ""
}

// match returns the digits for which the letters of a form stand; false where a number is not of the form.
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

// fill puts digits in the place of a form's letters.
func fill(form, rest string) string {
	number := []byte(form)
	for i := range number {
		if _, letter := sets[number[i]]; letter {
			number[i], rest = rest[0], rest[1:]
		}
	}
	return string(number)
}
