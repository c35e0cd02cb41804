package config

import "carillon"

// nearest is the known name that a mistyped one most likely stands for, empty when none is near.
func nearest(name string, known []string) string {
	best, least := "", 3
	if len(name) > 40 {
		return ""
	}
	for _, k := range known {
		if d := carillon.EditDistance(name, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}
