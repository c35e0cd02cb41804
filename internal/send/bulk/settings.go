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
	"carillon/internal/base/identity"
	"carillon/internal/base/sheet"
)

// Settings are the contents of a job, and the mapping of the file's columns to them.
type Settings struct {
	Version   int            `json:"version"` // incremented by every change
	Encoding  sheet.Encoding `json:"encoding"`
	Delimiter string         `json:"delimiter"`
	Columns   []Column       `json:"columns"`

	Number int              `json:"number"` // index of the phone number's column; -1 if unknown
	Fields map[string]int   `json:"fields"` // column indexes of contact fields, by field name
	Values map[string]Value `json:"values"` // values of the template's variables, by component key

	Template string `json:"template"` // name of the template
	Language string `json:"language"`
	Sender   string `json:"sender"` // id of the sender
	Campaign string `json:"campaign"`
	Type     string `json:"type" enum:",transactional,utility,marketing"`
	Event    string `json:"event,omitempty"`
	At       string `json:"datetime_sending,omitempty"` // local time in Timezone; empty means now
	Timezone string `json:"timezone,omitempty"`
}

// Column is a column of the file.
type Column struct {
	Name    string   `json:"name"`
	Key     string   `json:"key"`     // placeholder name of the column
	Samples []string `json:"samples"` // from the first rows
}

// Value is the value of a variable: a column, or a text for all rows, which may be a placeholder.
type Value struct {
	Column *int   `json:"column,omitempty"`
	Text   string `json:"text,omitempty"`
}

// Reasons why a row of the file is not sent.
const (
	NumberMissing   = "number_missing"
	NumberInvalid   = "number_invalid"
	NumberAmount    = "number_amount" // a spreadsheet treated it as an amount and may have changed its digits
	VariableMissing = "variable_missing"
	TextTooLong     = "text_too_long"
	MediaInvalid    = "media_invalid"
	AddressInvalid  = "address_invalid" // of a button's URL
	Duplicate       = "duplicate"
	Suppressed      = "suppressed"
	Refused         = "refused" // any other refusal of a request
)

// Result holds the counts of a check and of sending.
type Result struct {
	Rows     int            `json:"rows"`     // checked rows
	Good     int            `json:"good"`     // rows to send
	Faults   map[string]int `json:"faults"`   // rows by reason
	Cleaned  int            `json:"cleaned"`  // numbers from which spaces and signs were removed
	Accepted int            `json:"accepted"` // accepted rows
	Canceled int            `json:"canceled"` // canceled messages
	Left     int            `json:"left"`     // messages that could not be canceled because they were sent
	Undone   int            `json:"undone"`   // batches whose messages were canceled
}

// names are the names by which columns are recognized, without accents and punctuation.
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
	userID:       {"userid", "whatsappid", "bsuid"},
}

// contactFields are the fields of every contact, in the order in which columns are assigned to them.
//
//nolint:gochecknoglobals // a constant table
var contactFields = []string{"first_name", "last_name", "name", "email", userID}

// userID is the field of the channel's id of a person, which may stand in for a number.
const userID = "user_id"

// mapColumns assigns the columns to fields by their names.
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
		s.Number = slices.IndexFunc(s.Columns, func(c Column) bool { // recognized by its content
			return len(c.Samples) > 0 && !slices.ContainsFunc(c.Samples, func(v string) bool {
				_, _, fault := cleanNumber(v)
				return fault != "" && !identity.ValidUser(strings.TrimSpace(v))
			})
		})
	}
	s.nameColumns()
}

// nameColumns gives each column its placeholder name.
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

// mapValues assigns columns to the template's variables that have no value: first by name; then the remaining columns,
// in order, to the remaining variables of the body.
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
	var unassigned []string
	for _, key := range open {
		wanted := wantedNames(t.Shape, key)
		i := slices.IndexFunc(s.Columns, func(c Column) bool {
			return slices.Contains(wanted, bare(c.Name)) || slices.Contains(wanted, bare(c.Key))
		})
		if i < 0 || i == s.Number {
			if strings.HasPrefix(key, "body_text_") {
				unassigned = append(unassigned, key)
			}
			continue
		}
		values[key], taken[i] = Value{Column: &i}, true
	}
	for i := range s.Columns {
		if len(unassigned) > 0 && !taken[i] {
			values[unassigned[0]], unassigned = Value{Column: &i}, unassigned[1:]
		}
	}
	s.Values = values
}

// wantedNames returns the column names that identify a variable unambiguously.
func wantedNames(shape *carillon.Shape, key string) []string {
	wanted := []string{bare(key)}
	n, ok := strings.CutPrefix(key, "body_text_")
	if i, err := strconv.Atoi(n); ok && err == nil && i < len(shape.Markers) {
		marker := bare(shape.Markers[i])
		wanted = append(wanted, marker, "variable"+strconv.Itoa(i+1), "var"+strconv.Itoa(i+1), "body"+strconv.Itoa(i+1))
	}
	if n, ok := strings.CutPrefix(key, "button_url_"); ok {
		if i, err := strconv.Atoi(n); err == nil {
			wanted = append(wanted, "buttonlink"+strconv.Itoa(i+1))
		}
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

// used returns the columns whose cells become fields of a contact, by field name.
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

// components returns the components_push of a request.
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

// slug converts a text to a placeholder name.
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

// unique returns a name that no other column has.
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

// bare returns a text reduced to letters and digits, without accents.
func bare(text string) string { return strings.ReplaceAll(slug(text), "_", "") }

// plain replaces the accented letters of the panel's languages.
func plain(text string) string {
	return strings.NewReplacer(
		"á", "a", "à", "a", "â", "a", "ã", "a", "é", "e", "ê", "e", "í", "i", "ó", "o", "ô", "o", "õ", "o", "ú", "u", "ü", "u",
		"ç", "c", "ñ", "n",
		"Á", "a", "À", "a", "Â", "a", "Ã", "a", "É", "e", "Ê", "e", "Í", "i", "Ó", "o", "Ô", "o", "Õ", "o", "Ú", "u", "Ü", "u",
		"Ç", "c", "Ñ", "n",
	).Replace(text)
}

// read decodes stored JSON, which this program wrote.
func read[T any](text string) (v T, err error) {
	err = json.Unmarshal([]byte(text), &v)
	return v, err
}

func write(v any) string {
	text, _ := json.Marshal(v) // cannot fail for texts, numbers and lists of them
	return string(text)
}
