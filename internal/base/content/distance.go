package content

// maxCompared is how much of each name EditDistance compares; of the rest it compares only the lengths.
const maxCompared = 128

// EditDistance returns the Levenshtein distance of two names in bytes. Beyond the first 128 it compares only the lengths.
func EditDistance(a, b string) int {
	beyond := max(len(a), len(b), maxCompared) - maxCompared
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	var row [maxCompared + 1]int
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)] + beyond
}
