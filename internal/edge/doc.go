// Package edge is the room of everything that speaks HTTP to a caller or a browser: the public interface (api), the panel, the widgets on
// customers' pages (widget), the documentation (manual) and the server for assistants (mcp). Start reading in api.
package edge
