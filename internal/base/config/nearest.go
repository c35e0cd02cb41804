package config

import "carillon/internal/base/content"

// nearest returns the known name that is most similar to a mistyped one, "" when none is similar.
func nearest(name string, known []string) string {
	best, least := "", 3
	if len(name) > 40 {
		return ""
	}
	for _, k := range known {
		if d := content.EditDistance(name, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}
