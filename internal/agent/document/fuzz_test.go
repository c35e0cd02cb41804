package document

import (
	"bytes"
	"errors"
	"testing"

	"carillon/internal/agent/knowledge"
)

// FuzzRead reads files without the program for PDFs: each gives valid articles or a reason.
func FuzzRead(f *testing.F) {
	for _, s := range append(docxSamples(f), textSamples()...) {
		if s.build == nil && len(s.content) < 64<<10 {
			f.Add(s.name, s.content)
		}
	}
	f.Add("a.md", []byte("# A\n\nText\n\n## B\n\n"+string(bytes.Repeat([]byte(lines), 200))))
	f.Add("", []byte("#"))
	f.Add("a.csv", []byte("sep=;\r\npregunta;respuesta;variantes\r\n\"a\";\"b\"\"c\";d|e\r\n"))
	r := New(nil)
	r.program = "no-such-program"
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		if len(content) > 1<<20 {
			return
		}
		all, err := r.Read(t.Context(), "c", name, content)
		var fault *Fault
		switch {
		case err == nil && len(all) > 0:
			base := knowledge.Base{ID: "x", Articles: all}
			if err := base.Validate(); err != nil {
				t.Error(err)
			}
			for _, a := range all {
				if a.Title == "" || a.Text == "" {
					t.Errorf("%+v", a)
				}
			}
		case !errors.As(err, &fault) || sentences[fault.Reason] == "":
			t.Errorf("%d articles, %v", len(all), err)
		}
	})
}
