package bulk

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/base/schedule"
	"carillon/internal/base/sheet"
	"carillon/internal/send/request"
)

// BatchRows is the number of rows per batch. A batch is one request.
const BatchRows = 100

// batches returns the number of batches for a number of rows.
func batches(rows int) int { return (rows + BatchRows - 1) / BatchRows }

// cells is the stored form of a row: the line number, then the cells.
type cells []string

// row is a row of the file.
type row = sheet.Row

func stored(r row) cells { return append(cells{strconv.Itoa(r.Line)}, r.Cells...) }

func rowsOf(text string) ([]row, error) {
	all, err := read[[]cells](text)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(all))
	for i, c := range all {
		line, err := strconv.Atoi(c[0])
		if err != nil {
			return nil, err
		}
		rows[i] = row{Line: line, Cells: c[1:]}
	}
	return rows, nil
}

// draft returns the request for the rows. It is scheduled at the job's time if scheduled is true.
func (s *Settings) draft(rows []row, scheduled bool) *request.Draft {
	used := s.used()
	contacts := make([]map[string]string, len(rows))
	for i, r := range rows {
		address, _, _ := s.address(r)
		number, id := identity.Split(address)
		c := map[string]string{"number": number}
		if id != "" {
			c = map[string]string{userID: id}
		}
		for key, column := range used {
			if text := r.Cells[column]; text != "" && (key != userID || id == "") {
				c[key] = text
			}
		}
		contacts[i] = c
	}
	d := &request.Draft{
		Channel: carillon.Messaging, Contacts: contacts, Sender: s.Sender, Template: s.Template, Language: s.Language,
		Type: s.Type, Campaign: s.Campaign, Components: s.components(), Event: s.Event,
	}
	if scheduled {
		d.At, d.Timezone = s.At, cmp.Or(s.Timezone, "UTC")
	}
	return d
}

// due returns the time at which the messages are due. The zero time means immediately.
func (s *Settings) due() (time.Time, error) {
	if s.At == "" {
		return time.Time{}, nil
	}
	return schedule.Parse(s.At, cmp.Or(s.Timezone, "UTC"))
}

// fits checks a request for rows that all have a number. Errors: those of request.New and CheckAgainst.
func (s *Settings) fits(t *carillon.Template, rows []row) (*request.Request, error) {
	req, err := request.New(s.draft(rows, false), time.Time{})
	if err != nil {
		return nil, err
	}
	return req, req.CheckAgainst(t)
}

// fault is a row of a batch that is not sent.
type fault struct {
	I      int    `json:"i"` // index in the batch
	Reason string `json:"r"`
	Detail string `json:"d,omitempty"`
}

// unfit returns the rows of a batch that a request would refuse, each with the reason. Rows that already have a fault
// are skipped. The rows are first checked together, and one by one only if that fails.
func (s *Settings) unfit(t *carillon.Template, rows []row, known map[int]fault) []fault {
	var left []row
	var index []int
	for i, r := range rows {
		if _, bad := known[i]; !bad {
			left, index = append(left, r), append(index, i)
		}
	}
	if len(left) == 0 {
		return nil
	}
	if _, err := s.fits(t, left); err == nil {
		return nil
	}
	var all []fault
	for i, r := range left {
		if _, err := s.fits(t, []row{r}); err != nil {
			f := s.faultOf(err)
			f.I = index[i]
			all = append(all, f)
		}
	}
	return all
}

// faultOf translates the refusal of a request for one row into terms of the file.
func (s *Settings) faultOf(err error) fault {
	const addressField = content.ComponentsKey + ".button_url_"
	e, ok := errors.AsType[*carillon.Error](err)
	if !ok {
		return fault{Reason: Refused, Detail: "The row could not be checked"}
	}
	field, _ := e.Details.Find("field").(string)
	reason, _ := e.Details.Find("reason").(string)
	reason = strings.TrimSuffix(reason, ", for contacts.0")
	if missing, _ := e.Details.Find("missing").([]string); e.Code == carillon.VariableMismatch && len(missing) > 0 {
		return fault{Reason: VariableMissing, Detail: s.columnNames(missing)}
	}
	unexpected, _ := e.Details.Find("unexpected").([]string)
	switch {
	case e.Code == carillon.VariableMismatch && slices.ContainsFunc(unexpected, func(key string) bool {
		return strings.HasPrefix(key, "button_url")
	}):
		return fault{Reason: AddressInvalid, Detail: s.columnNames(unexpected)}
	case strings.Contains(field, "header_image"), strings.Contains(field, "header_video"), strings.Contains(field, "header_document"):
		return fault{Reason: MediaInvalid, Detail: reason}
	case strings.HasPrefix(field, addressField) && (reason == content.DestinationReason || strings.HasPrefix(reason, "The address ")):
		return fault{Reason: AddressInvalid, Detail: s.columnNames([]string{strings.TrimPrefix(field, content.ComponentsKey+".")})}
	case reason == content.LinesReason:
		return fault{Reason: Refused, Detail: reason}
	case strings.Contains(field, "header_text"), strings.Contains(field, "body_text"), strings.HasPrefix(field, "contact"):
		return fault{Reason: TextTooLong, Detail: reason}
	}
	if reason == "" {
		reason = e.Message
	}
	return fault{Reason: Refused, Detail: reason}
}

// columnNames returns the file's column names for placeholders and components.
func (s *Settings) columnNames(keys []string) string {
	all := make([]string, len(keys))
	for i, key := range keys {
		all[i] = key
		if v, ok := s.Values[key]; ok && v.Column != nil {
			key = s.Columns[*v.Column].Key
		}
		for _, c := range s.Columns {
			if c.Key == key {
				all[i] = c.Name
			}
		}
	}
	return strings.Join(all, ", ")
}

// check returns an error if a job's settings are incomplete. Errors: validation_failed for the first faulty field.
func (s *Settings) check(t *carillon.Template, keys []string) error {
	if s.Number < 0 || s.Number >= len(s.Columns) {
		return carillon.Missing("number")
	}
	if s.Campaign == "" {
		return carillon.Missing("campaign")
	}
	if _, ok := carillon.ParseClass(s.Type); !ok {
		return carillon.Missing("type")
	}
	if s.Sender == "" {
		return carillon.Missing("sender")
	}
	for _, key := range keys {
		if v, ok := s.Values[key]; !ok || v.Column == nil && strings.TrimSpace(v.Text) == "" {
			return carillon.Missing("values." + key)
		}
	}
	sample := row{Cells: make([]string, len(s.Columns))}
	for i := range sample.Cells {
		sample.Cells[i] = "x"
	}
	sample.Cells[s.Number] = "34600111222"
	// Faults that affect every row are found here. Faults of single rows are found when their batch is checked.
	_, err := request.New(s.draft([]row{sample}, false), time.Time{})
	if e, ok := errors.AsType[*carillon.Error](err); ok {
		field, _ := e.Details.Find("field").(string)
		if key, component := strings.CutPrefix(field, "components_push."); component {
			reason, _ := e.Details.Find("reason").(string)
			return carillon.Invalid("values."+key, reason)
		}
		return e
	}
	if err == nil && t == nil {
		err = fmt.Errorf("job without a template: %s", s.Template)
	}
	return err
}
