package sheet

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/number"
)

// Bounds of a table.
const (
	maxColumns = 100
	maxCell    = 4096 // characters, the limit of a custom value in a request
	maxName    = 100  // characters of a column name

	maxRow    = 2 << 20 // bytes; enough for 100 cells of four-byte characters
	maxFields = 16_384  // per row, including empty ones: the maximum of a spreadsheet
)

// Table reads the rows of a file. Rows without any text are skipped.
type Table struct {
	decoder   *decoder
	csv       *csv.Reader
	workbook  *workbook // instead of decoder and csv
	Delimiter rune      // 0 for a workbook
	Names     []string  // of the columns
	MaxCell   int       // characters of a cell
	skipped   int       // lines before those that the CSV reader counts
}

// Row is a row of the file.
type Row struct {
	Line  int // line of the file where the row begins
	Cells []string
}

// Open reads the first row, which contains the names of the columns. Errors: validation_failed.
func Open(file io.Reader) (*Table, error) {
	b := bufio.NewReader(file)
	begin, _ := b.Peek(len(compoundMark)) // an error will recur on the next read
	switch {
	case strings.HasPrefix(string(begin), zipMark):
		return openBook(b)
	case string(begin) == compoundMark:
		return nil, refused("This workbook has a password or an old format: save it as .xlsx without a password, or as CSV")
	}
	return openText(b)
}

func openBook(file io.Reader) (*Table, error) {
	w, err := openWorkbook(file)
	if err != nil {
		return nil, err
	}
	t := &Table{workbook: w, MaxCell: maxCell}
	return t, t.begin()
}

// begin reads the names of the columns.
func (t *Table) begin() error {
	names, err := t.next()
	if errors.Is(err, io.EOF) {
		return refused("The file is empty")
	}
	if err != nil {
		return err
	}
	return t.readNames(names)
}

func openText(file io.Reader) (*Table, error) {
	t := &Table{decoder: newDecoder(file), MaxCell: maxCell}
	text := newBuffered(t.decoder)
	begin, err := text.begin()
	if err != nil {
		return nil, err
	}
	if line, _, _ := strings.Cut(begin, "\n"); len(line) >= 5 && strings.EqualFold(line[:4], "sep=") {
		t.Delimiter, _ = utf8.DecodeRuneInString(line[4:]) // as Excel writes and reads it
		text.drop(len(line) + 1)
		t.skipped = 1
	} else {
		t.Delimiter = delimiterOf(begin)
	}
	if !validDelimiter(t.Delimiter) {
		return nil, refused("The first line names a delimiter that cannot be one")
	}
	t.csv = csv.NewReader(&rowsBound{r: text, delimiter: byte(t.Delimiter), line: t.skipped + 1})
	t.csv.Comma, t.csv.FieldsPerRecord, t.csv.ReuseRecord = t.Delimiter, -1, true
	return t, t.begin()
}

// unread is the fault for text in another encoding, read here or when the file was created.
const unread = "a character that cannot be read: save the file as CSV UTF-8 and look at this cell"

// Encoding returns the encoding of the file, as far as it has been read.
func (t *Table) Encoding() Encoding {
	if t.workbook != nil {
		return Workbook
	}
	return t.decoder.enc
}

func validDelimiter(r rune) bool { return r == ',' || r == ';' || r == '\t' || r == '|' }

// readNames reads the names of the columns.
func (t *Table) readNames(first Row) error {
	cells := first.Cells
	for len(cells) > 0 && strings.TrimSpace(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1]
	}
	if len(cells) > maxColumns {
		return refused(fmt.Sprintf("The file has %d columns: at most %d", len(cells), maxColumns))
	}
	for i, c := range cells {
		name := strings.Join(strings.Fields(c), " ")
		if strings.ContainsRune(name, utf8.RuneError) {
			return atLine(first.Line, fmt.Sprintf("The name of column %d has %s", i+1, unread))
		}
		if _, err := number.Clean(name); err == nil {
			return refused("The first line has a phone number: it must have the names of the columns")
		}
		if name == "" {
			name = "Column " + strconv.Itoa(i+1)
		}
		if r := []rune(name); len(r) > maxName {
			name = string(r[:maxName])
		}
		t.Names = append(t.Names, name)
	}
	return nil
}

