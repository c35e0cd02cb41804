package document

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/agent/knowledge"
	"carillon/internal/base/need"
)

func read(t *testing.T, name, content string) []knowledge.Article {
	t.Helper()
	all, err := New(nil).Read(t.Context(), "c", name, []byte(content))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return all
}

// Every file of the corpus, and of the folder CARILLON_TEST_DOCUMENTS if it is set, gives text or a reason, soon and with
// bounded memory.
func TestDifficultFilesGiveTextOrAReason(t *testing.T) {
	need.Program(t, "pdftotext", "poppler-utils")
	r := New(nil)
	all := corpus(t)
	if len(all) < 200 {
		t.Fatalf("%d files only", len(all))
	}
	m := &measured{reasons: map[Reason]int{}}
	for _, s := range all {
		content := s.content
		if s.build != nil {
			content = s.build()
		}
		articles, err := m.read(t, r, s.name, content)
		var f *Fault
		switch {
		case err == nil && s.reasons != nil:
			t.Errorf("%s: has %d articles, want %v", s.name, len(articles), s.reasons)
		case err == nil && !slices.ContainsFunc(articles, func(a knowledge.Article) bool { return strings.Contains(a.Text, s.text) }):
			t.Errorf("%s: has no %q: %.300v", s.name, s.text, articles)
		case err != nil && !s.either && (!errors.As(err, &f) || !slices.Contains(s.reasons, f.Reason)):
			t.Errorf("%s: %v, want %v", s.name, err, s.reasons)
		}
	}
	if folder := os.Getenv("CARILLON_TEST_DOCUMENTS"); folder != "" {
		m.readAll(t, r, folder)
	}
	m.report(t)
}

// measured counts results, and measures the time and the memory of this process and its children.
type measured struct {
	files, texts, articles int
	reasons                map[Reason]int
	longest                time.Duration
	slowest                string
	peak                   int64 // KiB
	largest                string
}

func (m *measured) read(t *testing.T, r *Reader, name string, content []byte) ([]knowledge.Article, error) {
	t.Helper()
	resetPeak()
	begin := time.Now()
	all, err := r.Read(t.Context(), "c", name, content)
	took := time.Since(begin)
	m.files++
	if took > m.longest {
		m.longest, m.slowest = took, name
	}
	if peak := peakMemory(); peak > m.peak {
		m.peak, m.largest = peak, name
	}
	var f *Fault
	switch {
	case err == nil:
		m.texts++
		m.articles += len(all)
		base := knowledge.Base{ID: "x", Articles: all}
		if err := base.Validate(); err != nil {
			t.Errorf("%s: %.300v", name, err)
		}
		for _, a := range all {
			if a.Title == "" {
				t.Errorf("%s: an article without a title: %.100q", name, a.Text)
			}
		}
	case errors.As(err, &f) && sentences[f.Reason] != "":
		m.reasons[f.Reason]++
	default:
		t.Errorf("%s: no reason: %v", name, err)
	}
	if took > 31*time.Second {
		t.Errorf("%s: took %v", name, took)
	}
	return all, err
}

