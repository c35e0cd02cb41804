package bulk

import (
	"errors"

	"carillon/internal/base/number"
)

// cleanNumber returns the phone number of a cell, and whether it was written otherwise; fault says why it is none.
func cleanNumber(cell string) (digits string, cleaned bool, fault string) {
	digits, err := number.Clean(cell)
	switch {
	case errors.Is(err, number.ErrMissing):
		return "", false, NumberMissing
	case errors.Is(err, number.ErrAmount):
		return "", false, NumberAmount
	case err != nil:
		return "", false, NumberInvalid
	}
	return digits, digits != cell, ""
}
