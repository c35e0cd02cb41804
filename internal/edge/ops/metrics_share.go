package ops

import "carillon/internal/base/share"

//nolint:gochecknoglobals // descriptions, read only
var (
	heldDesc = desc("carillon_share_held", "What this node holds of a bounded resource (docs/reference/limits.md), in its units.",
		"resource")
	mostDesc   = desc("carillon_share_limit", "What this node may hold of a bounded resource in all; 0: it has no bound.", "resource")
	queuedDesc = desc("carillon_share_waiting", "Requests that wait for their turn at a bounded resource.", "resource")
	deniedDesc = desc(
		"carillon_share_refused_total", "Requests refused at a bound of a resource, by that bound: node, company, visitors, client, "+
			"session.",
		"resource", "bound",
	)
	shareLevels = []share.Level{share.Node, share.Company, share.Visitors, share.Client, share.Session}
)

// ofShares emits the shared resources used on this node.
func (g *Sources) ofShares(gauge, count emit) {
	for _, c := range g.Shares.Counts() {
		gauge(heldDesc, float64(c.Used), c.Resource.Name)
		gauge(mostDesc, float64(c.Resource.Node), c.Resource.Name)
		gauge(queuedDesc, float64(c.Waiting), c.Resource.Name)
		for _, level := range shareLevels {
			count(deniedDesc, float64(c.Refused[level]), c.Resource.Name, level.String())
		}
	}
}
