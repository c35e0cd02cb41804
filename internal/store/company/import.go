package company

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
	"carillon/internal/store/tuple"
)

// ImportOptions are the options of an import.
type ImportOptions struct {
	From   string // the file
	Key    string // the file with its key
	Report func(Progress)
}

// arrival is an import in progress.
type arrival struct {
	*Mover

	o       ImportOptions
	key     fileKey
	file    contents
	tables  map[string]*table
	missing []*memberAccount // members without an account here
	ids     mapping
	wanted  Manifest // content of the tables after the ids of accounts were replaced
	pg      *pgx.Conn
	rows    int64
	renewed time.Time

	described string // SHA-256 of the header and the accounts
}

// contents are the parts of a file besides its rows.
type contents struct {
	header   Header
	accounts []*memberAccount
	manifest Manifest
}

// Import reads a file of Export into this installation. The company is not in use until Resume. The import is whole or not at
// all: after an error, its rows are removed again; an interrupted one starts over.
func (m *Mover) Import(ctx context.Context, o ImportOptions) (done Done, err error) {
	if o.Report == nil {
		o.Report = func(Progress) {}
	}
	a := &arrival{Mover: m, o: o, wanted: Manifest{Tables: map[string]Content{}}}
	if a.key, err = readKey(o.Key); err != nil {
		return done, err
	}
	if err := a.inspect(ctx); err != nil {
		return done, err
	}
	if a.missing, a.ids, err = accountsHere(ctx, m.store.DB, a.file.accounts); err != nil {
		return done, err
	}
	if err := a.begin(ctx); err != nil {
		return done, err
	}
	if err = a.fill(ctx); err != nil {
		err = explained(err)
		ctx := context.WithoutCancel(ctx)
		return done, errors.Join(err, db.Wrap(m.erase(ctx, a.id(), Arriving, o.Report), "remove what was imported"))
	}
	return Done{Header: a.file.header, Manifest: a.file.manifest, Rows: a.file.manifest.Rows()}, nil
}

func (a *arrival) id() string { return a.file.header.CompanyID }

// explained adds the usual reason to an error.
func explained(err error) error {
	if db.Duplicate(err) {
		return fmt.Errorf("this installation has a row that the file also has; nothing was imported: %w", err)
	}
	return err
}

// inspect reads the whole file and checks that this program can import it, and the key.
func (a *arrival) inspect(ctx context.Context) error {
	if err := a.check(ctx); err != nil {
		return fmt.Errorf("check the file: %w", err)
	}
	h := a.file.header
	if _, err := a.key.open(checkRow(h.CompanyID), h.Check); err != nil {
		return err
	}
	if a.described != a.file.manifest.Described {
		return errChanged
	}
	return a.file.manifest.unchanged(h.CompanyID, a.key)
}

func (a *arrival) check(ctx context.Context) error {
	all, err := tablesOf(ctx, a.store.DB)
	if err != nil {
		return err
	}
	a.tables = map[string]*table{}
	for _, t := range exportedOf(all) {
		a.tables[t.Name] = t
	}
	sums := sums{}
	err = a.read(ctx, Checking, func(t *table, data []byte) error {
		own := t.companyColumn()
		return tuple.Each(data, len(t.cols), func(row []byte, fields [][]byte) error {
			if own >= 0 && string(fields[own]) != a.id() {
				return fmt.Errorf("%w: table %s has a row of another company", errChanged, t.Name)
			}
			sums.add(t, row)
			return nil
		})
	})
	if err != nil {
		return err
	}
	m := &a.file.manifest
	if !maps.Equal(sums.contents(), m.Tables) || len(a.file.accounts) != m.Accounts || m.Tables["company"].Rows != 1 {
		return errDamaged
	}
	return nil
}

// companyColumn returns the index of the column that has the company's id; -1 if the table has none.
func (t *table) companyColumn() int {
	switch t.Found {
	case ByCompany:
		return t.index("company_id")
	case ByID:
		return t.index("id")
	case ByParent, InDocuments, OfMembers, Installation:
	}
	return -1
}

// sums are the sums of tables.
type sums map[string]*summed

func (s sums) add(t *table, row []byte) {
	if s[t.Name] == nil {
		s[t.Name] = &summed{}
	}
	s[t.Name].add(row)
}

func (s sums) contents() map[string]Content {
	all := map[string]Content{}
	for name, x := range s {
		all[name] = x.content()
	}
	return all
}

