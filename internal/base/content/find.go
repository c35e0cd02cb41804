package content

import (
	"fmt"
	"slices"
	"strings"

	"carillon"
)

// FindTemplate picks a template among all those of a sender: by exact name and language or, for a bare language `xx`, the
// only approved regional version `xx_XX`. If there is none it returns the 404 template_not_found, which suggests the
// approved template with the most similar name; if it is not approved, the 422 template_not_approved.
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
		{Key: "template_name", Value: carillon.Shorten(name)}, {Key: "language", Value: carillon.Shorten(language)}, {Key: "suggestion", Value: suggest(list, name)},
	}}
}

func approved(t *carillon.Template) (*carillon.Template, error) {
	if t.Status == carillon.TemplateApproved {
		return t, nil
	}
	return nil, &carillon.Error{Code: carillon.TemplateNotApproved, Message: "Template is not approved", Details: carillon.Details{
		{Key: "template_name", Value: t.Name}, {Key: "current_status", Value: string(t.Status)}, {Key: "required_status", Value: string(carillon.TemplateApproved)},
	}}
}

// suggest names the approved template with the most similar name, and its languages.
func suggest(list []*carillon.Template, name string) string {
	best, distance, lower := "", -1, strings.ToLower(carillon.Shorten(name)) // names hold no capitals
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
