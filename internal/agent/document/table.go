package document

import (
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"carillon"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/resource"
	"carillon/internal/base/sheet"
)

// column is a column of a table of questions and answers.
type column int

const (
	question column = iota
	answer
	address
	language
	wordings
	columns
)

// headers are the names of the columns in English, Spanish and Portuguese, without accents and in lower case.
//
//nolint:gochecknoglobals // read only
var headers = [columns][]string{
	question: {
		"question", "questions", "q", "title", "heading", "topic", "pregunta", "preguntas", "titulo", "tema", "pergunta", "perguntas",
		"duvida", "duvidas", "assunto", "faq",
	},
	answer: {
		"answer", "answers", "a", "text", "content", "body", "reply", "respuesta", "respuestas", "texto", "contenido", "resposta",
		"respostas", "conteudo",
	},
	address:  {"url", "link", "address", "source", "enlace", "direccion", "fuente", "endereco", "fonte"},
	language: {"language", "lang", "locale", "idioma", "lengua", "lingua"},
	wordings: {
		"other wordings", "wordings", "variants", "alternatives", "synonyms", "otras formas", "variantes", "outras formas", "sinonimos",
	},
}

// isTable reports whether a text is a table: by the columns in its first line, or by its name.
func isTable(text, name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".csv", ".tsv":
		return true
	case ".md", ".markdown", ".txt", ".html", ".htm":
		return false
	}
	begin := text[:min(len(text), sniffed)]
	t, err := sheet.Open(strings.NewReader(begin))
	if err != nil || len(t.Names) < 2 {
		return false
	}
	at := columnsOf(t.Names)
	return at[question] >= 0 && at[answer] >= 0
}

// columnsOf returns the index of each column, or -1.
func columnsOf(names []string) (at [columns]int) {
	for c := range at {
		at[c] = -1
		for i, name := range names {
			if at[c] < 0 && slices.Contains(headers[c], folded(name)) {
				at[c] = i
			}
		}
	}
	return at
}

// folded returns a name in lower case, without accents and marks.
func folded(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, norm.NFD.String(name))
	return strings.Join(strings.Fields(name), " ")
}

// table reads the articles of a table, one per row.
func table(content []byte) ([]knowledge.Article, error) {
	t, err := sheet.Open(bytes.NewReader(content))
	if err != nil {
		return nil, rowFault(err)
	}
	t.MaxCell = knowledge.MaxText
	at := columnsOf(t.Names)
	if at[question] < 0 || at[answer] < 0 {
		names := strings.Join(t.Names[:min(len(t.Names), 20)], ", ")
		return nil, &Fault{Reason: NoColumns, Detail: oneLine(names)}
	}
	var all []knowledge.Article
	size := 0
	for {
		row, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, rowFault(err)
		}
		a, err := rowArticle(row, at)
		if err != nil {
			return nil, err
		}
		if len(all) == MaxArticles {
			return nil, fault(TooMany)
		}
		if size += len(a.Title) + len(a.Text); size > maxText {
			return nil, fault(TooLarge)
		}
		all = append(all, a)
	}
	if len(all) == 0 {
		return nil, fault(NoText)
	}
	return all, nil
}

func rowArticle(row sheet.Row, at [columns]int) (a knowledge.Article, err error) {
	cell := func(c column) string {
		if at[c] < 0 {
			return ""
		}
		return row.Cells[at[c]]
	}
	a = knowledge.Article{Title: oneLine(cell(question)), Text: clean(cell(answer))}
	switch {
	case a.Title == "":
		return a, &Fault{Reason: NoQuestion, Row: row.Line}
	case a.Text == "":
		return a, &Fault{Reason: NoAnswer, Row: row.Line}
	case len(a.Text) > knowledge.MaxText:
		return a, &Fault{Reason: LongAnswer, Row: row.Line}
	}
	// A source that is not an address is a note for people.
	if url := cell(address); resource.AddressFault(url, "x", "https", "http") == "" {
		a.URL = url
	}
	if tag := cell(language); resource.ValidLanguage(tag) {
		a.Language = tag
	}
	for _, other := range strings.FieldsFunc(cell(wordings), func(r rune) bool { return r == '|' || r == '\n' || r == ';' }) {
		if other = oneLine(other); other != "" && len(other) <= maxTitle && len(a.Questions) < 100 {
			a.Questions = append(a.Questions, other)
		}
	}
	return a, nil
}

// rowFault converts an error of the table's reader.
func rowFault(err error) error {
	f := &Fault{Reason: BadRow}
	if e, ok := errors.AsType[*carillon.Error](err); ok {
		for _, d := range e.Details {
			switch d.Key {
			case "reason":
				f.Detail, _ = d.Value.(string)
			case "line":
				f.Row, _ = d.Value.(int)
			}
		}
		// The line has its own field.
		if _, rest, ok := strings.Cut(f.Detail, ": "); ok && f.Row > 0 && strings.HasPrefix(f.Detail, "Line ") {
			f.Detail = rest
		}
	}
	return f
}
