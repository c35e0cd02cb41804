package channels_test

import (
	"net/url"
	"testing"

	"carillon/internal/edge/panel/paneltest"
)

// typedNumbers maps numbers as people type them to their digits; "" if invalid.
func typedNumbers() map[string]string {
	return map[string]string{
		"+49 (0)30 1234567": "49301234567", "0034 600-111 222": "34600111222",
		"\u202d٣٤600111223\u202c": "34600111223", "0600111222": "0600111222",
		"+39 (0)6 1234567": "", "34600111222/3": "", "six hundred": "",
	}
}

func TestNumbersAreReadAsPeopleTypeThem(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	for typed, number := range typedNumbers() {
		if number == "" {
			w.Want("POST", "/panel/v1/suppressions", owner, `{"numbers":["`+typed+`"]}`, 400, "validation_failed", "numbers.0")
			w.Want("GET", "/panel/v1/notifications?number="+url.QueryEscape(typed), owner, "", 400, "validation_failed", "number")
			w.Want("GET", "/panel/v1/calls?number="+url.QueryEscape(typed), owner, "", 400, "validation_failed", "number")
			continue
		}
		w.Want("POST", "/panel/v1/suppressions", owner, `{"numbers":["`+typed+`"]}`, 200, "", "")
		if rows := w.Want("GET", "/panel/v1/suppressions?number="+number, owner, "", 200, "", "")["data"].([]any); len(rows) != 1 {
			t.Errorf("%q: %v", typed, rows)
		}
		w.Want("GET", "/panel/v1/notifications?number="+url.QueryEscape(typed), owner, "", 200, "", "")
		w.Want("GET", "/panel/v1/calls?number="+url.QueryEscape(typed), owner, "", 200, "", "")
	}
}

func TestAnAgentTransfersToANumberAsPeopleTypeIt(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	for typed, number := range typedNumbers() {
		body := `{"name":"A ` + number + `","persona":"You help.","transfer":{"number":"` + typed + `"}}`
		if number == "" {
			w.Want("POST", "/panel/v1/agents", owner, body, 400, "validation_failed", "transfer.number")
			continue
		}
		got := w.Want("POST", "/panel/v1/agents", owner, body, 201, "", "")
		if transfer, _ := got["transfer"].(map[string]any); transfer["number"] != number {
			t.Errorf("%q: %v", typed, got)
		}
	}
}
