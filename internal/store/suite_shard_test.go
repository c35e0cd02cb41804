package store_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store/work"
)

func sharding() []sentence {
	return []sentence{
		{"a node joins once and makes the shards", joining},
		{"nodes have different slots", slotsDiffer},
		{"a free shard is taken by one node alone", takingIsExclusive},
		{"a node is deposed only at the beat that was seen", deposedByBeat},
		{"a shard is given by its owner of this epoch only", givingAShard},
		{"a node that leaves frees its shards", leaving},
		{"the one process of a folder takes all shards", takingAll},
	}
}

func (r *rig) shard(t *testing.T, id int) work.Shard {
	t.Helper()
	_, shards, err := r.Nodes.Cluster(t.Context())
	if err != nil || len(shards) != carillon.Shards {
		t.Fatal(len(shards), err)
	}
	return shards[id]
}

func (r *rig) join(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := r.Nodes.Join(t.Context(), id, "host"); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *rig) take(t *testing.T, shard int, owner string) int64 {
	t.Helper()
	taken, err := r.Nodes.Take(t.Context(), []int{shard}, owner)
	if err != nil || len(taken) != 1 || taken[0].ID != shard || taken[0].Owner != owner {
		t.Fatal(taken, err)
	}
	return taken[0].Epoch
}

func joining(t *testing.T, r *rig) {
	r.join(t, "b", "a", "b")
	nodes, shards, err := r.Nodes.Cluster(t.Context())
	if err != nil || len(nodes) != 2 || nodes[0] != (work.Node{ID: "a", Name: "host", Beat: 1, Fit: work.Fit}) || nodes[1].ID != "b" {
		t.Error(nodes, err)
	}
	for i, x := range shards {
		if x != (work.Shard{ID: i}) {
			t.Error(x)
		}
	}
	off := work.Node{ID: "a", Fit: work.ClockOff, Ahead: 700 * time.Millisecond, Events: true}
	if alive, err := r.Nodes.Beat(t.Context(), off); !alive || err != nil {
		t.Error(alive, err)
	}
	if err := r.DB.Health.Served(t.Context()); err != nil {
		t.Error(err)
	}
	if alive, err := r.Nodes.Beat(t.Context(), work.Node{ID: "nobody", Fit: work.Fit}); alive || err != nil {
		t.Error(alive, err)
	}
	if nodes, _, err := r.Nodes.Cluster(t.Context()); err != nil || nodes[0].Beat != 2 || nodes[0].Fit != work.ClockOff ||
		nodes[0].Ahead != off.Ahead || !nodes[0].Events || nodes[1].Beat != 1 {
		t.Error(nodes, err)
	}
}

func slotsDiffer(t *testing.T, r *rig) {
	if r.DB.Engine() == "sqlite" {
		return // there is one node
	}
	slots := map[carillon.Seq]bool{}
	join := func(id string) (slot carillon.Seq) {
		r.join(t, id)
		slot = carillon.SeqOf(r.Notifications.NewID(r.now)) % carillon.NodeSlots
		slots[slot] = true
		return slot
	}
	first := join("n0")
	if again := join("n0"); again != first {
		t.Errorf("a node that joins again has the slot %d after %d", again, first)
	}
	for i := range carillon.NodeSlots - 2 {
		join("n" + strconv.Itoa(i+1))
	}
	if err := r.Nodes.Leave(t.Context(), "n0"); err != nil {
		t.Fatal(err)
	}
	join("x")
	join("y")
	if len(slots) != carillon.NodeSlots {
		t.Errorf("%d nodes have %d slots", carillon.NodeSlots, len(slots))
	}
	join("one more than there are slots")
}

