package carillon

import (
	"fmt"
	"slices"
	"strings"
)

// FindTemplate looks a template up among all those of a sender: by name and language exactly, then, for a bare
// language `xx`, the one regional version that is approved. Nothing of that name and language is the 404
// template_not_found, whose suggestion names the nearest approved name and its languages; one that is not approved is
// the 422 template_not_approved (decisions.md, section 3).
func FindTemplate(list []*Template, name, language string) (*Template, error) {
	var regional *Template
	versions := 0
	for _, t := range list {
		if t.Name != name {
			continue
		}
		if t.Language == language {
			return approved(t)
		}
		if t.Status == TemplateApproved && isRegional(t.Language, language) {
			regional = t
			versions++
		}
	}
	if versions == 1 {
		return regional, nil
	}
	return nil, &Error{Code: TemplateNotFound, Message: "Template not found", Details: Details{
		{"template_name", shortened(name)}, {"language", shortened(language)}, {"suggestion", suggest(list, name)},
	}}
}

func approved(t *Template) (*Template, error) {
	if t.Status == TemplateApproved {
		return t, nil
	}
	return nil, &Error{Code: TemplateNotApproved, Message: "Template is not approved", Details: Details{
		{"template_name", t.Name}, {"current_status", string(t.Status)}, {"required_status", string(TemplateApproved)},
	}}
}

// suggest names the approved template whose name is nearest, and its languages.
func suggest(list []*Template, name string) string {
	best, distance, lower := "", -1, strings.ToLower(shortened(name)) // names hold no capitals
	for _, t := range list {
		if t.Status != TemplateApproved || t.Name == best {
			continue
		}
		d := EditDistance(lower, t.Name)
		if distance < 0 || d < distance || d == distance && t.Name < best {
			best, distance = t.Name, d
		}
	}
	if distance < 0 {
		return "This sender has no approved templates"
	}
	var languages []string
	for _, t := range list {
		if t.Name == best && t.Status == TemplateApproved {
			languages = append(languages, t.Language)
		}
	}
	slices.Sort(languages)
	return fmt.Sprintf("Did you mean %s (%s)?", best, strings.Join(languages, ", "))
}

// maxCompared bounds the names that EditDistance compares; behind it only their lengths count.
const maxCompared = 128

// EditDistance is the Levenshtein distance of two names in bytes; behind the first 128 only their lengths count.
func EditDistance(a, b string) int {
	beyond := max(len(a), len(b), maxCompared) - maxCompared
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	var row [maxCompared + 1]int
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)] + beyond
}
