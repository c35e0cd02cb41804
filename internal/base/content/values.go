package content

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of the channel on values.
const (
	maxCode        = 15 // characters of a one-time code
	maxCoupon      = 20
	maxSections    = 10
	maxProducts    = 30
	maxCallMinutes = 43200
	maxCallPayload = 512
)

// checkValue checks a value by its place alone and returns the fault, or "".
func checkValue(p place, value string) string {
	switch p {
	case headerLatitude:
		return checkDegrees(value, 90)
	case headerLongitude:
		return checkDegrees(value, 180)
	case offerExpiration:
		if _, ok := parseInstant(value); !ok {
			return "Must be the end of the offer: an ISO 8601 instant with its zone, or milliseconds since 1970"
		}
	case buttonCoupon:
		if utf8.RuneCountInString(value) > maxCoupon {
			return fmt.Sprintf("A coupon code has at most %d characters", maxCoupon)
		}
	case buttonProducts:
		_, reason := ParseSections(value)
		return reason
	case buttonFlowData:
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(value), &members) != nil || members == nil {
			return `Must be a JSON object as a text, such as {"id":"7"}`
		}
	case buttonCallTTL:
		if n, err := strconv.Atoi(value); err != nil || n < 1 || n > maxCallMinutes {
			return fmt.Sprintf("Must be a number of minutes from 1 to %d", maxCallMinutes)
		}
	}
	return ""
}

func checkDegrees(value string, most float64) string {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(x) || math.Abs(x) > most || strings.ContainsAny(value, "xXpP_") {
		return fmt.Sprintf("Must be degrees from -%g to %g, such as 41.38", most, most)
	}
	return ""
}

// parseInstant reads an ISO 8601 instant or milliseconds since 1970.
func parseInstant(value string) (time.Time, bool) {
	if ms, err := strconv.ParseInt(value, 10, 64); err == nil {
		return time.UnixMilli(ms), ms > 0
	}
	at, err := time.Parse(time.RFC3339, value)
	return at, err == nil
}

// Section is a titled list of products of a message, by the products' retailer ids.
type Section struct {
	Title    string
	Products []string
}

// ParseSections reads sections of products, `Title: id, id; Title: id`. It returns a reason if the text has another form
// or exceeds the limits of the channel.
func ParseSections(text string) (all []Section, reason string) {
	const form = "Must be sections of products in the form `Title: id, id; Title: id`"
	products := 0
	for part := range strings.SplitSeq(text, ";") {
		title, ids, found := strings.Cut(part, ":")
		s := Section{Title: strings.TrimSpace(title)}
		for id := range strings.SplitSeq(ids, ",") {
			if id = strings.TrimSpace(id); id == "" {
				return nil, form
			}
			s.Products = append(s.Products, id)
		}
		if !found || s.Title == "" {
			return nil, form
		}
		products += len(s.Products)
		all = append(all, s)
	}
	if len(all) > maxSections || products > maxProducts {
		return nil, fmt.Sprintf("There are at most %d sections and %d products", maxSections, maxProducts)
	}
	return all, ""
}