// readAll reads the files of a folder.
func (m *measured) readAll(t *testing.T, r *Reader, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := m.read(t, r, d.Name(), content); err != nil {
			t.Logf("%s: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (m *measured) report(t *testing.T) {
	t.Helper()
	t.Logf("%d files: %d with text (%d articles), reasons %v; longest %v (%s); most memory %d MiB (%s)",
		m.files, m.texts, m.articles, m.reasons, m.longest.Round(time.Millisecond), m.slowest, m.peak>>10, m.largest)
	if m.peak > 300<<10 {
		t.Errorf("%s took %d KiB", m.largest, m.peak)
	}
}

func TestShortDocumentsAreOneArticle(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    knowledge.Article
	}{
		"note.txt":    {"We are open.\r\nCome in.", knowledge.Article{Title: "note", Text: "We are open.\nCome in."}},
		"no_title.md": {"Text.", knowledge.Article{Title: "no title", Text: "Text."}},
		"title.md": {
			"# Hours\n\nNine to five.\n\n## Sundays\n\nClosed.",
			knowledge.Article{Title: "Hours", Text: "Nine to five.\n\n## Sundays\n\nClosed."},
		},
		"underline.md": {"Hours\n=====\n\nNine to five.", knowledge.Article{Title: "Hours", Text: "Nine to five."}},
		"front.md":     {"---\ntitle: x\n---\n# Hours\n\nNine.", knowledge.Article{Title: "Hours", Text: "Nine."}},
		"page.html": {
			`<!-- x --><html lang="es"><title>Horario</title><nav>Inicio</nav><main><p>De nueve a cinco.</main>`,
			knowledge.Article{Title: "Horario", Text: "De nueve a cinco.", Language: "es"},
		},
		`C:\docs\code.md`: {"```\n# no heading\n```", knowledge.Article{Title: "code", Text: "```\n# no heading\n```"}},
	} {
		c.want.File = nameOf(name)
		if diff := cmp.Diff([]knowledge.Article{c.want}, read(t, name, c.content)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestLongDocumentsAreSplitAtHeadings(t *testing.T) {
	filler := strings.Repeat(lines, 60)
	text := "# Manual\n\nIntroduction.\n\n## Hours\n\n" + filler + "\n\n## Returns\n\n" + filler + "\n\n### Money\n\n" + filler +
		"\n\n```\n## code\n```\n\n## Hours\n\nAgain."
	var titles []string
	whole := ""
	for _, a := range read(t, "m.md", text) {
		titles = append(titles, a.Title)
		whole += a.Text + "\n"
	}
	if diff := cmp.Diff([]string{"Manual", "Hours", "Returns", "Returns – Money", "Hours"}, titles); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(whole, "nine to five"); n != 180 || !strings.Contains(whole, "## code") {
		t.Errorf("%d sentences of 180", n)
	}
	long := read(t, "long.txt", strings.Repeat(lines+"\n\n", 2000))
	if len(long) != 3 || long[1].Title != "long (2)" || len(long[0].Text) > knowledge.MaxText {
		t.Errorf("%d articles, %s", len(long), long[1].Title)
	}
}

func TestQuestionsInHeadingsAreAnArticleEach(t *testing.T) {
	for text, want := range map[string][]string{
		"# FAQ\n\n## When?\n\nAt nine.\n\n## Where do we *meet*?\n\nAt the pier.\n\n### Pier\n\nThree.": {
			"When?: At nine.", "Where do we *meet*?: At the pier.\n\n### Pier\n\nThree."},
		"Hello.\n\n## ¿Cuándo?\n\nA las nueve.\n\n## ¿Dónde?\n\nEn el muelle.": {
			"faq: Hello.", "¿Cuándo?: A las nueve.", "¿Dónde?: En el muelle."},
		"# FAQ\n\n## Booking\n\n### How?\n\nHere.\n\n### When?\n\nNow.\n\n## Prices\n\n### How much?\n\nTen.": {
			"Booking – How?: Here.", "Booking – When?: Now.", "Prices – How much?: Ten."},
		"# Tour\n\n## Any questions?\n\nAsk.\n\n## Prices\n\nTen.": {
			"Tour: ## Any questions?\n\nAsk.\n\n## Prices\n\nTen."},
		"# Tour\n\n## Prices\n\nTen.\n\n## Why?\n\nFun.\n\n## Boats\n\nTwo.\n\n## Who?\n\nYou.\n\n## Food\n\nNone.": {
			"Tour: ## Prices\n\nTen.\n\n## Why?\n\nFun.\n\n## Boats\n\nTwo.\n\n## Who?\n\nYou.\n\n## Food\n\nNone."},
	} {
		var got []string
		for _, a := range read(t, "faq.md", text) {
			got = append(got, a.Title+": "+a.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestTablesOfQuestionsAreRead(t *testing.T) {
	for name, content := range map[string]string{
		"en.csv": "question,answer,link\nWhen?,\"At nine,\nsharp\",https://acme.test/\n,,\n",
		"es.csv": "\xef\xbb\xbfsep=;\r\nRespuesta;Enlace;¿Pregunta?\r\n\"At nine,\nsharp\";https://acme.test/;When?\r\n",
		"pt.tsv": "Pergunta\tResposta\tFonte\nWhen?\t\"At nine,\nsharp\"\thttps://acme.test/\n",
		"noname": "Pergunta|Resposta|Fonte\nWhen?|\"At nine,\nsharp\"|https://acme.test/\n",
	} {
		want := []knowledge.Article{{Title: "When?", Text: "At nine,\nsharp", URL: "https://acme.test/", File: name}}
		if diff := cmp.Diff(want, read(t, name, content)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	all := read(t, "w.csv", "question,answer,language,variants\nWhen?,Nine,en,Opening?|Since when?\nLong,"+
		strings.Repeat("é", 20_000)+",x y,\n")
	if diff := cmp.Diff(knowledge.Article{
		Title: "When?", Text: "Nine", Language: "en", Questions: []string{"Opening?", "Since when?"}, File: "w.csv",
	}, all[0]); diff != "" || len(all[1].Text) != 40_000 {
		t.Error(diff)
	}
	for content, want := range map[string]Fault{
		"question,answer\nA,B\n\nC,\n":  {Reason: NoAnswer, Row: 4},
		"question,answer\nA,B\n,B\n":    {Reason: NoQuestion, Row: 3},
		"name,text\nA,B\n":              {Reason: NoColumns, Detail: "name, text"},
		"question,answer\nA,B\nA,B,C\n": {Reason: BadRow, Row: 3, Detail: "The row has 3 cells, and the file 2 columns"},
		"question,answer\nA,\"B\nC,D\nE,F\n": {
			Reason: BadRow, Row: 2, Detail: "Quotation marks do not match: one is missing, or one within a cell is not doubled",
		},
	} {
		_, err := New(nil).Read(t.Context(), "c", "x.csv", []byte(content))
		var f *Fault
		if !errors.As(err, &f) || *f != want {
			t.Errorf("%q: %+v, want %+v", content, err, want)
		}
	}
}

func TestWordsDocumentsAreRead(t *testing.T) {
	item := func(level, text string) string {
		return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="3"/></w:numPr></w:pPr><w:r><w:t>` + text +
			"</w:t></w:r></w:p>"
	}
	cell := func(text string) string { return "<w:tc>" + para(text) + "</w:tc>" }
	body := styled("T", "House rules") + styled("Ttulo1", "Hours") +
		`<w:p><w:r><w:t xml:space="preserve">Nine </w:t></w:r><w:del><w:r><w:delText>eight</w:delText></w:r></w:del>` +
		`<w:ins><w:r><w:t>to</w:t></w:r></w:ins><w:r><w:tab/><w:t>five.</w:t></w:r>` +
		`<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>` +
		item("0", "Monday") + item("1", "Morning") + item("0", "Tuesday") +
		"<w:tbl><w:tr>" + cell("Day") + cell("Hours") + "</w:tr><w:tr>" + cell("Mon") + cell("9–5") + "</w:tr></w:tbl>" +
		styled("Mine", "Returns") + para("Within &lt;30&gt; days.") + para("# no heading") +
		"<w:p><w:r><mc:AlternateContent xmlns:mc=\"x\"><mc:Choice>" + "<w:txbxContent>" + para("Box.") +
		"</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>" + para("Box.") +
		"</w:txbxContent></mc:Fallback></mc:AlternateContent><w:t>Around.</w:t></w:r></w:p>"
	want := knowledge.Article{
		Title: "House rules", File: "r.docx",
		Text: "# Hours\n\nNine to five.\n\n- Monday\n  - Morning\n- Tuesday\n\nDay | Hours\nMon | 9–5\n\n# Returns\n\n" +
			"Within <30> days.\n\n\\# no heading\n\nBox.\n\nAround.",
	}
	if diff := cmp.Diff([]knowledge.Article{want}, read(t, "r.docx", string(docxOf(t, body)))); diff != "" {
		t.Error(diff)
	}
}

func TestPDFsAreRead(t *testing.T) {
	need.Program(t, "pdftotext", "poppler-utils")
	filler := make([]string, 0, 40)
	for range 40 {
		filler = append(filler, "We are open from nine to five on weekdays, and parcels")
	}
	names := strings.Fields("Ana Bea Cid Dora Eva Fritz Gil Hugo")
	pages := make([]string, 0, 8)
	for i := range 8 {
		pages = append(pages, show(770, 8, "Acme Inc. confidential")+show(740, 20, "Chapter "+strings.Repeat("I", i+1))+
			show(700, 12, append(filler, "of "+names[i]+" are fetched at the coun-", "ter of "+names[i]+".")...)+
			show(20, 8, "Page "+string(rune('1'+i))))
	}
	f := pdfOf(pages...)
	f.trailer = "/Info << /Title (Rules of the house) >>"
	all := read(t, "rules.pdf", string(f.bytes()))
	if len(all) != 8 || all[0].Title != "Chapter I" || all[7].Title != "Chapter IIIIIIII" {
		t.Fatalf("%d articles: %.200v", len(all), all)
	}
	for i, a := range all {
		if strings.Contains(a.Text, "confidential") || strings.Contains(a.Text, "Page") ||
			!strings.HasSuffix(a.Text, "counter of "+names[i]+".") {
			t.Errorf("%.60q … %q", a.Text, a.Text[len(a.Text)-200:])
		}
	}
}

func TestWithoutTheProgramAPDFIsRefused(t *testing.T) {
	r := New(nil)
	r.program = "pdftotext-that-is-not-there"
	_, err := r.Read(t.Context(), "c", "a.pdf", pdfOf(show(700, 12, "Text")).bytes())
	var f *Fault
	if !errors.As(err, &f) || f.Reason != NoProgram || !strings.Contains(err.Error(), "poppler-utils") {
		t.Error(err)
	}
}
