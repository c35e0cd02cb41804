package whatsapp

import (
	"slices"
	"strings"

	"carillon"
	"carillon/internal/base/provider"
)

// templateValue holds the members of the callbacks about a template.
type templateValue struct {
	Event       string  `json:"event"`
	ID          nodeID  `json:"message_template_id"`
	Name        string  `json:"message_template_name"`
	Language    string  `json:"message_template_language"`
	Reason      string  `json:"reason"`
	NewCategory string  `json:"new_category"`
	Correct     string  `json:"correct_category"`
	ChangesAt   seconds `json:"category_update_timestamp"`
	NewQuality  string  `json:"new_quality_score"`
	Body        string  `json:"message_template_element"`
	OtherInfo   struct {
		Title       string `json:"title"`
		Description string `json:"description"`
	} `json:"other_info"`
	Rejection struct {
		Reason         string `json:"reason"`
		Recommendation string `json:"recommendation"`
	} `json:"rejection_info"`
}

// read returns the report of a callback about a template. Its members decide on the kind, because the channel has sent a
// quality score under the name of another field.
func (t *templateValue) read(senderUID int64, at seconds) (provider.TemplateEvent, bool) {
	e := t.event(senderUID)
	switch {
	case t.ID == "" && t.Name == "":
		return e, false
	case t.NewQuality != "":
		e.Quality, e.QualityAt = qualityOf(t.NewQuality), int64(at)
		return e, e.Quality != ""
	case t.Body != "":
		e.Rewritten = true
		return e, true
	case t.NewCategory != "" || t.Correct != "":
		return t.categoryEvent(senderUID)
	}
	return t.statusEvent(senderUID)
}

func (t *templateValue) statusEvent(senderUID int64) (provider.TemplateEvent, bool) {
	s, ok := statusOf(t.Event)
	if !ok {
		return provider.TemplateEvent{}, false
	}
	e := t.event(senderUID)
	e.Status, e.Reason = s, t.reason()
	return e, true
}

// categoryEvent returns the report of a changed category, or of one that will change.
func (t *templateValue) categoryEvent(senderUID int64) (provider.TemplateEvent, bool) {
	e := t.event(senderUID)
	e.Category = strings.ToUpper(t.NewCategory)
	if t.Correct != "" { // a notice: new_category is the current one
		e.ComingCategory, e.ComingAt = strings.ToUpper(t.Correct), int64(t.ChangesAt)
	}
	return e, true
}

func (t *templateValue) event(senderUID int64) provider.TemplateEvent {
	return provider.TemplateEvent{SenderUID: senderUID, ProviderID: string(t.ID), Name: t.Name, Language: languageOf(t.Language)}
}

// reason joins the channel's reasons. Their members depend on the event.
func (t *templateValue) reason() string {
	return shorten(join(rejectedReason(t.Reason), t.Rejection.Reason, t.Rejection.Recommendation, t.OtherInfo.Title,
		t.OtherInfo.Description), maxReason)
}

func join(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(p string) bool { return strings.TrimSpace(p) == "" })
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
	}
	return strings.Join(parts, "; ")
}

// templateStatuses maps the channel's statuses and events to ours.
var templateStatuses = map[string]carillon.TemplateStatus{ //nolint:gochecknoglobals // a single read-only table
	"PENDING":          carillon.TemplatePending,
	"IN_APPEAL":        carillon.TemplatePending,
	"APPROVED":         carillon.TemplateApproved,
	"REINSTATED":       carillon.TemplateApproved,
	"FLAGGED":          carillon.TemplateApproved,
	"UNARCHIVED":       carillon.TemplateApproved,
	"REJECTED":         carillon.TemplateRejected,
	"PAUSED":           carillon.TemplatePaused,
	"DISABLED":         carillon.TemplateDisabled,
	"LIMIT_EXCEEDED":   carillon.TemplateDisabled,
	"ARCHIVED":         carillon.TemplateDisabled,
	"LOCKED":           carillon.TemplateDisabled,
	"DELETED":          carillon.TemplateDisabled,
	"PENDING_DELETION": carillon.TemplateDisabled,
}

func statusOf(channel string) (carillon.TemplateStatus, bool) {
	s, ok := templateStatuses[strings.ToUpper(channel)]
	return s, ok
}

func statusOr(channel string, otherwise carillon.TemplateStatus) carillon.TemplateStatus {
	if s, ok := statusOf(channel); ok {
		return s
	}
	return otherwise
}

// rejectedReason removes the channel's placeholder for "no reason".
func rejectedReason(reason string) string {
	if strings.EqualFold(reason, "NONE") {
		return ""
	}
	return reason
}

// nodeID is an id of the channel, which may be a string or a number.
type nodeID string

// UnmarshalJSON accepts digits with and without quotes. Anything else is ignored.
func (n *nodeID) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if idForm.MatchString(s) {
		*n = nodeID(s)
	}
	return nil
}
