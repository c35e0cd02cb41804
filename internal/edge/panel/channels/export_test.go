package channels

// Limits that tests reach.
const (
	TrialsPerMinute = trialsPerMinute
	ChecksPerMinute = checksPerMinute
)

// SettingsOf is settingsOf for tests.
var SettingsOf = settingsOf
