package content

import (
	"fmt"
	"slices"
	"strings"

	"carillon"
)

// FindTemplate picks one of a sender's templates: by exact name and language or, for a bare language `xx`, the only
// approved regional version `xx_XX`. If there is none, it returns the 404 template_not_found, which suggests the
// approved template with the most similar name. If it is not approved, it returns the 422 template_not_approved.
func FindTemplate(list []*carillon.Template, name, language string) (*carillon.Template, error) {
	var regional *carillon.Template
	versions := 0
	for _, t := range list {
		if t.Name != name {
			continue
		}
		if t.Language == language {
			return approved(t)
		}
		if t.Status == carillon.TemplateApproved && isRegional(t.Language, language) {
			regional = t
			versions++
		}
	}
	if versions == 1 {
		return regional, nil
	}
	return nil, &carillon.Error{Code: carillon.TemplateNotFound, Message: "Template not found", Details: carillon.Details{
		{Key: "template_name", Value: carillon.Shorten(name)},
		{Key: "language", Value: carillon.Shorten(language)},
		{Key: "suggestion", Value: suggest(list, name)},
	}}
}

func approved(t *carillon.Template) (*carillon.Template, error) {
	if t.Status == carillon.TemplateApproved {
		return t, nil
	}
	return nil, &carillon.Error{Code: carillon.TemplateNotApproved, Message: "Template is not approved", Details: carillon.Details{
		{Key: "template_name", Value: t.Name},
		{Key: "current_status", Value: string(t.Status)},
		{Key: "required_status", Value: string(carillon.TemplateApproved)},
	}}
}

// suggest returns the name and languages of the approved template with the most similar name.
func suggest(list []*carillon.Template, name string) string {
	best, distance, lower := "", -1, strings.ToLower(carillon.Shorten(name)) // names are lower case
	for _, t := range list {
		if t.Status != carillon.TemplateApproved || t.Name == best {
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
		if t.Name == best && t.Status == carillon.TemplateApproved {
			languages = append(languages, t.Language)
		}
	}
	slices.Sort(languages)
	return fmt.Sprintf("Did you mean %s (%s)?", best, strings.Join(languages, ", "))
}

// isRegional reports whether full is a regional version, `xx_XX`, of the bare language.
func isRegional(full, bare string) bool {
	if bare == "" || strings.ContainsAny(bare, "_-") {
		return false
	}
	rest, found := strings.CutPrefix(full, bare)
	return found && len(rest) > 1 && (rest[0] == '_' || rest[0] == '-')
}

// maxCompared bounds the bytes of a name that EditDistance compares. Of the rest only the length counts.
const maxCompared = 128

// EditDistance returns the Levenshtein distance of two names in bytes. Beyond the first 128 bytes it compares only the
// lengths.
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