// read reads the file and calls rows with the tuples of the tables.
func (a *arrival) read(ctx context.Context, phase Phase, rows func(t *table, data []byte) error) (err error) {
	r, err := open(a.o.From)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	var of *table
	var first, last byte
	described, frames := sha256.New(), map[byte]int{}
	defer func() { a.described = hex.EncodeToString(described.Sum(nil)) }()
	p := Progress{Phase: phase, Total: a.file.manifest.Rows()}
	for ctx.Err() == nil {
		kind, content, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if last == frameManifest || first == 0 && kind != frameHeader {
			return errDamaged
		}
		if kind == frameHeader || kind == frameAccounts {
			_, _ = described.Write(content) // a hash returns no error
			if frames[kind]++; frames[kind] > 1 {
				return errDamaged
			}
		}
		if first, last = frameHeader, kind; kind == frameRows {
			if of == nil || !whole(content, len(of.cols)) {
				return errDamaged
			}
			if err := rows(of, content); err != nil {
				return err
			}
			p.Rows += a.rows
			p.Detail, a.rows = of.Name, 0
			a.o.Report(p)
			continue
		}
		if of, err = a.part(kind, content, of); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if last != frameManifest {
		return errDamaged
	}
	return nil
}

// part reads a frame that has no rows, and returns the table of the following rows.
func (a *arrival) part(kind byte, content []byte, of *table) (*table, error) {
	switch kind {
	case frameHeader:
		if err := readJSON(content, &a.file.header); err != nil {
			return nil, err
		}
		return of, a.file.header.readable()
	case frameAccounts:
		a.file.accounts = nil
		return of, readJSON(content, &a.file.accounts)
	case frameManifest:
		a.file.manifest = Manifest{}
		return of, readJSON(content, &a.file.manifest)
	case frameTable:
		var d describedTable
		if err := readJSON(content, &d); err != nil {
			return nil, err
		}
		t := a.tables[d.Name]
		if t == nil || !reflect.DeepEqual(t.described(), d) {
			return nil, fmt.Errorf("table %s of the file is different here", d.Name)
		}
		return t, nil
	}
	return nil, errDamaged
}

// readable returns an error unless this program can import a file.
func (h *Header) readable() error {
	newest, err := db.NewestSchema(store.Migrations())
	switch {
	case err != nil:
		return err
	case h.Format > format || h.Schema > newest:
		return fmt.Errorf("the file was written by a newer version (%s, schema %d): this one has schema %d; update this installation first",
			h.Program, h.Schema, newest)
	case h.Schema < newest:
		return fmt.Errorf("the file was written by an older version (%s, schema %d): this one has schema %d; "+
			"update the other installation and export again", h.Program, h.Schema, newest)
	case h.CompanyID == "":
		return errDamaged
	}
	return nil
}

// whole reports whether data is a sequence of tuples with a number of columns.
func whole(data []byte, columns int) bool {
	for len(data) > 0 {
		if len(data) < 2 || int(data[0])<<8|int(data[1]) != columns {
			return false
		}
		data = data[2:]
		for range columns {
			if len(data) < 4 {
				return false
			}
			n := int32(uint32(data[0])<<24 | uint32(data[1])<<16 | uint32(data[2])<<8 | uint32(data[3]))
			if data = data[4:]; int(n) > len(data) || n < -1 {
				return false
			}
			data = data[max(0, n):]
		}
	}
	return true
}

// begin removes the remains of an interrupted import.
func (a *arrival) begin(ctx context.Context) error {
	r, err := find(ctx, a.store.DB, a.id())
	switch {
	case errors.Is(err, errUnknown):
		return nil
	case err != nil:
		return err
	case r.state != Arriving:
		return fmt.Errorf("this installation has the company already, in state %s", stateName(r.state))
	}
	return a.erase(ctx, a.id(), Arriving, a.o.Report)
}

func stateName(s Move) Move {
	if s == "" {
		return active
	}
	return s
}

// fill imports the rows and compares them with the file.
func (a *arrival) fill(ctx context.Context) (err error) {
	if !a.store.DB.SQLite() {
		if a.pg, err = a.store.DB.Connect(ctx); err != nil {
			return err
		}
		defer func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
			defer cancel()
			err = errors.Join(err, a.pg.Close(ctx))
		}()
	}
	checked := a.file.manifest.Tables
	read, sums := sums{}, sums{}
	var late []batch // rows that refer to accounts
	err = a.read(ctx, Reading, func(t *table, data []byte) error {
		_ = tuple.Each(data, len(t.cols), func(row []byte, _ [][]byte) error { // row returns no error
			read.add(t, row)
			return nil
		})
		data, err := a.ids.mapped(t, data)
		if err != nil {
			return err
		}
		n := 0
		_ = tuple.Each(data, len(t.cols), func(row []byte, _ [][]byte) error { // row returns no error
			sums.add(t, row)
			n++
			return nil
		})
		a.rows = int64(n)
		if t.refersToAccounts() {
			late = append(late, batch{t, slices.Clone(data)})
			return nil
		}
		return db.Wrap(a.insert(ctx, t, data), "import "+t.Name)
	})
	a.wanted.Tables = sums.contents()
	if err == nil && !maps.Equal(read.contents(), checked) {
		err = errChanged // since it was checked
	}
	if err == nil {
		err = a.complete(ctx, late)
	}
	return err
}

// batch are rows of a table.
type batch struct {
	table *table
	data  []byte
}

// renew shows that the import goes on, so that nothing else works on its rows.
func (a *arrival) renew(ctx context.Context) error {
	now := time.Now()
	if now.Sub(a.renewed) < db.ImportRenewal {
		return nil
	}
	a.renewed = now
	_, err := a.store.DB.Exec(ctx, "UPDATE company_move SET at = $1 WHERE company_id = $2 AND state = 'arriving'", db.Millis(now), a.id())
	return err
}

