// Package event is the room of events for others: webhooks (hook) and screens (realtime). Start reading in hook.
package event
