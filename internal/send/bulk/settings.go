package bulk

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/sheet"
)

// Settings are what a job sends, and how.
type Settings struct {
	Version   int            `json:"version"` // rises with every change
	Encoding  sheet.Encoding `json:"encoding"`
	Delimiter string         `json:"delimiter"`
	Columns   []Column       `json:"columns"`

	Number int              `json:"number"` // the column with the phone number; -1: none
	Fields map[string]int   `json:"fields"` // columns of the contact's fields, by their names
	Values map[string]Value `json:"values"` // of the template's variables, by component key

	Template string `json:"template"` // its name
	Language string `json:"language"`
	Sender   string `json:"sender"` // its id
	Campaign string `json:"campaign"`
	Type     string `json:"type"`
	Event    string `json:"event,omitempty"`
	At       string `json:"datetime_sending,omitempty"` // local in Timezone; "": now
	Timezone string `json:"timezone,omitempty"`
}

// Column is a column of the file.
type Column struct {
	Name    string   `json:"name"`
	Key     string   `json:"key"`     // its name as a placeholder
	Samples []string `json:"samples"` // of the first rows
}

// Value is where the value of a variable comes from: a column, or a text that is the same for everybody and may be a placeholder.
type Value struct {
	Column *int   `json:"column,omitempty"`
	Text   string `json:"text,omitempty"`
}

// Reason says why a row of the file is not sent.
const (
	NumberMissing   = "number_missing"
	NumberInvalid   = "number_invalid"
	NumberAmount    = "number_amount" // a spreadsheet took it for an amount and may have changed its digits
	VariableMissing = "variable_missing"
	TextTooLong     = "text_too_long"
	MediaInvalid    = "media_invalid"
	AddressInvalid  = "address_invalid" // of a button
	Duplicate       = "duplicate"
	Suppressed      = "suppressed"
	Refused         = "refused" // anything else that a request is refused for
)

// Result is what the check found, and what has become of the rows.
type Result struct {
	Rows     int            `json:"rows"`     // that were checked
	Good     int            `json:"good"`     // that are to be sent
	Faults   map[string]int `json:"faults"`   // rows by reason
	Cleaned  int            `json:"cleaned"`  // numbers that were written with spaces and signs
	Accepted int            `json:"accepted"` // rows that were accepted
	Canceled int            `json:"canceled"` // messages
	Left     int            `json:"left"`     // messages that could not be canceled, for they were sent
	Undone   int            `json:"undone"`   // batches whose messages were canceled
}

// names are the words by which columns are found, without their accents and signs.
//
//nolint:gochecknoglobals // a constant table
var names = map[string][]string{
	"number": {
		"number", "phone", "phonenumber", "mobile", "mobilenumber", "cell", "cellphone", "whatsapp", "msisdn", "tel", "telephone",
		"telefono", "numero",
		"numerodetelefono", "movil", "celular", "telefone", "numerodetelefone", "telemovel", "to", "recipient",
	},
	"first_name": {"firstname", "first", "givenname", "nombre", "primernombre", "nome", "primeironome"},
	"last_name":  {"lastname", "last", "surname", "familyname", "apellido", "apellidos", "sobrenome", "apelido"},
	"name":       {"name", "fullname", "nombrecompleto", "nomecompleto", "contact", "contacto", "contato"},
	"email":      {"email", "mail", "correo", "correoelectronico"},
}

// contactFields are the fields that every contact has, in the order in which columns are found for them.
//
//nolint:gochecknoglobals // a constant table
var contactFields = []string{"first_name", "last_name", "name", "email"}

// mapColumns finds what the columns are by their names.
func (s *Settings) mapColumns() {
	s.Number, s.Fields, s.Values = -1, map[string]int{}, map[string]Value{}
	for i, c := range s.Columns {
		plain := bare(c.Name)
		if s.Number < 0 && slices.Contains(names["number"], plain) {
			s.Number = i
			continue
		}
		for _, field := range contactFields {
			if _, found := s.Fields[field]; !found && slices.Contains(names[field], plain) {
				s.Fields[field] = i
				break
			}
		}
	}
	if s.Number < 0 {
		s.Number = slices.IndexFunc(s.Columns, func(c Column) bool { // by what stands in it
			return len(c.Samples) > 0 && !slices.ContainsFunc(c.Samples, func(v string) bool {
				_, _, fault := cleanNumber(v)
				return fault != ""
			})
		})
	}
	s.nameColumns()
}

// nameColumns gives each column its name as a placeholder.
func (s *Settings) nameColumns() {
	used := map[string]bool{"number": true}
	for _, field := range contactFields {
		used[field] = true
	}
	for i := range s.Columns {
		s.Columns[i].Key = unique(slug(s.Columns[i].Name), i, used)
	}
	for field, i := range s.Fields {
		s.Columns[i].Key = field
	}
}

