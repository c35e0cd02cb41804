package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"

	"carillon/bench/load"
)

const (
	searchBases    = 10
	searchArticles = 1000 // of a knowledge base
	searchWords    = 100  // of an article
	searches       = 1000 // of a round
)

// measureSearch searches the articles of a company, one search after the other.
func (b *bench) measureSearch(ctx context.Context, _ *provider, e engine) {
	n := b.serveEmpty(ctx, e, noProvider)
	defer b.discard(n)
	token := must(signIn(ctx, n))
	articles := searchArticles
	if b.quick {
		articles /= 10
	}
	random := rand.New(rand.NewPCG(1, 2))
	r := b.table.add(row{
		figure: fmt.Sprintf("Search in %d articles, %s", searchBases*articles, e.name), unit: "ms, p99", floor: maxFloor(20),
	})
	for i := range searchBases {
		request := load.RequestAs(token, "POST", "/panel/v1/knowledge",
			string(must(json.Marshal(knowledge(random, fmt.Sprintf("base%d", i), articles)))))
		check(once(ctx, n, request))
	}
	for range b.rounds {
		n.waitIdle(ctx)
		l := load.Load{Addr: n.addr, Conns: 1, Count: searches, Request: func(_, _ int) []byte {
			var question []string
			for range 6 {
				question = append(question, anyWord(random))
			}
			return load.RequestAs(token, "GET", "/panel/v1/knowledge/search?q="+url.QueryEscape(strings.Join(question, " ")), "")
		}}
		took := must(l.Run(ctx))
		r.add(took.OK.Milliseconds(0.99), 0)
	}
}

// anyWord returns one of 5,000 words, some of which occur in most articles.
func anyWord(random *rand.Rand) string {
	return fmt.Sprintf("word%d", int(5000*random.Float64()*random.Float64()*random.Float64()))
}

// knowledge returns the body of a request that stores articles.
func knowledge(random *rand.Rand, id string, articles int) map[string]any {
	var all []map[string]string
	for range articles {
		words := make([]string, searchWords)
		for i := range words {
			words[i] = anyWord(random)
		}
		all = append(all, map[string]string{"title": strings.Join(words[:3], " "), "text": strings.Join(words, " ") + "."})
	}
	return map[string]any{"id": id, "articles": all}
}

// once sends one request.
func once(ctx context.Context, n *node, request []byte) error {
	l := load.Load{Addr: n.addr, Conns: 1, Count: 1, Request: load.Always(request)}
	_, err := l.Run(ctx)
	return err
}

// signIn returns an access token of the owner.
func signIn(ctx context.Context, n *node) (string, error) {
	var session struct {
		AccessToken string `json:"access_token"`
	}
	c, err := load.Dial(ctx, n.addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	text, err := load.OK(c.Do(signInRequest()))
	if err != nil {
		return "", err
	}
	err = json.Unmarshal(text, &session)
	return session.AccessToken, err
}
