package bulk

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
)

func TestTheColumnsOfASampleAreRecognized(t *testing.T) {
	for name, x := range map[string]struct {
		components []carillon.Component
		want       [][]string
	}{
		"numbers": {
			[]carillon.Component{
				{
					Type: content.TypeHeader, Format: "TEXT", Text: "Booking {{1}}",
					Example: &carillon.ComponentExample{HeaderText: []string{"HT-1042"}},
				},
				{
					Type: content.TypeBody, Text: "Hello {{1}}, on {{2}}.",
					Example: &carillon.ComponentExample{BodyText: [][]string{{"Ana", "Monday"}}},
				},
				{Type: content.TypeButtons, Buttons: []carillon.Button{
					{Type: "URL", Text: "Open", URL: "https://x.test/{{1}}", Example: []string{"https://x.test/HT-7"}},
				}},
			},
			[][]string{{"Phone", "Header", "Variable 1", "Variable 2", "Button link 1"}, {"", "HT-1042", "Ana", "Monday", "HT-7"}},
		},
		"counted link": {
			[]carillon.Component{
				{Type: content.TypeBody, Text: "Hello."},
				{Type: content.TypeButtons, Buttons: []carillon.Button{
					{Type: "URL", Text: "Open", URL: "https://ops.test/l/{{1}}", Example: []string{"https://ops.test/l/sample"}},
				}},
			},
			[][]string{{"Phone", "Button link 1"}, {"", "https://example.com/page"}},
		},
		"names": {
			[]carillon.Component{
				{Type: content.TypeHeader, Format: "IMAGE"},
				{
					Type: content.TypeBody, Text: "Hello {{guest}}, on {{day}}.",
					Example: &carillon.ComponentExample{BodyTextNamedParams: []carillon.NamedExample{{ParamName: "guest", Example: "Ana"}}},
				},
			},
			[][]string{{"Phone", "Image URL", "guest", "day"}, {"", "https://example.com/picture.jpg", "Ana", "text"}},
		},
	} {
		tpl := &carillon.Template{Components: x.components}
		if err := content.Compile(tpl); err != nil {
			t.Fatal(name, err)
		}
		content.CountClicks(tpl.Shape, "https://ops.test/l/")
		rows := SampleFile(tpl)
		if len(rows) != 3 {
			t.Fatal(name, rows)
		}
		want := [][]string{x.want[0]}
		for _, number := range sampleNumbers {
			row := append([]string{number}, x.want[1][1:]...)
			want = append(want, row)
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Error(name, diff)
		}
		var s Settings
		for i, c := range rows[0] {
			s.Columns = append(s.Columns, Column{Name: c, Samples: []string{rows[1][i]}})
		}
		s.mapColumns()
		s.mapValues(tpl)
		if s.Number != 0 {
			t.Error(name, "has the numbers in column", s.Number)
		}
		for i, key := range content.Keys(tpl.Shape) {
			if v := s.Values[key]; v.Column == nil || *v.Column != i+1 {
				t.Errorf("%s: %s is mapped to %+v", name, key, v)
			}
		}
	}
}
