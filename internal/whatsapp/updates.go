package whatsapp

import (
	"strconv"
	"strings"

	"carillon"
)

// templateValue is what the fields message_template_* and template_category_update report of a template.
type templateValue struct {
	Event       string `json:"event"`
	ID          nodeID `json:"message_template_id"`
	Name        string `json:"message_template_name"`
	Language    string `json:"message_template_language"`
	Reason      string `json:"reason"`
	NewCategory string `json:"new_category"`
	OldScore    string `json:"previous_quality_score"`
	NewScore    string `json:"new_quality_score"`
	OtherInfo   struct {
		Title       string `json:"title"`
		Description string `json:"description"`
	} `json:"other_info"`
	Rejection struct {
		Reason         string `json:"reason"`
		Recommendation string `json:"recommendation"`
	} `json:"rejection_info"`
}

// accountValue is what the channel reports of an account or a number. Its events are in Event.
type accountValue struct {
	Decision     string `json:"decision"`
	CurrentLimit string `json:"current_limit"`
	AlertType    string `json:"alert_type"`
	Severity     string `json:"alert_severity"`
	DailyLimit   int    `json:"max_daily_conversation_per_phone"`
	NumbersLimit int    `json:"max_phone_numbers_per_business"`
	Ban          struct {
		State string `json:"waba_ban_state"`
	} `json:"ban_info"`
	Restrictions []struct {
		Type string `json:"restriction_type"`
	} `json:"restriction_info"`
	Violation struct {
		Type string `json:"violation_type"`
	} `json:"violation_info"`
}

func (t *templateValue) statusEvent(senderUID int64) (carillon.TemplateEvent, bool) {
	s, ok := statusOf(t.Event)
	if !ok || (t.ID == "" && t.Name == "") {
		return carillon.TemplateEvent{}, false
	}
	e := t.event(senderUID)
	e.Status, e.Reason = s, t.reason()
	return e, true
}

func (t *templateValue) categoryEvent(senderUID int64) (carillon.TemplateEvent, bool) {
	if t.NewCategory == "" || (t.ID == "" && t.Name == "") {
		return carillon.TemplateEvent{}, false
	}
	e := t.event(senderUID)
	e.Category = t.NewCategory
	return e, true
}

func (t *templateValue) event(senderUID int64) carillon.TemplateEvent {
	return carillon.TemplateEvent{SenderUID: senderUID, ProviderID: string(t.ID), Name: t.Name, Language: t.Language}
}

// reason joins what the channel gives as reasons; which members exist depends on the event.
func (t *templateValue) reason() string {
	const most = 1000
	reason := join(rejectedReason(t.Reason), t.Rejection.Reason, t.Rejection.Recommendation, t.OtherInfo.Title, t.OtherInfo.Description)
	if len(reason) > most {
		reason = strings.ToValidUTF8(reason[:most], "") + "…"
	}
	return reason
}

func (t *templateValue) templateAlert() (event, detail string) {
	which := t.Name + " " + t.Language
	if t.NewScore == "" {
		return "changed at the channel", clip(which)
	}
	return t.OldScore + " to " + t.NewScore, clip(which)
}

func (v *value) accountAlert() (event, detail string) {
	parts := []string{v.Decision, v.CurrentLimit, v.AlertType, v.Severity, v.Ban.State, v.Violation.Type}
	for _, r := range v.Restrictions {
		parts = append(parts, r.Type)
	}
	if v.DailyLimit != 0 {
		parts = append(parts, "recipients a day "+strconv.Itoa(v.DailyLimit))
	}
	if v.NumbersLimit != 0 {
		parts = append(parts, "numbers "+strconv.Itoa(v.NumbersLimit))
	}
	return clip(v.Event), clip(join(parts...))
}

func join(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(p)
	}
	return b.String()
}
