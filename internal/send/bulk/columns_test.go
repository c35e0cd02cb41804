package bulk

import (
	"fmt"
	"strings"
	"testing"

	"carillon"
	"carillon/internal/base/content"
)

func TestNumbersAreCleanedWhereThatIsCertain(t *testing.T) {
	for text, want := range map[string]string{
		"34600111222": "34600111222", "+34 600 11-12.22": "34600111222", "0034600111222": "34600111222", "(34) 600.111222": "34600111222",
		"'34600111222": "34600111222", "34600111222.0": "34600111222", "\u202a+34600111222\u202c": "34600111222",
		"": NumberMissing, " ": NumberMissing, "600": NumberInvalid, "0600111222": NumberInvalid,
		"3.46E+10": NumberAmount, "3,46E+10": NumberAmount, "34600111222.5": NumberAmount, "34600111222,25": NumberAmount,
		"34600111222,00": "34600111222", "346001112223.333": NumberAmount,
	} {
		number, cleaned, fault := cleanNumber(text)
		if number+fault != want || cleaned != (fault == "" && text != want) {
			t.Errorf("%q is %q %t %q", text, number, cleaned, fault)
		}
	}
}

func TestColumnsAreFoundByTheirNames(t *testing.T) {
	shape := &carillon.Shape{Markers: []string{"first_name", "order", "day"}, HeaderFormat: "IMAGE"}
	for _, c := range []struct {
		names  []string
		number int
		fields string
		values string
	}{
		{
			[]string{"Nombre", "Teléfono", "Order", "Fecha", "Image URL"},
			1, "map[first_name:0]",
			"body_text_0=0 body_text_1=2 body_text_2=3 header_image=4",
		},
		{
			[]string{"first_name", "WhatsApp", "day", "order", "image"},
			1, "map[first_name:0]",
			"body_text_0=0 body_text_1=3 body_text_2=2 header_image=4",
		},
		{[]string{"a", "b"}, -1, "map[]", "body_text_0=0 body_text_1=1 body_text_2= header_image="},
	} {
		var s Settings
		for _, name := range c.names {
			s.Columns = append(s.Columns, Column{Name: name})
		}
		s.mapColumns()
		s.mapValues(&carillon.Template{Shape: shape})
		var got []string
		for _, key := range []string{"body_text_0", "body_text_1", "body_text_2", "header_image"} {
			text := key + "="
			if v, ok := s.Values[key]; ok {
				text += fmt.Sprint(*v.Column)
			}
			got = append(got, text)
		}
		if s.Number != c.number || fmt.Sprint(s.Fields) != c.fields || strings.Join(got, " ") != c.values {
			t.Errorf("%v: %d, %v, %v", c.names, s.Number, s.Fields, got)
		}
	}
}

func TestAnIDMayStandInForANumber(t *testing.T) {
	const id = "US.13491208655302741918"
	s := Settings{Columns: []Column{{Name: "Phone"}, {Name: "User ID"}, {Name: "First name"}}}
	s.mapColumns()
	for cells, want := range map[string]string{
		"34600111222||Ana":           "34600111222 | map[first_name:Ana number:34600111222]",
		"34600111222|" + id + "|Ana": "34600111222 | map[first_name:Ana number:34600111222 user_id:" + id + "]",
		"34600111222|customer-7|Ana": "34600111222 | map[first_name:Ana number:34600111222 user_id:customer-7]",
		" |" + id + "|Ana":           id + " | map[first_name:Ana user_id:" + id + "]",
		id + "||Ana":                 id + " | map[first_name:Ana user_id:" + id + "]",
		"|customer-7|Ana":            " number_missing|",
		"|us.1|":                     " number_missing|",
		"US.a-b|" + id + "|Ana":      " number_invalid|",
	} {
		r := row{Line: 2, Cells: strings.Split(cells, "|")}
		address, _, fault := s.address(r)
		got := address + " " + fault + "|"
		if fault == "" {
			got += fmt.Sprint(" ", s.draft([]row{r}, false).Contacts[0])
		}
		if got != want {
			t.Errorf("%s: %s, not %s", cells, got, want)
		}
	}
	ids := Settings{Columns: []Column{{Name: "Name", Samples: []string{"Ana"}}, {Name: "Key", Samples: []string{id, "US.2"}}}}
	if ids.mapColumns(); ids.Number != 1 {
		t.Errorf("a column of ids is not found: %d", ids.Number)
	}
}

// A value to which a counted link cannot lead is shown as a wrong address of its column.
func TestAWrongDestinationIsAWrongAddress(t *testing.T) {
	column := 1
	s := Settings{Columns: []Column{{Name: "Phone"}, {Name: "Link"}}, Values: map[string]Value{"button_url_0": {Column: &column}}}
	const code = "A one-time code has at most 15 characters, this one 16"
	for reason, want := range map[string]string{
		code: Refused + " " + code,
		content.DestinationReason + ", for contacts.0":                       AddressInvalid + " Link",
		"The address must have no spaces and no backslashes":                 AddressInvalid + " Link",
		"The address has at most 2000 characters, this one 2001":             AddressInvalid + " Link",
		"The address must have no user name and no password, for contacts.0": AddressInvalid + " Link",
	} {
		f := s.faultOf(carillon.InvalidValue("components_push.button_url_0", reason, "x"))
		if got := f.Reason + " " + f.Detail; got != want {
			t.Errorf("%s: %s, not %s", reason, got, want)
		}
	}
}
