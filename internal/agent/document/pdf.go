package document

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	program   = "pdftotext" // of poppler
	pdfTime   = 30 * time.Second
	pdfMemory = 280 << 20 // bytes of address space of the program
	maxLayout = 96 << 20  // bytes of the program's description of the pages
	maxPages  = 5000

	headingSize = 1.15 // minimum size of a heading, as a multiple of that of the text
	maxHeading  = 150  // characters
	maxRepeats  = 4    // of a heading; a line with more is a page's header or footer
)

// Available returns the reason why PDFs cannot be read, or nil if they can.
func (r *Reader) Available() error {
	if _, err := exec.LookPath(r.program); err != nil {
		return fault(NoProgram)
	}
	return nil
}

// pdf extracts the text with pdftotext. Its plain output has the text in reading order, in both directions of writing;
// the sizes in a second run show which of its lines are headings.
func (r *Reader) pdf(ctx context.Context, content []byte) (document, error) {
	if err := r.Available(); err != nil {
		return document{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, pdfTime)
	defer cancel()
	plain, err := r.run(ctx, content, maxText, "-enc", "UTF-8")
	if err != nil {
		return document{}, err
	}
	if len(strings.Fields(string(plain))) == 0 {
		return document{}, fault(NoText)
	}
	var d document
	var headings []line
	// Without sizes the text has no headings, which is no fault.
	if layout, err := r.run(ctx, content, maxLayout, "-bbox-layout"); err == nil {
		d.title, headings = headingsOf(layout)
	}
	d.text = markdownOf(pagesOf(string(plain), headings), headings)
	return d, nil
}

// run runs the program on a file. The file is given on standard input, once the limits are set.
func (r *Reader) run(ctx context.Context, content []byte, maxBytes int64, args ...string) ([]byte, error) {
	args = append([]string{"-l", strconv.Itoa(maxPages)}, append(args, "-", "-")...)
	cmd := exec.CommandContext(ctx, r.program, args...) //nolint:gosec // the program and its arguments are constants
	cmd.Env = []string{"LC_ALL=C.UTF-8", "HOME=/nonexistent", "PATH=" + os.Getenv("PATH")}
	cmd.WaitDelay = time.Second
	alone(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out := &bounded{maxBytes: maxBytes, full: func() { _ = cmd.Cancel() }}
	faults := &bounded{maxBytes: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, faults
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return nil, fault(NoProgram)
		}
		return nil, err
	}
	limited := limit(cmd.Process.Pid, pdfMemory)
	if limited == nil {
		_, _ = in.Write(content) // if the program ended early, its status is the reason
	}
	_ = in.Close()
	err = cmd.Wait()
	switch {
	case limited != nil:
		return nil, limited
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fault(TooSlow)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.over:
		return nil, fault(TooLarge)
	case err != nil:
		return nil, pdfFault(err, faults.text.String())
	}
	return out.text.Bytes(), nil
}

// pdfFault converts the end of the program: its statuses are 1 for a file that cannot be opened, and 3 for one whose
// text may not be copied.
func pdfFault(err error, text string) error {
	var exit *exec.ExitError
	switch {
	case strings.Contains(text, "ncorrect password") || strings.Contains(text, "ncrypt"):
		return fault(Encrypted)
	case errors.As(err, &exit) && exit.ExitCode() == 3:
		return fault(Protected)
	case errors.As(err, &exit) && (exit.ExitCode() < 0 || strings.Contains(text, "emory") || strings.Contains(text, "bad_alloc")):
		return fault(TooComplex) // it exceeded its memory limit
	}
	return fault(Damaged)
}

// bounded is a writer that keeps the beginning of its input.
type bounded struct {
	text     bytes.Buffer
	maxBytes int64
	over     bool
	full     func() // called when there is more; may be nil
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.maxBytes - int64(b.text.Len()); int64(len(p)) > room {
		b.text.Write(p[:max(room, 0)])
		if !b.over && b.full != nil {
			b.full()
		}
		b.over = true
		return len(p), nil
	}
	return b.text.Write(p)
}

const (
	edge     = 2 // lines at the top and at the end of a page that may be repeated
	minPages = 4 // minimum number of pages for dropping repeated lines
)

// pagesOf divides the plain text at form feeds, without lines that are repeated at the edges of most pages.
func pagesOf(text string, headings []line) []string {
	pages := strings.Split(strings.TrimRight(text, "\f"), "\f")
	if len(pages) < minPages {
		return pages
	}
	kept := map[string]bool{}
	for _, h := range headings {
		kept[h.text] = true
	}
	count := map[string]int{}
	for _, page := range pages {
		once := map[string]bool{}
		lines := strings.Split(page, "\n")
		for _, at := range edgesOf(lines) {
			if key := edgeKey(lines[at]); !once[key] {
				once[key] = true
				count[key]++
			}
		}
	}
	for i, page := range pages {
		lines := strings.Split(page, "\n")
		for _, at := range edgesOf(lines) {
			if count[edgeKey(lines[at])]*2 > len(pages) && !kept[strings.Join(strings.Fields(lines[at]), " ")] {
				lines[at] = ""
			}
		}
		pages[i] = strings.Join(lines, "\n")
	}
	return pages
}

// edgesOf returns the indexes of the lines at the edges of a page; none of a page that has little else.
func edgesOf(lines []string) (at []int) {
	for i, l := range lines {
		if strings.TrimSpace(l) != "" {
			at = append(at, i)
		}
	}
	if len(at) <= 3*edge {
		return nil
	}
	return append(at[:edge:edge], at[len(at)-edge:]...)
}

var digits = regexp.MustCompile(`[0-9]+|\b[ivxlc]+\b`)

// edgeKey returns a line without the number of the page, so that it equals those on other pages.
func edgeKey(line string) string {
	return digits.ReplaceAllString(strings.ToLower(strings.Join(strings.Fields(line), " ")), "#")
}

// line is a line of a page with its size.
type line struct {
	text  string
	size  float64
	level int
}

// layoutLine is a part of the program's description of the pages.
type layoutLine struct {
	Words []struct {
		Text string  `xml:",chardata"`
		Top  float64 `xml:"yMin,attr"`
		End  float64 `xml:"yMax,attr"`
	} `xml:"word"`
}

// headingsOf returns the title in the properties of a document, and its headings: short lines larger than most of its
// text, whose sizes are the levels.
func headingsOf(layout []byte) (title string, headings []line) {
	d := xml.NewDecoder(bytes.NewReader(bytes.Map(printable, layout)))
	d.Strict = false
	var all []line
	weight := map[float64]int{} // characters by size
	for {
		t, err := d.Token()
		if err != nil {
			break // the end, or a page that cannot be described
		}
		e, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case e.Name.Local == "title":
			_ = d.DecodeElement(&title, &e)
		case e.Name.Local == "line":
			var x layoutLine
			if err := d.DecodeElement(&x, &e); err != nil && !errors.Is(err, io.EOF) {
				continue
			}
			l := x.line()
			weight[l.size] += utf8.RuneCountInString(l.text)
			all = append(all, l)
		}
	}
	usual := 0.0
	for size, n := range weight {
		if n > weight[usual] || n == weight[usual] && size < usual {
			usual = size
		}
	}
	often := map[string]int{}
	for _, l := range all {
		often[l.text]++
	}
	sizes := map[float64]bool{}
	for _, l := range all {
		if usual > 0 && l.size >= usual*headingSize && l.isHeading() && often[l.text] < maxRepeats {
			headings = append(headings, l)
			sizes[l.size] = true
		}
	}
	ranked := make([]float64, 0, len(sizes))
	for size := range sizes {
		ranked = append(ranked, size)
	}
	slices.SortFunc(ranked, func(a, b float64) int { return int((b - a) * 1000) })
	for i := range headings {
		headings[i].level = min(slices.Index(ranked, headings[i].size)+1, 4)
	}
	return usable(title), headings
}

