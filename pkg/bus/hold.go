package bus

// Holder keeps a message open beyond the return of its handler, where a bus can.
type Holder interface {
	// Hold makes the bus ignore what the handler returns: the message has come to its end when End or GiveBack of what
	// Hold returns was called. Call it once, before the handler returns.
	Hold() Held
}

// Held is a message that its bus waits for. Exactly one call of End or GiveBack must follow; further ones do nothing.
type Held interface {
	// Rest says that the message's own handler is over, and only what grew from it is not. When a consumer ends because
	// its queue is gone, it waits for handlers, and not for the rest.
	Rest()
	// End does with the message what a handler that returned err would have had done with it.
	End(err error)
	// GiveBack returns a message that nobody began to handle.
	GiveBack()
}

// HoldKey is under which the context of a handler has its Holder, where the bus has one.
type HoldKey struct{}