func takingIsExclusive(t *testing.T, r *rig) {
	nodes := []string{"a", "b", "c", "d", "e", "f"}
	r.join(t, nodes...)
	for shard := range 5 {
		won := make([]bool, len(nodes))
		var takers sync.WaitGroup
		for i, id := range nodes {
			takers.Go(func() {
				taken, err := r.Nodes.Take(t.Context(), []int{shard}, id)
				if won[i] = len(taken) == 1; err != nil || won[i] && taken[0].Epoch != 1 {
					t.Error(taken, err)
				}
			})
		}
		takers.Wait()
		winner := ""
		for i, id := range nodes {
			if won[i] && winner != "" {
				t.Errorf("shard %d was taken twice", shard)
			}
			if won[i] {
				winner = id
			}
		}
		if x := r.shard(t, shard); winner == "" || x != (work.Shard{ID: shard, Owner: winner, Epoch: 1}) {
			t.Errorf("%+v, taken by %q", x, winner)
		}
	}
}

func deposedByBeat(t *testing.T, r *rig) {
	r.join(t, "a")
	r.take(t, 5, "a")
	if _, err := r.Nodes.Beat(t.Context(), work.Node{ID: "a", Fit: work.Fit}); err != nil {
		t.Fatal(err)
	}
	for _, seen := range []int64{1, 3} {
		if deposed, err := r.Nodes.Depose(t.Context(), "a", seen); deposed || err != nil {
			t.Errorf("deposed at beat %d, which is not its last: %v", seen, err)
		}
	}
	if x := r.shard(t, 5); x.Owner != "a" {
		t.Errorf("%+v", x)
	}
	if deposed, err := r.Nodes.Depose(t.Context(), "a", 2); !deposed || err != nil {
		t.Error(deposed, err)
	}
	if x := r.shard(t, 5); x.Owner != "" || x.Epoch != 2 {
		t.Errorf("%+v", x)
	}
	if alive, err := r.Nodes.Beat(t.Context(), work.Node{ID: "a", Fit: work.Fit}); alive || err != nil {
		t.Error("a deposed node was not told", err)
	}
}

func givingAShard(t *testing.T, r *rig) {
	r.join(t, "a", "b")
	epoch := r.take(t, 3, "a")
	for _, wrong := range []work.Fence{
		{Shard: 3, Owner: "b", Epoch: epoch}, {Shard: 3, Owner: "a", Epoch: epoch - 1}, {Shard: 4, Owner: "a", Epoch: epoch},
	} {
		if err := r.Nodes.Give(t.Context(), []work.Fence{wrong}); err != nil {
			t.Error(err)
		}
		if x := r.shard(t, 3); x.Owner != "a" {
			t.Errorf("given by %+v", wrong)
		}
	}
	other := r.take(t, 1, "a")
	if err := r.Nodes.Give(t.Context(), []work.Fence{
		{Shard: 3, Owner: "a", Epoch: epoch}, {Shard: 1, Owner: "a", Epoch: other},
	}); err != nil {
		t.Error(err)
	}
	if taken, err := r.Nodes.Take(t.Context(), []int{1, 3}, "b"); err != nil || len(taken) != 2 || taken[1].Epoch <= epoch ||
		taken[0].Epoch <= other {
		t.Errorf("%+v after epoch %d: %v", taken, epoch, err)
	}
}

func leaving(t *testing.T, r *rig) {
	r.join(t, "a", "b")
	mine, other := r.take(t, 1, "a"), r.take(t, 2, "b")
	if err := r.Nodes.Leave(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if x := r.shard(t, 1); x.Owner != "" || x.Epoch <= mine {
		t.Errorf("%+v", x)
	}
	if x := r.shard(t, 2); x.Owner != "b" || x.Epoch != other {
		t.Errorf("%+v", x)
	}
	if nodes, _, err := r.Nodes.Cluster(t.Context()); err != nil || len(nodes) != 1 || nodes[0].ID != "b" {
		t.Error(nodes, err)
	}
}

func takingAll(t *testing.T, r *rig) {
	r.join(t, "old", "new")
	before := r.take(t, 9, "old")
	if err := r.Nodes.TakeAll(t.Context(), "new"); err != nil {
		t.Fatal(err)
	}
	nodes, shards, err := r.Nodes.Cluster(t.Context())
	if err != nil || len(nodes) != 1 || nodes[0].ID != "new" {
		t.Error(nodes, err)
	}
	for _, x := range shards {
		if x.Owner != "new" || x.ID == 9 && x.Epoch <= before {
			t.Errorf("%+v", x)
		}
	}
}
