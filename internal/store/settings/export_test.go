package settings

// TemplateEventData is the content of events of templates, before they are recorded.
func TemplateEventData() any { return templateEvent{} }
