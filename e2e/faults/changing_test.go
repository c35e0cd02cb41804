package faults

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/identity"
	"carillon/internal/send/whatsapp/graphtest"
)

// TestPeopleWhoChangeHaveOneContactOverKills delivers messages and statuses of 100 people, a few with changing addresses,
// shuffled and twice, and kills the nodes in each stage. Each person has one contact, every text is shown once,
// and no reply goes to the next owner of a number.
func TestPeopleWhoChangeHaveOneContactOverKills(t *testing.T) {
	for engine, nodes := range map[string]int{"sqlite": 1, "postgres": 2} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := newFlowSite(t, engine, nodes)
			p := &people{s, s.nodes[0]}
			d := newDice(t, "changing "+engine)
			all, begin := graphtest.Crowd(), time.Now().Add(-time.Hour)
			for _, c := range all {
				for _, address := range c.Lines {
					p.graph.Wrote(address, "", time.Now())
				}
			}
			var passed time.Time
			for stage := range graphtest.CrowdStages {
				if stage == 2 {
					passed = time.Now()
				}
				due := p.stage(all, stage, begin)
				d.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
				p.deliverOverKill(due)
				p.comeToRest()
			}
			p.judgeCrowd(all, passed)
			for _, n := range s.nodes {
				n.stop(hung)
			}
		})
	}
}

// stage returns the callbacks of a stage, each twice, with the statuses of all replies so far.
func (p *people) stage(all []*graphtest.Somebody, stage int, begin time.Time) (due [][]byte) {
	for _, c := range all {
		if stage < len(c.Stages) {
			for _, m := range slices.Repeat(c.Stages[stage], 2) {
				due = append(due, p.graph.InboundBody("", graphtest.Dated(m, stage, begin)))
			}
		}
	}
	for _, posts := range p.graph.All() {
		for _, x := range posts {
			for _, state := range []string{"delivered", "read", "delivered"} {
				due = append(due, p.graph.StatusBody(graphtest.StatusOf(x, state, time.Now())))
			}
		}
	}
	return due
}

// deliverOverKill delivers callbacks from several connections, and kills all nodes when half of them are accepted.
func (p *people) deliverOverKill(due [][]byte) {
	next := make(chan []byte)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for body := range next {
				p.deliver(body)
			}
		})
	}
	for i, body := range due {
		if i == len(due)/2 {
			for _, n := range p.nodes {
				n.kill()
				n.start()
			}
		}
		next <- body
	}
	close(next)
	all.Wait()
}

// judgeCrowd compares contacts, texts and replies with the people. Since an instant, some numbers are other people's.
func (p *people) judgeCrowd(all []*graphtest.Somebody, passed time.Time) {
	t := p.t
	if n := p.count("SELECT COUNT(*) FROM contact"); n != len(all) {
		t.Errorf("%d people are %d contacts", len(all), n)
	}
	owners := p.pairs("SELECT value, contact_id FROM contact_identity")
	shown := p.pairs(`SELECT t.text, c.contact_id FROM turn AS t JOIN conversation AS c ON c.id = t.conversation_id
		WHERE t.author = 'visitor'`)
	talks := p.pairs("SELECT id, contact_id FROM conversation")
	person := map[string]*graphtest.Somebody{}
	for _, c := range all {
		contact := ""
		for _, text := range c.Texts {
			if of := shown[text]; len(of) != 1 || contact != "" && of[0] != contact {
				t.Errorf("%q is shown in the conversations of %v, its author's contact is %q", text, of, contact)
			} else {
				contact = of[0]
			}
		}
		if person[contact] != nil {
			t.Errorf("persons %d and %d are one contact", c.I, person[contact].I)
		}
		person[contact] = c
		for _, address := range c.Lines {
			for _, owner := range owners[identity.Of(address).String()] {
				if owner != contact {
					t.Errorf("%s of person %d is another contact's", address, c.I)
				}
			}
		}
	}
	replies := 0
	for ref, posts := range p.graph.All() {
		parts := strings.Split(ref, ".")
		if parts[0] != "reply" || len(talks[parts[1]]) != 1 {
			t.Errorf("a post belongs to no conversation: %s", ref)
			continue
		}
		c := person[talks[parts[1]][0]]
		for _, x := range posts {
			replies++
			if !slices.Contains(c.Lines, x.To) && (!slices.Contains(c.Passed, x.To) || x.At.After(passed)) {
				t.Errorf("person %d is answered at %s", c.I, x.To)
			}
		}
	}
	t.Logf("%d people got %d replies", len(all), replies)
}

// pairs returns the second column of a query by the first.
func (p *people) pairs(query string) map[string][]string {
	p.t.Helper()
	rows, err := p.db.Query(query)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	all := map[string][]string{}
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			p.t.Fatal(err)
		}
		all[key] = append(all[key], value)
	}
	if rows.Err() != nil {
		p.t.Fatal(rows.Err())
	}
	return all
}
