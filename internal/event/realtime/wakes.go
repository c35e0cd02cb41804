package realtime

import (
	"math"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/queue"
)

// The queue's kinds on the bus.
const (
	kindWake   = "wake"   // key <kind>/<sender>/<class>; value: due time of a message in milliseconds
	kindShards = "shards" // shards are free
)

// Nodes sends the queue's announcements to the other nodes.
type Nodes struct{ Bus *Bus }

// Receive passes the announcements of other nodes to a queue. Call it before Bus.Run.
func (n Nodes) Receive(q *queue.Queue) {
	earliest := func(x, y int64) int64 { return min(x, y) }
	n.Bus.Add(Kind{Name: kindWake, Merge: earliest, Receive: func(items []Item) { q.Published(wakesOf(items)) }})
	n.Bus.Add(Kind{Name: kindShards, Merge: earliest, Receive: func([]Item) { q.Published([]queue.Wake{}) }})
}

// PublishWakes implements queue.Bus.
func (n Nodes) PublishWakes(ws []queue.Wake) { n.Bus.Publish(kindWake, itemsOf(ws)...) }

// itemsOf encodes wake-ups for another node.
func itemsOf(ws []queue.Wake) []Item {
	items := make([]Item, len(ws))
	for i, w := range ws {
		items[i] = Item{Key: w.Kind + "/" + strconv.FormatInt(w.SenderUID, 10) + "/" + strconv.Itoa(int(w.Class)), Value: w.Due.UnixMilli()}
	}
	return items
}

// PublishShards implements queue.Bus.
func (n Nodes) PublishShards() { n.Bus.Publish(kindShards, Item{}) }

// wakesOf decodes the wake-ups of another node. Classes unknown to this version are skipped, and nil stays nil.
func wakesOf(items []Item) []queue.Wake {
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
