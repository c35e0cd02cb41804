// Package form reads input from the panel's pages: bodies, queries and ids in paths. Its errors name the field.
package form

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/config"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/number"
	"carillon/internal/base/resource"
	"carillon/internal/edge/httpio"
	"carillon/internal/talk/conversation"
)

// Limits of texts, in characters.
const (
	MaxName         = 100
	MaxEmail        = 254 // RFC 5321, section 4.5.3.1.3
	MaxCampaign     = 255
	MaxTemplateName = 512
	MaxClientID     = 64
	MaxWritten      = 4096 // limit of a message on the channel
)

const (
	// MaxVariables limits the variables of a template.
	MaxVariables = 40

	maxStates = 20 // states in a list's filter
)

// Body reads a body and rejects fields that T, the struct that describes it, does not have.
func Body[T any](r *http.Request) (*jsonbody.Object, error) {
	var known []string
	for f := range reflect.TypeFor[T]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known = append(known, name)
	}
	return Object(r, known...)
}

// Object reads a body and rejects unknown fields, so that a misspelled field is not treated as absent.
func Object(r *http.Request, known ...string) (*jsonbody.Object, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return nil, err
	}
	for _, key := range o.Keys() {
		if !slices.Contains(known, key) {
			return nil, carillon.Invalid("body", "Takes only the fields "+strings.Join(known, ", "))
		}
	}
	return o, nil
}

// Text reads a required single-line string of at most limit characters.
func Text(o *jsonbody.Object, field string, limit int) (string, error) {
	s, _, err := o.String(field, field)
	if err != nil {
		return "", err
	}
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return "", carillon.Missing(field)
	case utf8.RuneCountInString(s) > limit:
		return "", carillon.Invalid(field, "At most "+strconv.Itoa(limit)+" characters")
	case strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "", carillon.Invalid(field, "Must be one line")
	}
	return s, nil
}

// Lines reads a required string of at most limit characters, which may have several lines.
func Lines(o *jsonbody.Object, field string, limit int) (string, error) {
	s, _, err := o.String(field, field)
	if err != nil {
		return "", err
	}
	s = conversation.Clean(s)
	switch {
	case s == "":
		return "", carillon.Missing(field)
	case utf8.RuneCountInString(s) > limit:
		return "", carillon.Invalid(field, "At most "+strconv.Itoa(limit)+" characters")
	}
	return s, nil
}

// Optional reads a string that may be absent (nil) or empty.
func Optional(o *jsonbody.Object, field string, read func() (string, error)) (*string, error) {
	s, given, err := o.String(field, field)
	if err == nil && given && strings.TrimSpace(s) != "" {
		s, err = read()
	}
	if err != nil || !given {
		return nil, err
	}
	s = strings.TrimSpace(s)
	return &s, nil
}

// Email reads an e-mail address without a display name.
func Email(o *jsonbody.Object) (string, error) {
	s, err := Text(o, "email", MaxEmail)
	if err != nil {
		return "", err
	}
	if !config.ValidEmail(s) {
		return "", carillon.BadFormat("email", s, "E-mail address", "ana@example.org")
	}
	return config.FoldEmail(s), nil
}

// Language reads an optional language; usual is the default.
func Language(o *jsonbody.Object, usual string) (string, error) {
	const field = "language"
	language, present, err := o.String(field, field)
	switch {
	case err != nil:
		return "", err
	case !present || language == "":
		return usual, nil
	case !resource.ValidLanguage(language):
		return "", carillon.Invalid(field, "Must be a language such as es or pt-BR")
	}
	return language, nil
}

// Number parses a telephone number typed by a person.
func Number(field, text string) (string, error) {
	found := number.Find(text)
	if found == "" {
		return "", carillon.InvalidValue(field, "Must be a telephone number with its country code", carillon.Shorten(text))
	}
	return found, nil
}

