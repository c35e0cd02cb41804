package knowledge

import (
	"cmp"
	"math"
	"slices"
)

// alike is the minimum similarity of questions in one group: the weight of the words that they share, relative to the mean
// weight of their words.
const alike = 0.52

// Group returns the questions in groups about the same subject, as indexes. A group begins with the question that comes first
// in the list, as do the groups. Questions are alike by the stems of their words without stop words; words that few of the
// questions have weigh more. The result depends only on the list and its order.
func Group(questions []string, languages []string) [][]int {
	terms := make([][]string, len(questions))
	having := map[string]int{}
	for i, question := range questions {
		terms[i] = subject(question, languages[i])
		for _, term := range terms[i] {
			having[term]++
		}
	}
	weight := func(all []string) (sum float64) {
		for _, term := range all {
			sum += math.Log(1 + float64(len(questions))/float64(having[term]))
		}
		return sum
	}
	var groups [][]int
	leading := map[string][]int{} // by term, the groups whose first question has it
	for i := range questions {
		best, closest := -1, 0.0
		for _, group := range candidates(terms[i], leading) {
			first := terms[groups[group][0]]
			shared := slices.DeleteFunc(slices.Clone(terms[i]), func(term string) bool { return !slices.Contains(first, term) })
			if same := 2 * weight(shared) / (weight(terms[i]) + weight(first)); same >= alike && same > closest {
				best, closest = group, same
			}
		}
		if best >= 0 {
			groups[best] = append(groups[best], i)
			continue
		}
		for _, term := range terms[i] {
			leading[term] = append(leading[term], len(groups))
		}
		groups = append(groups, []int{i})
	}
	return groups
}

// candidates returns the groups that have one of the terms, in order.
func candidates(terms []string, leading map[string][]int) []int {
	var all []int
	for _, term := range terms {
		all = append(all, leading[term]...)
	}
	slices.SortFunc(all, cmp.Compare[int])
	return slices.Compact(all)
}

// subject returns the distinct roots of the words of a question that carry its subject, or of all its words if these are only stop words.
func subject(question, language string) []string {
	language = languageOf(question, language)
	words := Words(question)
	words = words[:min(len(words), maxWords)]
	var all []string
	for _, word := range words {
		if !stopped(word, language) {
			all = append(all, root(word))
		}
	}
	if len(all) == 0 {
		all = words
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// root returns the shortest stem of a word in any language. The language of a short question is often unknown, because the
// conversation's language is only that of the browser.
func root(word string) string {
	shortest := word
	for _, f := range ownForms(word, "") {
		s := f.stems[0]
		if len(s) < len(shortest) || len(s) == len(shortest) && s < shortest {
			shortest = s
		}
	}
	return shortest
}
