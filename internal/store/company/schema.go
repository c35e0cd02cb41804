package company

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"carillon/internal/store/db"
	"carillon/internal/store/tuple"
)

// column is a column of a table, with its place in the primary key: 0 if it is not part of it.
type column struct {
	name string
	kind tuple.Kind
	key  int
}

// table is a table of the registry with its columns in this database, sorted by name.
type table struct {
	Table
	cols []column
}

// columnsOf returns the columns of all tables of a database, sorted by name, by table.
func columnsOf(ctx context.Context, d *db.DB) (map[string][]column, error) {
	query := `SELECT t.relname, a.attname, y.typname, COALESCE(array_position(k.conkey, a.attnum), 0)
		FROM pg_class AS t
		JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
		JOIN pg_type AS y ON y.oid = a.atttypid
		LEFT JOIN pg_constraint AS k ON k.conrelid = t.oid AND k.contype = 'p'
		WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace`
	if d.SQLite() {
		query = `SELECT m.name, c.name, c.type, c.pk FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`
	}
	all := map[string][]column{}
	err := db.Each(ctx, d, func(scan db.Scan) error {
		var name, kind string
		var c column
		if err := scan(&name, &c.name, &kind, &c.key); err != nil {
			return err
		}
		c.kind = kindOf(kind)
		all[name] = append(all[name], c)
		return nil
	}, query)
	for _, cols := range all {
		slices.SortFunc(cols, func(a, b column) int { return strings.Compare(a.name, b.name) })
		if d.SQLite() {
			rowNumber(cols)
		}
	}
	return all, db.Wrap(err, "read the schema")
}

// kindOf returns the kind of a column by its type in PostgreSQL's catalog or in SQLite's schema.
func kindOf(declared string) tuple.Kind {
	switch declared {
	case "BOOLEAN":
		return tuple.Bool
	case "INTEGER":
		return tuple.Int4
	case "BIGINT":
		return tuple.Int8
	case "TEXT":
		return tuple.Text
	case "BLOB":
		return tuple.Bytes
	}
	return tuple.Kind(declared)
}

// rowNumber corrects the kind of SQLite's row number, which has eight bytes.
func rowNumber(cols []column) {
	key := -1
	for i, c := range cols {
		switch {
		case c.key == 1 && c.kind == tuple.Int4 && key == -1:
			key = i
		case c.key > 0:
			key = -2
		}
	}
	if key >= 0 {
		cols[key].kind = tuple.Int8
	}
}

// tablesOf returns the tables of the registry with the columns of a database.
func tablesOf(ctx context.Context, d *db.DB) ([]*table, error) {
	columns, err := columnsOf(ctx, d)
	if err != nil {
		return nil, err
	}
	var all []*table
	for _, t := range Tables() {
		if columns[t.Name] == nil {
			return nil, fmt.Errorf("the database has no table %s", t.Name)
		}
		all = append(all, &table{t, columns[t.Name]})
	}
	return all, nil
}

func (t *table) kinds() []tuple.Kind {
	kinds := make([]tuple.Kind, len(t.cols))
	for i, c := range t.cols {
		kinds[i] = c.kind
	}
	return kinds
}

// names returns the names of the columns, each after a prefix, separated by commas.
func (t *table) names(prefix string) string {
	names := make([]string, len(t.cols))
	for i, c := range t.cols {
		names[i] = prefix + quoted(c.name)
	}
	return strings.Join(names, ", ")
}

// keys returns the columns of the primary key in its order, each after a prefix, separated by commas.
func (t *table) keys(prefix string) string {
	var names []string
	for place := 1; ; place++ {
		i := slices.IndexFunc(t.cols, func(c column) bool { return c.key == place })
		if i < 0 {
			return strings.Join(names, ", ")
		}
		names = append(names, prefix+quoted(t.cols[i].name))
	}
}

// index returns the place of a column; -1 if there is none.
func (t *table) index(name string) int {
	return slices.IndexFunc(t.cols, func(c column) bool { return c.name == name })
}
