package people

import (
	"bytes"
	"encoding/json"
	"slices"

	"carillon"
)

// Has reports whether a message of a notification is addressed to the person.
func (p *Person) Has(seq carillon.Seq, n int) bool {
	return slices.Contains(p.Messages, int64(seq.Message(n)))
}

// WithoutContacts replaces the numbers of some contacts of a request by a number that nobody has.
func WithoutContacts(body string, gone func(i int) bool) (string, error) {
	if body == "" {
		return "", nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &fields); err != nil {
		return "", err
	}
	var contacts []json.RawMessage
	if err := json.Unmarshal(fields["contacts"], &contacts); err != nil {
		return "", err
	}
	for i := range contacts {
		if gone(i) {
			contacts[i] = json.RawMessage(`{"number":"` + carillon.ErasedNumber + `"}`)
		}
	}
	var err error
	if fields["contacts"], err = json.Marshal(contacts); err != nil {
		return "", err
	}
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	err = w.Encode(fields)
	return b.String(), err
}
