package document

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"carillon/internal/agent/knowledge"
)

const (
	// long is the length of a text that is split at its headings, in bytes: about three printed pages.
	long     = 8000
	maxTitle = 200 // characters
	maxLevel = 6

	minQuestions = 2 // of a text that is split at its questions
)

// document is a file as Markdown.
type document struct {
	title    string
	text     string
	language string // BCP 47; empty if unknown
}

// section is the text below a heading.
type section struct {
	level   int // of the heading; 0 for the text before the first one
	heading string
	text    string
}

// articlesOf returns a short document as one article, and a long one split at its headings. Questions with their answers
// are an article each in a text of any length.
func articlesOf(d document, name string) ([]knowledge.Article, error) {
	d.text = clean(d.text)
	switch {
	case len(d.text) > maxText:
		return nil, fault(TooLarge)
	case d.text == "":
		return nil, fault(NoText)
	}
	sections := sectionsOf(d.text)
	first := sections[0]
	if d.title = oneLine(d.title); d.title == "" && first.level == 1 {
		d.title = oneLine(first.heading)
	}
	if len(sections) > 1 && first.level > 0 && oneLine(first.heading) == d.title || len(sections) == 1 && first.level > 0 {
		// The heading of the whole text is its title.
		d.title = oneLine(first.heading)
		sections[0] = section{text: first.text}
	}
	if d.title == "" {
		d.title = titleOf(name)
	}
	s := splitter{language: d.language, questions: questionLevel(sections)}
	if err := s.add(d.title, sections, false); err != nil {
		return nil, err
	}
	if len(s.articles) == 0 {
		return nil, fault(NoText)
	}
	return s.articles, nil
}

type splitter struct {
	articles  []knowledge.Article
	language  string
	questions int // level of the headings that are questions; 0 if there are none
}

// add adds the articles of some sections. Below the top the title of the whole is part of the titles.
func (s *splitter) add(title string, sections []section, nested bool) error {
	level := topLevel(sections)
	size := 0
	for i := range sections {
		size += len(sections[i].text) + len(sections[i].heading)
	}
	if level == 0 || size <= long && level > s.questions {
		return s.write(title, join(sections))
	}
	begin := 0
	for end := 1; end <= len(sections); end++ {
		if end < len(sections) && (sections[end].level == 0 || sections[end].level > level) {
			continue
		}
		part := sections[begin:end]
		name := title
		if heading := oneLine(part[0].heading); part[0].level > 0 && part[0].level <= level && heading != "" {
			name = heading
			if nested && heading != title {
				name = oneLine(title + " – " + heading)
			}
			part = append([]section{{text: part[0].text}}, part[1:]...)
		}
		if err := s.add(name, part, true); err != nil {
			return err
		}
		begin = end
	}
	return nil
}

// questionLevel returns the level of headings at which at least two, and half of them, are questions; 0 if there is none.
func questionLevel(sections []section) int {
	var all, questions [maxLevel + 1]int
	for _, x := range sections {
		all[x.level]++
		if strings.HasSuffix(strings.TrimRight(x.heading, " *_\""), "?") {
			questions[x.level]++
		}
	}
	for level := maxLevel; level > 0; level-- {
		if n := questions[level]; n >= minQuestions && 2*n >= all[level] {
			return level
		}
	}
	return 0
}

// topLevel returns the highest level of the headings after the first section; 0 if there is none.
func topLevel(sections []section) int {
	top := 0
	for _, x := range sections {
		if x.level > 0 && (top == 0 || x.level < top) {
			top = x.level
		}
	}
	return top
}

// join writes sections as Markdown again.
func join(sections []section) string {
	var b strings.Builder
	for _, x := range sections {
		if x.level > 0 {
			b.WriteString("\n\n" + strings.Repeat("#", x.level) + " " + x.heading)
		}
		if x.text != "" {
			b.WriteString("\n\n" + x.text)
		}
	}
	return strings.TrimSpace(b.String())
}

// write adds a text, in several articles if it exceeds the length of one.
func (s *splitter) write(title, text string) error {
	for n := 1; text != ""; n++ {
		if len(s.articles) >= MaxArticles {
			return fault(TooMany)
		}
		a := knowledge.Article{Title: title, Text: text, Language: s.language}
		if a.Text, text = cut(text); n > 1 {
			a.Title = oneLine(title) + " (" + strconv.Itoa(n) + ")"
		}
		if a.Title == "" {
			a.Title = cmp.Or(oneLine(firstLine(a.Text)), oneLine(a.Text)) // marks alone
		}
		s.articles = append(s.articles, a)
	}
	return nil
}

// cut returns the beginning of a text that fits into an article, ending with a paragraph if possible, and the rest.
func cut(text string) (begin, rest string) {
	if len(text) <= knowledge.MaxText {
		return text, ""
	}
	end := knowledge.MaxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	for _, between := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(text[:end], between); at > end/2 {
			end = at
			break
		}
	}
	return strings.TrimSpace(text[:end]), strings.TrimSpace(text[end:])
}

var heading = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$`)

// sectionsOf divides Markdown at its headings, without those inside code.
func sectionsOf(text string) (all []section) {
	now, code := section{}, ""
	var lines []string
	end := func() {
		if now.text = strings.TrimSpace(strings.Join(lines, "\n")); now.text != "" || now.level > 0 {
			all = append(all, now)
		}
		lines = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case code != "":
			if strings.HasPrefix(trimmed, code) {
				code = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			code = trimmed[:3]
		default:
			if m := heading.FindStringSubmatch(line); m != nil {
				end()
				now = section{level: len(m[1]), heading: m[2]}
				continue
			}
		}
		lines = append(lines, line)
	}
	end()
	if len(all) == 0 {
		return []section{{}}
	}
	return all
}

var underline = regexp.MustCompile(`^ {0,3}(=+|-{3,})[ \t]*$`)

// setext rewrites underlined headings in the form with # marks.
func setext(text string) string {
	if !strings.Contains(text, "\n=") && !strings.Contains(text, "\n---") {
		return text
	}
	lines := strings.Split(text, "\n")
	kept := lines[:0]
	for i, line := range lines {
		n := len(kept)
		if m := underline.FindStringSubmatch(line); m != nil && i > 0 && n > 0 {
			above := strings.TrimSpace(kept[n-1])
			alone := n == 1 || strings.TrimSpace(kept[n-2]) == ""
			if above != "" && alone && len(above) <= maxTitle && !strings.ContainsAny(above[:1], "#>-*+|`:") {
				kept[n-1] = map[byte]string{'=': "# ", '-': "## "}[m[1][0]] + above
				continue
			}
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// clean removes control characters, and the front matter of static sites.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == '\ufeff' || r == '\u00ad' || r >= '\u202a' && r <= '\u202e':
			return -1
		case r == '\u00a0':
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if front, rest, ok := strings.Cut(rest, "\n---\n"); ok && strings.Contains(front, ":") && len(front) < 8<<10 {
			text = rest
		}
	}
	return strings.TrimSpace(text)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimLeft(line, "#-*> ")
}

// oneLine returns a text as a title.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= maxTitle {
		return text
	}
	return string([]rune(text)[:maxTitle-1]) + "…"
}
