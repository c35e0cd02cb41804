package document

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
)

const (
	maxEntries  = 10_000   // of an archive
	maxPart     = 32 << 20 // decompressed bytes of one part of a document
	maxNesting  = 200      // of elements
	maxStyles   = 10_000
	typeOfParts = "/officeDocument"
)

// docx reads a document of Word as Markdown: headings, paragraphs, lists and tables, without deleted or hidden parts.
func docx(content []byte) (document, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return document{}, fault(Damaged)
	}
	if len(archive.File) > maxEntries {
		return document{}, fault(TooLarge)
	}
	p := parts{}
	for _, f := range archive.File {
		name := strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/")
		if p[name] == nil {
			p[name] = f
		}
	}
	main := p.main()
	if main == "" {
		return document{}, &Fault{Reason: WrongType, Detail: p.format()}
	}
	w := word{styles: p.styles(path.Dir(main)), out: &strings.Builder{}}
	if err := p.each(main, w.token); err != nil {
		return document{}, err
	}
	return document{title: w.title, text: w.out.String()}, nil
}

// parts are the files of an archive by name.
type parts map[string]*zip.File

// main returns the name of the part with the document's text; empty if there is none.
func (p parts) main() string {
	found := ""
	_ = p.each("_rels/.rels", func(t xml.Token, _ int) error { // without relations the usual name is tried
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "Relationship" && strings.HasSuffix(attribute(e, "Type"), typeOfParts) {
			found = strings.TrimPrefix(path.Clean("/"+attribute(e, "Target")), "/")
		}
		return nil
	})
	for _, name := range []string{found, "word/document.xml"} {
		if p[name] != nil && strings.HasPrefix(name, "word") {
			return name
		}
	}
	return ""
}

// format returns the format of an archive that is not a Word document.
func (p parts) format() string {
	for name := range p {
		switch {
		case strings.HasPrefix(name, "xl/"):
			return "XLSX"
		case strings.HasPrefix(name, "ppt/"):
			return "PPTX"
		case name == "META-INF/container.xml":
			return "EPUB"
		case name == "META-INF/manifest.xml" && p["content.xml"] != nil:
			return "ODT"
		}
	}
	return "ZIP"
}

// each visits the tokens of a part with their depth. Errors: *Fault, and those of visit.
func (p parts) each(name string, visit func(t xml.Token, depth int) error) error {
	f := p[name]
	if f == nil {
		return fault(Damaged)
	}
	if f.Flags&1 != 0 {
		return fault(Encrypted)
	}
	r, err := f.Open()
	if err != nil {
		return fault(Damaged)
	}
	defer func() { _ = r.Close() }()
	bound := &io.LimitedReader{R: r, N: maxPart}
	d := xml.NewDecoder(bound)
	depth := 0
	for {
		t, err := d.Token()
		switch {
		case bound.N <= 0:
			return fault(TooLarge)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fault(Damaged)
		}
		switch t.(type) {
		case xml.StartElement:
			depth++
		case xml.Directive: // documents of Word have no document type, and therefore no entities
			return fault(Damaged)
		}
		if depth > maxNesting {
			return fault(TooComplex)
		}
		if err := visit(t, depth); err != nil {
			return err
		}
		if _, ok := t.(xml.EndElement); ok {
			depth--
		}
	}
}

// style is the meaning of a paragraph's style.
type style struct {
	level int // of a heading, else 0
	title bool
	based string
}

// styles reads the headings among the styles; documents without styles have none.
func (p parts) styles(folder string) map[string]style {
	all := map[string]style{}
	var id string
	var now style
	_ = p.each(path.Join(folder, "styles.xml"), func(t xml.Token, _ int) error {
		switch e := t.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "style":
				id, now = attribute(e, "styleId"), style{}
			case "name":
				name := strings.ToLower(attribute(e, "val"))
				now.title = name == "title"
				if n, ok := strings.CutPrefix(name, "heading "); ok {
					now.level = levelOf(n, 0)
				}
			case "basedOn":
				now.based = attribute(e, "val")
			case "outlineLvl":
				if now.level == 0 {
					now.level = levelOf(attribute(e, "val"), 1)
				}
			}
		case xml.EndElement:
			if e.Name.Local == "style" && len(all) < maxStyles {
				all[id] = now
			}
		}
		return nil
	})
	for id, x := range all {
		for n := 0; n < 10 && x.level == 0 && !x.title && x.based != ""; n++ {
			x = style{all[x.based].level, all[x.based].title, all[x.based].based}
		}
		all[id] = x
	}
	return all
}

