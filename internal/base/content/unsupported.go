package content

import (
	"errors"

	"carillon"
)

// Unsupported returns the names of a template's parts that cannot be sent from here, such as "button VOICE_NOTE"; empty
// if it can be sent. For a template of the channel that exceeds our limits, it returns the first fault.
func Unsupported(t *carillon.Template) []string {
	s, err := ShapeOf(t)
	if err == nil {
		return s.Unknown
	}
	name := "template"
	if e, ok := errors.AsType[*carillon.Error](err); ok {
		if field, ok := e.Details.Find("field").(string); ok && field != "" {
			name = field
		}
		if reason, ok := e.Details.Find("reason").(string); ok && reason != "" {
			return []string{name + ": " + reason}
		}
		return []string{name + ": " + e.Message}
	}
	return []string{name}
}
