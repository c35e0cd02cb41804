package carillon

// TemplateReport holds the reports of a channel about a template besides its parts.
type TemplateReport struct {
	Quality          string `json:"quality,omitempty"`    // GREEN, YELLOW or RED; empty if unknown
	QualityAt        int64  `json:"quality_at,omitempty"` // Unix seconds
	Category         string `json:"category,omitempty"`   // the channel's own, if it is none of ours
	PreviousCategory string `json:"previous_category,omitempty"`
	SubCategory      string `json:"sub_category,omitempty"`
	Library          string `json:"library_template_name,omitempty"`
	SendTTL          int    `json:"message_send_ttl_seconds,omitempty"`

	// ComingCategory is the category that the channel will move the template to, at ComingAt (Unix seconds, 0 if unknown).
	ComingCategory string `json:"coming_category,omitempty"`
	ComingAt       int64  `json:"coming_at,omitempty"`
}