// levelOf returns a heading's level; 0 for a text that is not one.
func levelOf(text string, offset int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n+offset < 1 || n+offset > 9 {
		return 0
	}
	return min(n+offset, maxLevel)
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// word writes the text of a document as Markdown.
type word struct {
	styles map[string]style
	out    *strings.Builder
	title  string

	paragraphs []*paragraph // the open ones: a text box is inside a paragraph
	tables     []*row       // current rows of the open tables
	skipped    int          // depth of the element whose content is skipped, else 0
	shown      bool         // within the text of a run
	hidden     bool         // the run is not shown
	item       bool         // the last paragraph was a list item
}

type paragraph struct {
	text  strings.Builder
	style style
	item  bool
	depth int // of a list item
}

// row is the current row of a table.
type row struct {
	cells []string
	text  strings.Builder // of the current cell
	first bool            // no row has been written
}

// excluded are elements whose content nobody sees, or sees twice.
//
//nolint:gochecknoglobals // read only
var excluded = map[string]bool{
	"del": true, "moveFrom": true, "instrText": true, "delText": true, "Fallback": true, "sdtPr": true, "rt": true, "object": true,
}

func (w *word) token(t xml.Token, depth int) error {
	switch e := t.(type) {
	case xml.StartElement:
		if w.skipped == 0 && excluded[e.Name.Local] {
			w.skipped = depth
		}
		if w.skipped == 0 {
			w.start(e)
		}
	case xml.EndElement:
		if w.skipped == 0 {
			w.end(e.Name.Local)
		}
		if w.skipped == depth {
			w.skipped = 0
		}
	case xml.CharData:
		if w.shown && !w.hidden && w.skipped == 0 {
			w.write(string(e))
		}
	}
	if w.out.Len() > maxText {
		return fault(TooLarge)
	}
	return nil
}

// write adds to the innermost paragraph.
func (w *word) write(text string) {
	if n := len(w.paragraphs); n > 0 {
		w.paragraphs[n-1].text.WriteString(text)
	}
}

func (w *word) start(e xml.StartElement) {
	name := e.Name.Local
	switch name {
	case "p":
		w.paragraphs = append(w.paragraphs, &paragraph{})
	case "t":
		w.shown = true
	case "tab":
		w.write(" ")
	case "br", "cr":
		w.write("\n")
	case "noBreakHyphen":
		w.write("-")
	case "tbl":
		w.tables = append(w.tables, &row{first: true})
	case "vanish":
		w.hidden = w.hidden || applies(attribute(e, "val"))
	}
	if len(w.paragraphs) == 0 {
		return
	}
	p := w.paragraphs[len(w.paragraphs)-1]
	switch name {
	case "pStyle":
		p.style = w.styles[attribute(e, "val")]
	case "outlineLvl":
		if p.style.level == 0 {
			p.style.level = levelOf(attribute(e, "val"), 1)
		}
	case "numId":
		p.item = attribute(e, "val") != "0"
	case "ilvl":
		p.depth = min(levelOf(attribute(e, "val"), 1), maxLevel) - 1
	}
}

// applies reports whether a property without a value, or with this one, applies.
func applies(value string) bool { return value != "0" && value != "false" }

func (w *word) end(name string) {
	switch name {
	case "t":
		w.shown = false
	case "r":
		w.hidden = false
	case "p":
		if n := len(w.paragraphs); n > 0 {
			p := w.paragraphs[n-1]
			w.paragraphs = w.paragraphs[:n-1]
			w.paragraph(p)
		}
	case "tc":
		if n := len(w.tables); n > 0 {
			x := w.tables[n-1]
			x.cells = append(x.cells, strings.Join(strings.Fields(x.text.String()), " "))
			x.text.Reset()
		}
	case "tr":
		if n := len(w.tables); n > 0 {
			w.row(w.tables[n-1], n)
		}
	case "tbl":
		if n := len(w.tables); n > 0 {
			w.tables = w.tables[:n-1]
		}
	}
}

// row writes a row of a table as a line; a table within a table is part of its cell.
func (w *word) row(x *row, depth int) {
	text := strings.TrimRight(strings.Join(x.cells, " | "), " |")
	x.cells = nil
	switch {
	case text == "":
		return
	case depth > 1:
		w.tables[depth-2].text.WriteString(" " + text)
		return
	case x.first:
		w.out.WriteString("\n")
	}
	x.first, w.item = false, false
	w.out.WriteString("\n" + text)
}

// paragraph writes a paragraph; one in a cell is part of its row.
func (w *word) paragraph(p *paragraph) {
	text := strings.TrimSpace(p.text.String())
	if text == "" {
		return
	}
	if n := len(w.tables); n > 0 {
		w.tables[n-1].text.WriteString(" " + text)
		return
	}
	item := false
	switch {
	case p.style.title && w.title == "":
		w.title = oneLine(text)
		return
	case p.style.title:
		text = "# " + oneLine(text)
	case p.style.level > 0:
		text = strings.Repeat("#", p.style.level) + " " + strings.Join(strings.Fields(text), " ")
	case p.item:
		item = true
		text = strings.Repeat("  ", max(p.depth, 0)) + "- " + strings.Join(strings.Fields(text), " ")
	default:
		text = escaped(text)
	}
	between := "\n\n"
	if item && w.item {
		between = "\n"
	}
	w.item = item
	w.out.WriteString(between + text)
}

// escaped keeps a text that begins like a heading from becoming one.
func escaped(text string) string {
	if heading.MatchString(firstOf(text)) {
		return `\` + text
	}
	return text
}

func firstOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
