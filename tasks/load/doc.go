// Package load sends requests when they are due.
//
// A Schedule says when requests arrive, as absolute times that do not depend on
// how the service answers. Run dispatches them on the run's monotonic clock:
// every arrival keeps its scheduled time even when it has to wait for a free
// slot below the concurrency cap, so that the wait is visible in the records
// (coordinated omission) instead of vanishing.
//
// What a request is, is the caller's business: Run calls a function with a Slot.
package load
