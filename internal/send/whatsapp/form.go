package whatsapp

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"carillon/internal/base/provider"
)

// form is the reply to a form of the channel.
type form struct {
	Body     loose      `json:"body"`
	Response fieldsJSON `json:"response_json"`
}

// fieldsJSON is the JSON of a form's fields. The channel sends it as a string, but a JSON value is accepted too.
type fieldsJSON string

// UnmarshalJSON accepts both forms.
func (f *fieldsJSON) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = string(b)
	}
	*f = fieldsJSON(s)
	return nil
}

const (
	maxAnswers    = 100
	maxAnswer     = 1000 // bytes
	maxAnswerName = 100  // bytes
	maxFormDepth  = 4
)

// read returns the answers of a form and their text, one question per line. Without answers the text is the channel's.
// If the answers cannot be parsed, the text contains them unparsed.
func (f *form) read() ([]provider.Answer, string) {
	var r fields
	response := strings.TrimSpace(string(f.Response))
	d := json.NewDecoder(strings.NewReader(response))
	d.UseNumber()
	switch t, err := d.Token(); {
	case response == "" || response == "null":
		return nil, string(f.Body)
	case err != nil || t != json.Delim('{') || r.object(d, "", maxFormDepth) != nil:
		return nil, strings.Join(notEmpty(string(f.Body), short(response, maxAnswer)), "\n")
	case len(r) == 0:
		return nil, string(f.Body)
	}
	var lines []string
	for i, a := range r {
		if i == maxAnswers {
			lines = append(lines, "…")
			break
		}
		lines = append(lines, a.Question+": "+a.Answer)
	}
	return r[:min(len(r), maxAnswers)], strings.Join(lines, "\n")
}

// fields are the answers of a form, in its order.
type fields []provider.Answer

// object reads the members of an object after its opening brace. Members of nested objects are named by their path.
func (f *fields) object(d *json.Decoder, path string, depth int) error {
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if err := f.member(d, path+name.(string), depth); err != nil { //nolint:forcetypeassert // a key of an object
			return err
		}
	}
	_, err := d.Token()
	return err
}

func (f *fields) member(d *json.Decoder, name string, depth int) error {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return err
	}
	if raw[0] == '{' && depth > 1 {
		in := json.NewDecoder(bytes.NewReader(raw))
		in.UseNumber()
		if _, err := in.Token(); err != nil {
			return err
		}
		return f.object(in, name+".", depth-1)
	}
	answer := answerOf(raw)
	// The flow token belongs to the company and is not an answer.
	if answer == "" || name == "flow_token" || len(*f) > maxAnswers {
		return nil
	}
	*f = append(*f, provider.Answer{Name: short(name, maxAnswerName), Question: question(name), Answer: answer})
	return nil
}

// answerOf returns a value in readable form; for a list, its entries.
func answerOf(raw json.RawMessage) string {
	var list []json.RawMessage
	if raw[0] == '[' && json.Unmarshal(raw, &list) == nil {
		var all []string
		for _, x := range list {
			all = append(all, answerOf(x))
		}
		return short(strings.Join(notEmpty(all...), ", "), maxAnswer)
	}
	var s string
	switch {
	case json.Unmarshal(raw, &s) == nil:
		return short(s, maxAnswer)
	case string(raw) == "null":
		return ""
	}
	return short(string(raw), maxAnswer)
}

// screened matches the names that the channel's form editor generates, such as screen_0_Full_name_1.
var screened = regexp.MustCompile(`^screen_\d+_(.+)_\d+$`)

// question returns the name of a field in readable form.
func question(name string) string {
	if m := screened.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	return short(strings.NewReplacer("_", " ", ".", " ").Replace(name), maxAnswerName)
}
