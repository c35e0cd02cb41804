// Package event groups the packages that publish events: webhooks (hook) and screens (realtime). Start reading in
// hook.
package event