// Next returns the next row, with a cell for each column. Errors: io.EOF, validation_failed.
func (t *Table) Next() (Row, error) {
	r, err := t.next()
	if err != nil {
		return Row{}, err
	}
	cells := make([]string, len(t.Names))
	for i, c := range r.Cells {
		if c = strings.TrimSpace(c); i < len(cells) {
			cells[i] = unguarded(c)
		} else if c != "" {
			return Row{}, atLine(r.Line, fmt.Sprintf("The row has %d cells, and the file %d columns", len(r.Cells), len(t.Names)))
		}
		if len(c) > t.MaxCell && utf8.RuneCountInString(c) > t.MaxCell {
			return Row{}, atLine(r.Line, fmt.Sprintf("A cell has more than %d characters: is a quotation mark missing?", t.MaxCell))
		}
		if strings.ContainsRune(c, 0) {
			return Row{}, atLine(r.Line, "A cell has a character that no text has: is this a CSV file?")
		}
		if strings.ContainsRune(c, utf8.RuneError) {
			return Row{}, atLine(r.Line, fmt.Sprintf("Column %q has %s", t.Names[i], unread))
		}
	}
	return Row{r.Line, cells}, nil
}

func (t *Table) next() (Row, error) {
	for {
		if t.workbook != nil {
			r, err := t.workbook.next()
			if err != nil || hasText(r.Cells) {
				return r, err
			}
			continue
		}
		cells, err := t.csv.Read()
		var bad *csv.ParseError
		switch {
		case errors.As(err, &bad):
			reason := "A quotation mark stands within a cell that has none around it"
			if errors.Is(err, csv.ErrQuote) {
				reason = "Quotation marks do not match: one is missing, or one within a cell is not doubled"
			}
			return Row{}, atLine(bad.StartLine+t.skipped, reason)
		case errors.Is(err, io.EOF):
			return Row{}, io.EOF
		case err != nil:
			return Row{}, err
		}
		line, _ := t.csv.FieldPos(0)
		if hasText(cells) {
			return Row{line + t.skipped, cells}, nil
		}
	}
}

func hasText(cells []string) bool {
	return slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" })
}

// delimiterOf returns the delimiter of the first line that has text.
func delimiterOf(text string) rune {
	line := strings.TrimLeft(text, "\n")
	quoted, count := false, map[rune]int{}
	for _, c := range line {
		if c == '\n' && !quoted {
			break
		}
		if c == '"' {
			quoted = !quoted
		}
		if !quoted {
			count[c]++
		}
	}
	best := ','
	for _, c := range []rune{';', '\t', '|'} {
		if count[c] > count[best] {
			best = c
		}
	}
	return best
}

// Guarded returns a text that no spreadsheet interprets as a formula.
func Guarded(text string) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return text
	}
	return "'" + text
}

// unguarded reverses Guarded, for a file that is uploaded again.
func unguarded(text string) string {
	if rest, ok := strings.CutPrefix(text, "'"); ok && Guarded(rest) != rest {
		return rest
	}
	return text
}

func refused(reason string) error { return carillon.Invalid("file", reason) }

func atLine(line int, reason string) error {
	e := carillon.Invalid("file", fmt.Sprintf("Line %d: %s", line, reason))
	e.Details = append(e.Details, carillon.Detail{Key: "line", Value: line})
	return e
}

// buffered is a reader whose beginning can be inspected.
type buffered struct {
	r    io.Reader
	text []byte
	err  error
}

func newBuffered(r io.Reader) *buffered { return &buffered{r: r} }

// begin returns the beginning of the text.
func (b *buffered) begin() (string, error) {
	b.text = make([]byte, 16<<10)
	n, err := io.ReadFull(b.r, b.text)
	b.text, b.err = b.text[:n], err
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		b.err = io.EOF
		return string(b.text), nil
	}
	return string(b.text), err
}

func (b *buffered) drop(n int) { b.text = b.text[min(n, len(b.text)):] }

// Read implements io.Reader.
func (b *buffered) Read(p []byte) (int, error) {
	if len(b.text) > 0 {
		n := copy(p, b.text)
		b.text = b.text[n:]
		return n, nil
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.r.Read(p)
}

// rowsBound passes on CSV text until a row exceeds the allowed bytes or cells. The CSV reader holds a complete row
// with all its cells before the caller can count them.
type rowsBound struct {
	r         io.Reader
	delimiter byte
	quoted    bool
	line      int // of the file
	begin     int // line at which the row begins
	bytes     int // bytes of the row
	fields    int // fields of the row that are complete
}

// Read implements io.Reader. Errors: validation_failed, and those of r.
func (b *rowsBound) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	for _, c := range p[:n] {
		if b.bytes == 0 {
			b.begin = b.line
		}
		b.bytes++
		switch {
		case c == '"':
			b.quoted = !b.quoted
		case c == b.delimiter && !b.quoted:
			b.fields++
		case c == '\n':
			b.line++
			if !b.quoted {
				b.bytes, b.fields = 0, 0
			}
		}
		if b.fields >= maxFields {
			return 0, atLine(b.begin, fmt.Sprintf("The row has more than %d cells: is this a CSV file?", maxFields))
		}
		if b.bytes > maxRow {
			return 0, atLine(b.begin, fmt.Sprintf("The row has more than %d bytes: is a quotation mark missing?", maxRow))
		}
	}
	return n, err
}
