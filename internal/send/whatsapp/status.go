package whatsapp

import (
	"strings"

	"carillon"
)

// templateStatuses maps the channel's statuses and events to ours.
var templateStatuses = map[string]carillon.TemplateStatus{ //nolint:gochecknoglobals // one table, read only
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

// rejectedReason omits the channel's placeholder for no reason.
func rejectedReason(reason string) string {
	if strings.EqualFold(reason, "NONE") {
		return ""
	}
	return reason
}

// nodeID is an id of the channel, some of which are strings and some numbers.
type nodeID string

// UnmarshalJSON accepts digits with and without quotes; anything else is no id.
func (n *nodeID) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if idForm.MatchString(s) {
		*n = nodeID(s)
	}
	return nil
}
