package bulk

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/base/content"
)

// sampleNumbers are reserved for fiction, so that a sample that is sent as it is reaches nobody.
//
//nolint:gochecknoglobals // read only
var sampleNumbers = []string{"+1 202 555 0101", "+1 202 555 0102"}

// SampleFile returns a file for a template: the names of the columns, which are recognized when it is uploaded, and a
// row of sample values for each of two people.
func SampleFile(t *carillon.Template) [][]string {
	names := []string{"Phone"}
	values := []string{""}
	for _, key := range content.Keys(t.Shape) {
		name := columnName(t.Shape, key)
		if slices.Contains(names, name) {
			continue // a column serves all variables with its name
		}
		names = append(names, name)
		values = append(values, sampleOf(t, key))
	}
	rows := [][]string{names}
	for _, number := range sampleNumbers {
		row := slices.Clone(values)
		row[0] = number
		rows = append(rows, row)
	}
	return rows
}

// columnName returns the name of a variable's column in a sample file.
func columnName(shape *carillon.Shape, key string) string {
	numbered := func(name string) bool { return strings.Trim(name, "0123456789") == "" }
	if n, ok := strings.CutPrefix(key, "body_text_"); ok {
		i, _ := strconv.Atoi(n)
		if i < len(shape.Markers) && !numbered(shape.Markers[i]) {
			return shape.Markers[i]
		}
		return "Variable " + strconv.Itoa(i+1)
	}
	if n, ok := strings.CutPrefix(key, "button_url_"); ok {
		i, _ := strconv.Atoi(n)
		return "Button link " + strconv.Itoa(i+1)
	}
	if media, ok := strings.CutPrefix(key, "header_"); ok && !strings.HasPrefix(media, "text") {
		return strings.ToUpper(media[:1]) + media[1:] + " URL"
	}
	if !numbered(shape.HeaderVariable) {
		return shape.HeaderVariable
	}
	return "Header"
}

// sampleOf returns the sample value of a variable in a template.
func sampleOf(t *carillon.Template, key string) string {
	for i := range t.Components {
		if text := componentSample(&t.Components[i], t.Shape, key); text != "" {
			return text
		}
	}
	switch key {
	case "header_image":
		return "https://example.com/picture.jpg"
	case "header_video":
		return "https://example.com/video.mp4"
	case "header_document":
		return "https://example.com/document.pdf"
	}
	return "text"
}

func componentSample(c *carillon.Component, shape *carillon.Shape, key string) string {
	e := cmp.Or(c.Example, &carillon.ComponentExample{})
	if n, ok := strings.CutPrefix(key, "button_url_"); ok && c.Type == content.TypeButtons {
		i, err := strconv.Atoi(n)
		if err == nil && i < len(shape.Buttons) && shape.Buttons[i].Counted {
			return "https://example.com/page"
		}
		if err == nil && i < len(c.Buttons) && len(c.Buttons[i].Example) > 0 {
			before, _, _ := strings.Cut(c.Buttons[i].URL, "{{")
			return strings.TrimPrefix(c.Buttons[i].Example[0], before)
		}
	}
	if key == "header_text_0" && c.Type == content.TypeHeader {
		if len(e.HeaderText) > 0 {
			return e.HeaderText[0]
		}
		return namedSample(e.HeaderTextNamedParams, shape.HeaderVariable)
	}
	if n, ok := strings.CutPrefix(key, "body_text_"); ok && c.Type == content.TypeBody {
		i, _ := strconv.Atoi(n)
		if len(e.BodyText) > 0 && i < len(e.BodyText[0]) {
			return e.BodyText[0][i]
		}
		if i < len(shape.Markers) {
			return namedSample(e.BodyTextNamedParams, shape.Markers[i])
		}
	}
	return ""
}

func namedSample(all []carillon.NamedExample, name string) string {
	for _, x := range all {
		if x.ParamName == name {
			return x.Example
		}
	}
	return ""
}
