package carillon

// ValidNumber reports whether s is a phone number: 7 to 15 ASCII digits and nothing else.
func ValidNumber(s string) bool {
	if len(s) < 7 || len(s) > 15 {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// ErasedNumber replaces the number of an erased recipient in stored notifications. It belongs to nobody.
const ErasedNumber = "0000000"