// ID returns the id in the path, in lower case. Errors: not_found for an invalid id.
func ID(r *http.Request, what string) (string, error) {
	id := strings.ToLower(r.PathValue("id"))
	if !carillon.ValidUUID(id) {
		return "", carillon.Absent(what)
	}
	return id, nil
}

// SameID checks that the body's id, if any, is the one in the path.
func SameID(o *jsonbody.Object, id string) error {
	given, present, err := o.String("id", "id")
	if err == nil && present && !strings.EqualFold(given, id) {
		err = carillon.Invalid("id", "Must be the id of the path, or be left out")
	}
	return err
}

// Known lists the allowed values of a field, for errors.
func Known[S ~string](all []S) string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

// Query reads a string of the query, of at most limit characters.
func Query(q url.Values, name string, limit int) (string, error) {
	s := strings.TrimSpace(q.Get(name))
	switch {
	case !utf8.ValidString(s), strings.ContainsRune(s, 0):
		return "", carillon.Invalid(name, "Must be text")
	case utf8.RuneCountInString(s) > limit:
		return "", carillon.Invalid(name, "At most "+strconv.Itoa(limit)+" characters")
	}
	return s, nil
}

// QueryTime reads a timestamp of the query; otherwise is the default.
func QueryTime(q url.Values, name string, otherwise time.Time) (time.Time, error) {
	text := q.Get(name)
	if text == "" {
		return otherwise, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, carillon.BadFormat(name, carillon.Shorten(text), "RFC 3339 date-time", "2030-01-31T09:00:00Z")
	}
	return at.UTC(), nil
}

// maxHours is the retention of counts.
const maxHours = 400 * 24 * time.Hour

// QueryHours reads a range of whole hours, from and to. The range before the end of the present hour is the default.
func QueryHours(q url.Values, usual time.Duration, now time.Time) (from, to time.Time, err error) {
	if to, err = QueryTime(q, "to", now.Add(time.Hour)); err != nil {
		return from, to, err
	}
	if from, err = QueryTime(q, "from", now.Add(time.Hour-usual)); err != nil {
		return from, to, err
	}
	from, to = from.Truncate(time.Hour), to.Truncate(time.Hour)
	switch {
	case !from.Before(to):
		err = carillon.InvalidValue("from", "Must be at least an hour before to", q.Get("from"))
	case to.Sub(from) > maxHours:
		err = carillon.InvalidValue("from", "At most 400 days before to", q.Get("from"))
	}
	return from, to, err
}

// QueryClass reads the filter by type; nil if there is none.
func QueryClass(q url.Values) (*carillon.Class, error) {
	text := q.Get("type")
	if text == "" {
		return nil, nil
	}
	class, ok := carillon.ParseClass(text)
	if !ok {
		return nil, carillon.InvalidValue("type", "One of transactional, utility, marketing", carillon.Shorten(text))
	}
	return &class, nil
}

// QueryStates reads the filter by state. what names the listed items, for errors.
func QueryStates(q url.Values, known []carillon.State, what string) (states []carillon.State, err error) {
	text := q.Get("state")
	if text == "" {
		return nil, nil
	}
	for s := range strings.SplitSeq(text, ",") {
		if !slices.Contains(known, carillon.State(s)) || len(states) == maxStates {
			return nil, carillon.InvalidValue("state", "States of "+what+", with commas between them", carillon.Shorten(s))
		}
		states = append(states, carillon.State(s))
	}
	return states, nil
}

// CallStates returns the states of calls.
func CallStates() []carillon.State {
	return []carillon.State{
		carillon.StateScheduled, carillon.StateQueued, carillon.StateDialing, carillon.StateRinging, carillon.StateInProgress,
		carillon.StateCompleted, carillon.StateBusy, carillon.StateNoAnswer, carillon.StateRejected, carillon.StateVoicemail,
		carillon.StateFailed, carillon.StateCanceled, carillon.StateSkipped,
	}
}
