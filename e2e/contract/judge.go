package contract

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Judge returns the differences between a response and the expected one, and stores the values that the step captures.
func (v *Vars) Judge(want *Response, status int, header http.Header, body []byte) []string {
	var faults []string
	if !slices.Contains(want.Status, status) {
		faults = append(faults, fmt.Sprintf("status: want %v, got %d", want.Status, status))
	}
	for name, raw := range want.Headers {
		faults = append(faults, v.header(name, raw, header)...)
	}
	for _, s := range want.Contains {
		if !strings.Contains(string(body), v.expand(s)) {
			faults = append(faults, fmt.Sprintf("body: want %q in it", s))
		}
	}
	for _, s := range want.Lacks {
		if strings.Contains(string(body), v.expand(s)) {
			faults = append(faults, fmt.Sprintf("body: want no %q in it", s))
		}
	}
	if want.Text != "" && !regexp.MustCompile(want.Text).Match(body) {
		faults = append(faults, fmt.Sprintf("body: want it to match %s", want.Text))
	}
	return append(faults, v.body(want, header, body)...)
}

func (v *Vars) header(name string, raw []byte, header http.Header) []string {
	want, err := Parse(raw)
	if err != nil {
		return []string{name + ": " + err.Error()}
	}
	if want == nil {
		return hold(header.Get(name) == "", name, "no such header", header.Get(name))
	}
	return v.match(name, want, header.Get(name))
}

func (v *Vars) body(want *Response, header http.Header, body []byte) []string {
	if want.Body == nil {
		return nil
	}
	if t := header.Get("Content-Type"); t != "application/json" && !strings.HasPrefix(t, "application/json;") {
		return []string{fmt.Sprintf("Content-Type: want application/json, got %q", t)}
	}
	matcher, err := Parse(want.Body)
	if err != nil {
		return []string{"matcher: " + err.Error()}
	}
	got, err := Parse(body)
	if err != nil {
		return []string{"body: " + err.Error()}
	}
	faults := v.Match(matcher, got)
	for name, path := range want.Capture {
		value, err := At(got, path)
		if err != nil {
			faults = append(faults, "capture: "+err.Error())
			continue
		}
		v.Set(name, fmt.Sprint(value))
	}
	return faults
}
