package person

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/store/people"
)

// Begin begins an export. Errors: not_found, those of share.Share.Take.
func (x *People) Begin(ctx context.Context, by share.Holder, q people.Query) (*Export, error) {
	place, err := x.places.Take(by)
	if err != nil {
		return nil, err
	}
	p, err := x.person(ctx, by.Company, q)
	if err != nil {
		place.Release()
		return nil, err
	}
	return &Export{x, p, place, time.Now()}, nil
}

// Export writes an archive of one person. It must be closed.
type Export struct {
	people *People
	person *people.Person
	place  *share.Place
	at     time.Time
}

// Close releases the export's place.
func (e *Export) Close() { e.place.Release() }

// WriteTo writes the archive: person.json with all rows by table, conversations.txt as readable text, and the files
// that were sent.
func (e *Export) WriteTo(ctx context.Context, w io.Writer) error {
	z := zip.NewWriter(w)
	if err := e.rows(ctx, z); err != nil {
		return err
	}
	if err := e.conversations(ctx, z); err != nil {
		return err
	}
	if err := e.files(ctx, z); err != nil {
		return err
	}
	return z.Close()
}

func (e *Export) create(z *zip.Writer, name string) (io.Writer, error) {
	return z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: e.at})
}

// rows writes person.json row by row.
func (e *Export) rows(ctx context.Context, z *zip.Writer) error {
	w, err := e.create(z, "person.json")
	if err != nil {
		return err
	}
	identities, err := json.Marshal(e.person.Keys)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "{\n\"identities\": %s", identities); err != nil {
		return err
	}
	last, separator := "", ""
	for _, place := range people.Places() {
		if place.Table == "search" || place.Table == "file_part" { // an index, and the files themselves
			continue
		}
		if place.Table != last {
			if last != "" {
				_, _ = io.WriteString(w, "]")
			}
			if _, err := fmt.Fprintf(w, ",\n%q: [", place.Table); err != nil {
				return err
			}
			separator = "\n  "
		}
		last = place.Table
		if err := place.Rows(ctx, e.people.store.DB, e.person, func(row map[string]any) error {
			text, err := json.Marshal(opened(row))
			if err != nil {
				return err
			}
			_, err = io.WriteString(w, separator+string(text))
			separator = ",\n  "
			return err
		}); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "]\n}\n")
	return err
}

// opened returns a row with its JSON columns decoded, except for text that the person wrote.
func opened(row map[string]any) map[string]any {
	for name, value := range row {
		if text, ok := value.(string); ok && name != "text" && strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
			row[name] = json.RawMessage(text)
		}
	}
	return row
}

// conversations writes the turns, one per line.
func (e *Export) conversations(ctx context.Context, z *zip.Writer) error {
	w, err := e.create(z, "conversations.txt")
	if err != nil {
		return err
	}
	last := ""
	for _, place := range people.Places() {
		if place.Table != "turn" {
			continue
		}
		if err := place.Rows(ctx, e.people.store.DB, e.person, func(row map[string]any) error {
			if note := row["note"]; note == true || note == int64(1) { // notes are internal to teammates
				return nil
			}
			if id := fmt.Sprint(row["conversation_id"]); id != last {
				last = id
				if _, err := fmt.Fprintf(w, "\n# %s\n", id); err != nil {
					return err
				}
			}
			_, err := fmt.Fprintf(w, "%v %v: %s\n", row["at"], row["author"], lineOf(row))
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// lineOf describes a turn: its text, its event, the name of its file.
func lineOf(row map[string]any) string {
	var extra struct {
		Event string
		File  *struct{ Name string }
	}
	_ = json.Unmarshal([]byte(fmt.Sprint(row["payload"])), &extra) // stays empty for a turn without one
	var parts []string
	if extra.Event != "" {
		parts = append(parts, "("+extra.Event+")")
	}
	if text := fmt.Sprint(row["text"]); text != "" {
		parts = append(parts, strings.ReplaceAll(text, "\n", "\n    "))
	}
	if extra.File != nil {
		parts = append(parts, "["+extra.File.Name+"]")
	}
	return strings.Join(parts, " ")
}

func (e *Export) files(ctx context.Context, z *zip.Writer) error {
	type file struct{ id, name string }
	var all []file
	for _, place := range people.Places() {
		if place.Table != "file" {
			continue
		}
		if err := place.Rows(ctx, e.people.store.DB, e.person, func(row map[string]any) error {
			all = append(all, file{fmt.Sprint(row["id"]), path.Base("/" + strings.ReplaceAll(fmt.Sprint(row["name"]), `\`, "/"))})
			return nil
		}); err != nil {
			return err
		}
	}
	for _, f := range all {
		w, err := e.create(z, "files/"+f.id+"-"+f.name)
		if err != nil {
			return err
		}
		for part := 0; ; part++ {
			bytes, err := e.people.store.Files.Part(ctx, f.id, part)
			if carillon.IsCode(err, carillon.NotFound) {
				break // after the last part
			}
			if err != nil {
				return err
			}
			if _, err := w.Write(bytes); err != nil {
				return err
			}
		}
	}
	return nil
}
