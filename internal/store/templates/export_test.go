package templates

// EventData is the content of events of templates, before they are recorded.
func EventData() any { return decided{} }