// mapValues finds the columns of a template's variables, of those that have no value: by name, and texts that are left in order.
func (s *Settings) mapValues(t *carillon.Template) {
	values := map[string]Value{}
	var open []string
	taken := map[int]bool{s.Number: true}
	for _, key := range content.Keys(t.Shape) {
		if v, ok := s.Values[key]; ok {
			values[key] = v
			if v.Column != nil {
				taken[*v.Column] = true
			}
			continue
		}
		open = append(open, key)
	}
	var still []string
	for _, key := range open {
		wanted := wantedNames(t.Shape, key)
		i := slices.IndexFunc(s.Columns, func(c Column) bool {
			return slices.Contains(wanted, bare(c.Name)) || slices.Contains(wanted, bare(c.Key))
		})
		if i < 0 || i == s.Number {
			if strings.HasPrefix(key, "body_text_") {
				still = append(still, key)
			}
			continue
		}
		values[key], taken[i] = Value{Column: &i}, true
	}
	for i := range s.Columns {
		if len(still) > 0 && !taken[i] {
			values[still[0]], still = Value{Column: &i}, still[1:]
		}
	}
	s.Values = values
}

// wantedNames are the names of columns that hold a variable for certain.
func wantedNames(shape *carillon.Shape, key string) []string {
	wanted := []string{bare(key)}
	n, ok := strings.CutPrefix(key, "body_text_")
	if i, err := strconv.Atoi(n); ok && err == nil && i < len(shape.Markers) {
		marker := bare(shape.Markers[i])
		wanted = append(wanted, marker, "variable"+strconv.Itoa(i+1), "var"+strconv.Itoa(i+1), "body"+strconv.Itoa(i+1))
	}
	if key == "header_text_0" {
		wanted = append(wanted, bare(shape.HeaderVariable), "header")
	}
	for _, media := range []string{"image", "video", "document"} {
		if key == "header_"+media {
			wanted = append(wanted, media, media+"url", "url", "media", "link")
		}
	}
	return wanted
}

// used are the columns whose cells a contact gets, by their names there.
func (s *Settings) used() map[string]int {
	used := map[string]int{}
	maps.Copy(used, s.Fields)
	for _, v := range s.Values {
		if v.Column != nil {
			used[s.Columns[*v.Column].Key] = *v.Column
			continue
		}
		if name, ok := placeholder(v.Text); ok {
			if i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Key == name }); i >= 0 {
				used[name] = i
			}
		}
	}
	return used
}

// components is what components_push has.
func (s *Settings) components() map[string]string {
	all := make(map[string]string, len(s.Values))
	for key, v := range s.Values {
		if all[key] = v.Text; v.Column != nil {
			all[key] = "{{" + s.Columns[*v.Column].Key + "}}"
		}
	}
	return all
}

func placeholder(text string) (name string, ok bool) {
	inner, begins := strings.CutPrefix(strings.TrimSpace(text), "{{")
	inner, ends := strings.CutSuffix(inner, "}}")
	return strings.TrimSpace(inner), begins && ends
}

// slug is a text as a placeholder's name.
func slug(text string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(plain(text)) {
		switch {
		case c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)):
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.Trim(b.String(), "_")
}

// unique is a name that no other column has.
func unique(name string, i int, used map[string]bool) string {
	if name == "" || used[name] {
		name = "column_" + strconv.Itoa(i+1)
	}
	for used[name] {
		name += "_" + strconv.Itoa(i+1)
	}
	used[name] = true
	return name
}

// bare is a text with nothing but its letters and digits, without accents.
func bare(text string) string { return strings.ReplaceAll(slug(text), "_", "") }

// plain replaces the letters with accents of the panel's languages.
func plain(text string) string {
	return strings.NewReplacer(
		"á", "a", "à", "a", "â", "a", "ã", "a", "é", "e", "ê", "e", "í", "i", "ó", "o", "ô", "o", "õ", "o", "ú", "u", "ü", "u",
		"ç", "c", "ñ", "n",
		"Á", "a", "À", "a", "Â", "a", "Ã", "a", "É", "e", "Ê", "e", "Í", "i", "Ó", "o", "Ô", "o", "Õ", "o", "Ú", "u", "Ü", "u",
		"Ç", "c", "Ñ", "n",
	).Replace(text)
}

// read reads what is stored as JSON. What cannot be read was never written.
func read[T any](text string) (v T, err error) {
	err = json.Unmarshal([]byte(text), &v)
	return v, err
}

func write(v any) string {
	text, _ := json.Marshal(v) // texts, numbers and lists of them
	return string(text)
}
