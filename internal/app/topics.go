package app

import (
	"math"
	"strconv"
	"strings"
	"time"

	"carillon/internal/store/events"

	"carillon"
	"carillon/internal/event/realtime"
	"carillon/internal/queue"
)

// The kinds of the queue on the bus.
const (
	kindWake   = "wake"   // key <kind>/<sender>/<class>, value: when a message is due, in milliseconds
	kindShards = "shards" // shards are free
)

// topics builds the bus between nodes with its kinds.
func (a *App) topics() {
	var others func(kind string, items ...realtime.Item)
	if !a.store.DB.SQLite() {
		others = func(kind string, items ...realtime.Item) { a.bus.Publish(kind, items...) }
	}
	a.hub = realtime.NewHub(a.store.Topics, a.log, others)
	a.store.Events.OnEvents(func(all ...*events.Event) {
		a.hub.Publish(all...)
		var companies []string
		for i, e := range all {
			if i == 0 || e.CompanyID != all[i-1].CompanyID {
				companies = append(companies, e.CompanyID)
			}
		}
		a.hooks.Wake(companies...)
	})
	earliest := func(x, y int64) int64 { return min(x, y) }
	a.bus = realtime.NewBus(a.store.DB, a.log, a.hub.Kind(),
		realtime.Kind{Name: kindWake, Merge: earliest, Receive: func(items []realtime.Item) { a.queue.Published(wakesOf(items)) }},
		realtime.Kind{Name: kindShards, Merge: earliest, Receive: func([]realtime.Item) { a.queue.Published([]queue.Wake{}) }},
	)
}

// nodeBus carries the queue's word to the other nodes.
type nodeBus struct{ app *App }

// PublishWakes implements queue.Bus.
func (b nodeBus) PublishWakes(ws []queue.Wake) { b.app.bus.Publish(kindWake, itemsOf(ws)...) }

// itemsOf encodes wake-ups for another node.
func itemsOf(ws []queue.Wake) []realtime.Item {
	items := make([]realtime.Item, len(ws))
	for i, w := range ws {
		items[i] = realtime.Item{Key: w.Kind + "/" + strconv.FormatInt(w.SenderUID, 10) + "/" + strconv.Itoa(int(w.Class)), Value: w.Due.UnixMilli()}
	}
	return items
}

// PublishShards implements queue.Bus.
func (b nodeBus) PublishShards() { b.app.bus.Publish(kindShards, realtime.Item{}) }

// wakesOf decodes the wake-ups of another node. Classes unknown to this version are left out, and nil stays nil.
func wakesOf(items []realtime.Item) []queue.Wake {
	if items == nil {
		return nil
	}
	ws := make([]queue.Wake, 0, len(items))
	for _, x := range items {
		kind, lane, _ := strings.Cut(x.Key, "/")
		uid, class, _ := strings.Cut(lane, "/")
		sender, err := strconv.ParseInt(uid, 10, 64)
		n, err2 := strconv.Atoi(class)
		if err == nil && err2 == nil && n >= 0 && n < carillon.Classes && x.Value < math.MaxInt64/2 {
			ws = append(ws, queue.Wake{Kind: kind, SenderUID: sender, Class: carillon.Class(n), Due: time.UnixMilli(x.Value)})
		}
	}
	return ws
}
