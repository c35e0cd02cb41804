package channels

// Limits that tests reach.
const (
	TrialsPerMinute = trialsPerMinute
	ChecksPerMinute = checksPerMinute
)

//nolint:gochecknoglobals // for tests
var SettingsOf = settingsOf
