package document

import (
	"fmt"
	"strconv"
)

// Reason is the reason why a file cannot be read. The panel has a sentence for each.
type Reason string

// The reasons.
const (
	Empty      Reason = "empty"       // no bytes, or only white space
	WrongType  Reason = "wrong_type"  // an unsupported format; the detail is its name, if known
	TooLarge   Reason = "too_large"   // too many bytes, or too much text
	TooComplex Reason = "too_complex" // too many nested or repeated elements
	TooMany    Reason = "too_many"    // more articles than a base can have
	TooSlow    Reason = "too_slow"    // not read within the time
	Encrypted  Reason = "encrypted"   // a password is needed
	Protected  Reason = "protected"   // copying its text is not allowed
	Damaged    Reason = "damaged"     // not complete, or not valid
	NoText     Reason = "no_text"     // only pictures, such as scanned pages, or no text at all
	NoProgram  Reason = "no_program"  // pdftotext is not installed
	NoColumns  Reason = "no_columns"  // a table without columns for questions and answers; the detail names those it has
	BadRow     Reason = "bad_row"     // a row of a table that cannot be read; the detail says why
	NoAnswer   Reason = "no_answer"   // a row without an answer
	NoQuestion Reason = "no_question" // a row without a question
	LongAnswer Reason = "long_answer" // a row whose answer is too long
)

// Fault explains why a file cannot be read.
type Fault struct {
	Reason Reason
	Row    int    // line of a table; 0 if the fault concerns no line
	Detail string // in English, or a name from the file
}

func fault(r Reason) *Fault { return &Fault{Reason: r} }

// Error returns a sentence in English.
func (f *Fault) Error() string {
	text := sentences[f.Reason]
	if f.Row > 0 {
		text = "Line " + strconv.Itoa(f.Row) + ": " + text
	}
	if f.Detail != "" {
		return fmt.Sprintf("%s (%s)", text, f.Detail)
	}
	return text
}

//nolint:gochecknoglobals // read only
var sentences = map[Reason]string{
	Empty:      "The file is empty",
	WrongType:  "The file is none of PDF, DOCX, Markdown, HTML, plain text and CSV",
	TooLarge:   "The file is too large",
	TooComplex: "The file is too deeply nested",
	TooMany:    "The file has too many articles: at most " + strconv.Itoa(MaxArticles),
	TooSlow:    "The file could not be read in time",
	Encrypted:  "The file is encrypted: save it without a password",
	Protected:  "The file does not allow copying its text",
	Damaged:    "The file is damaged",
	NoText:     "The file has no text: a scanned document must be recognized first (OCR)",
	NoProgram:  "PDF cannot be read here: the program pdftotext is not installed (Debian: poppler-utils)",
	NoColumns:  "The first row must name a column of questions and one of answers",
	BadRow:     "The row cannot be read",
	NoAnswer:   "The answer is missing",
	NoQuestion: "The question is missing",
	LongAnswer: "The answer is too long: at most 64 KiB",
}
