package templates

// EventData is what events of templates hold, before they are recorded.
func EventData() any { return decided{} }
