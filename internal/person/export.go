package person

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"carillon"
	"carillon/internal/share"
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
	return &Export{x, p, place}, nil
}

// Export is an archive of one person on its way. Close it.
type Export struct {
	people *People
	person *people.Person
	place  *share.Place
}

// Close gives the export's place back.
func (e *Export) Close() { e.place.Release() }

// WriteTo writes the archive: person.json with all rows by table, conversations.txt to be read, and the files that were sent.
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

// rows writes person.json, a row at a time.
func (e *Export) rows(ctx context.Context, z *zip.Writer) error {
	w, err := z.Create("person.json")
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
	for _, place := range people.Places() {
		if place.Table == "search" || place.Table == "file_part" { // an index, and the files themselves
			continue
		}
		first := true
		if _, err := fmt.Fprintf(w, ",\n%q: [", place.Table); err != nil {
			return err
		}
		if err := place.Rows(ctx, e.people.store.DB, e.person, func(row map[string]any) error {
			text, err := json.Marshal(row)
			if err != nil {
				return err
			}
			separator := ",\n  "
			if first {
				separator, first = "\n  ", false
			}
			_, err = io.WriteString(w, separator+string(text))
			return err
		}); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "]"); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "\n}\n")
	return err
}

// conversations writes what was said, a line a turn.
func (e *Export) conversations(ctx context.Context, z *zip.Writer) error {
	w, err := z.Create("conversations.txt")
	if err != nil {
		return err
	}
	last := ""
	for _, place := range people.Places() {
		if place.Table != "turn" {
			continue
		}
		if err := place.Rows(ctx, e.people.store.DB, e.person, func(row map[string]any) error {
			if note := row["note"]; note == true || note == int64(1) { // of teammates for each other
				return nil
			}
			if id := fmt.Sprint(row["conversation_id"]); id != last {
				last = id
				if _, err := fmt.Fprintf(w, "\n# %s\n", id); err != nil {
					return err
				}
			}
			text := strings.ReplaceAll(fmt.Sprint(row["text"]), "\n", "\n    ")
			_, err := fmt.Fprintf(w, "%v %v: %s\n", row["at"], row["author"], text)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
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
		w, err := z.Create("files/" + f.id + "-" + f.name)
		if err != nil {
			return err
		}
		for part := 0; ; part++ {
			bytes, err := e.people.store.Files().Part(ctx, f.id, part)
			if carillon.IsCode(err, carillon.NotFound) {
				break // after the last
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