func printable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' {
		return -1
	}
	return r
}

// usable returns a title, unless it is the name of a file or of the program that made the document.
func usable(title string) string {
	title = oneLine(title)
	lower := strings.ToLower(title)
	for _, mark := range []string{
		"untitled", "microsoft word", ".doc", ".indd", ".tex", ".dvi", ".pdf", ".ps", ".qxd", "powerpoint", "\\",
	} {
		if strings.Contains(lower, mark) {
			return ""
		}
	}
	return title
}

func (x *layoutLine) line() line {
	var l line
	words := make([]string, 0, len(x.Words))
	sizes := map[float64]int{}
	for _, w := range x.Words {
		words = append(words, w.Text)
		size := float64(int((w.End-w.Top)*2+0.5)) / 2
		sizes[size] += len(w.Text)
		if sizes[size] > sizes[l.size] {
			l.size = size
		}
	}
	l.text = strings.Join(words, " ")
	return l
}

// isHeading reports whether a line reads like one.
func (l *line) isHeading() bool {
	n := utf8.RuneCountInString(l.text)
	letters := 0
	for _, r := range l.text {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return n <= maxHeading && letters >= 3 && letters*2 >= n
}

// markdownOf joins the pages: their paragraphs without line ends, and the headings marked.
func markdownOf(pages []string, headings []line) string {
	var b strings.Builder
	next := 0
	for _, page := range pages {
		for block := range strings.SplitSeq(page, "\n\n") {
			var lines []string
			for l := range strings.SplitSeq(block, "\n") {
				text := strings.Join(strings.Fields(l), " ")
				if text == "" {
					continue
				}
				if level, n := find(headings[next:], text); level > 0 {
					next += n
					flush(&b, lines)
					lines = nil
					b.WriteString("\n\n" + strings.Repeat("#", level) + " " + text)
					continue
				}
				lines = append(lines, escaped(text))
			}
			flush(&b, lines)
		}
	}
	return joinHeadings(b.String())
}

// ahead is the number of headings that may be missing in the plain text.
const ahead = 8

// find returns the level of a line that is one of the next headings, and how many headings to drop.
func find(headings []line, text string) (level, n int) {
	for i, h := range headings[:min(len(headings), ahead)] {
		if h.text == text {
			return h.level, i + 1
		}
	}
	return 0, 0
}

// flush writes lines as a paragraph. A hyphen at the end of a line joins the parts of a word.
func flush(b *strings.Builder, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n\n")
	for i, l := range lines {
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		first, _ := utf8.DecodeRuneInString(next)
		switch {
		case next == "":
			b.WriteString(l)
		case hyphenated.MatchString(l) && unicode.IsLower(first):
			b.WriteString(strings.TrimRight(l, "-‐"))
		case bullet.MatchString(next), strings.HasSuffix(l, ":"):
			b.WriteString(l + "\n")
		default:
			b.WriteString(l + " ")
		}
	}
}

var (
	hyphenated = regexp.MustCompile(`\p{Ll}[-‐]$`)
	bullet     = regexp.MustCompile(`^([-*•·▪●◦–]|\d{1,3}[.)]|[a-z][.)])\s`)
	twoLines   = regexp.MustCompile(`(?m)^(#{1,6}) (.+)\n\n(#{1,6}) (.+)$`)
)

// joinHeadings joins the lines of a heading that has two.
func joinHeadings(text string) string {
	return twoLines.ReplaceAllStringFunc(text, func(s string) string {
		m := twoLines.FindStringSubmatch(s)
		if m[1] != m[3] || len(m[2])+len(m[4]) > maxHeading || numbered.MatchString(m[4]) {
			return s
		}
		return m[1] + " " + m[2] + " " + m[4]
	})
}

var numbered = regexp.MustCompile(`^(\d+(\.\d+)*\.?|[A-Z]\.|[IVX]+\.)\s|[?:]$`)