// insert inserts rows, in a transaction.
func (a *arrival) insert(ctx context.Context, t *table, data []byte) error {
	if err := a.renew(ctx); err != nil {
		return err
	}
	switch {
	case t.Name == "company":
		return a.store.Config.Update(ctx, func(ctx context.Context, tx *configure.Tx) error { return a.company(ctx, tx, t, data) })
	case t.Found == InDocuments:
		return a.store.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return addDocuments(ctx, tx, t, data) })
	case a.pg != nil:
		from := io.MultiReader(strings.NewReader(tuple.Header), bytes.NewReader(data), strings.NewReader(tuple.Trailer))
		_, err := a.pg.PgConn().CopyFrom(ctx, from, "COPY "+quoted(t.Name)+" ("+t.names("")+") FROM STDIN (FORMAT binary)")
		return err
	}
	return eachPart(data, len(t.cols), func(part []byte) error {
		return a.store.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return insertRows(ctx, tx, t, part) })
	})
}

// stepRows is the number of rows that a transaction inserts or deletes on SQLite: other companies write between two.
const stepRows = 500

// eachPart calls do with parts of tuples, of at most stepRows rows each.
func eachPart(data []byte, columns int, do func(part []byte) error) error {
	n, begin, end := 0, 0, 0
	err := tuple.Each(data, columns, func(row []byte, _ [][]byte) error {
		end += len(row)
		if n++; n%stepRows != 0 {
			return nil
		}
		part := data[begin:end]
		begin = end
		return do(part)
	})
	if err == nil && begin < end {
		err = do(data[begin:end])
	}
	return err
}

func insertRows(ctx context.Context, tx *db.Tx, t *table, data []byte) error {
	places := make([]string, len(t.cols))
	for i := range places {
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	query := "INSERT INTO " + quoted(t.Name) + " (" + t.names("") + ") VALUES (" + strings.Join(places, ", ") + ")"
	values := make([]any, len(t.cols))
	return tuple.Each(data, len(t.cols), func(_ []byte, fields [][]byte) error {
		for i, f := range fields {
			values[i] = tuple.Value(t.cols[i].kind, f)
			if n, ok := values[i].(int64); ok && t.cols[i].kind == tuple.Bool {
				values[i] = n != 0
			}
		}
		_, err := tx.Exec(ctx, query, values...)
		return err
	})
}

// company inserts the company with its key and its state.
func (a *arrival) company(ctx context.Context, tx *configure.Tx, t *table, data []byte) error {
	now := time.Now()
	if err := insertRows(ctx, tx.Tx, t, data); err != nil {
		return err
	}
	if err := configure.ImportKey(ctx, tx, a.id(), a.key.plain, now); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "INSERT INTO company_move (company_id, state, at, code) VALUES ($1, $2, $3, $4)", a.id(),
		string(Arriving), db.Millis(now), a.file.header.Code)
	return err
}

// complete compares the rows, and stores the members and the company's final state in one transaction.
func (a *arrival) complete(ctx context.Context, late []batch) error {
	tables := maps.Clone(a.tables)
	for _, name := range lateTables(a.tables) {
		delete(tables, name)
	}
	err := a.compare(ctx, tables)
	if err == nil {
		err = a.store.Search.Complete(ctx, a.id(), carillon.Seq(a.file.header.Searched))
	}
	if err == nil {
		err = a.store.Stats.Distrust(ctx, time.Now())
	}
	if err != nil {
		return err
	}
	return a.change(ctx, a.id(), func(ctx context.Context, tx *configure.Tx, r *row) error {
		tx.Everything() // names of keys and senders that were unknown until now
		for _, m := range a.missing {
			if err := m.put(ctx, tx, a.key); err != nil {
				return err
			}
		}
		for _, b := range late {
			if err := insertRows(ctx, tx.Tx, b.table, b.data); err != nil {
				return fmt.Errorf("import %s: %w", b.table.Name, err)
			}
		}
		return put(ctx, tx, a.id(), r, Arrived, r.code)
	})
}

// lateTables returns the tables whose rows refer to accounts, which are imported last.
func lateTables(all map[string]*table) (names []string) {
	for name, t := range all {
		if t.refersToAccounts() {
			names = append(names, name)
		}
	}
	return names
}

// errDiffers means that the imported rows are not those of the file.
var errDiffers = errors.New("the imported rows are not those of the file: did something else write to them?")

// compare compares the imported rows of tables with those of the file.
func (a *arrival) compare(ctx context.Context, tables map[string]*table) error {
	a.o.Report(Progress{Phase: Comparing})
	s, err := newSnapshot(ctx, a.store.DB)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		var sum summed
		if err == nil {
			err = s.rows(ctx, tables[name], a.id(), func(data []byte) error {
				sum.add(data)
				return nil
			})
		}
		want, ok := a.wanted.Tables[name]
		if err == nil && (ok || sum.rows > 0) && sum.content() != want {
			err = fmt.Errorf("%w: table %s has %d rows of %d", errDiffers, name, sum.rows, want.Rows)
		}
	}
	return errors.Join(err, s.close())
}
