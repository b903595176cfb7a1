package outputs

import (
	"container/heap"
	"encoding/binary"
	"math"
	"sort"
)

// timelineSample keeps every stride-th request, at most timelineMax.
type timelineSample struct {
	stride, seen int64
	rows         []timelineRow
}

type timelineRow struct {
	sent, first, end int64
	status           Status
	lane             int32
}

const timelineMax = 200_000

func (t *timelineSample) add(r *Record) {
	t.seen++
	if (t.seen-1)%t.stride != 0 {
		return
	}
	t.rows = append(t.rows, timelineRow{sent: r.Sent, first: r.FirstToken, end: r.End, status: r.Status})
	if len(t.rows) >= timelineMax {
		kept := t.rows[:0]
		for i := 0; i < len(t.rows); i += 2 {
			kept = append(kept, t.rows[i])
		}
		t.rows = kept
		t.stride *= 2
	}
}

// pack gives every request the lowest lane that is free when it starts, so
// that the height of the picture is the concurrency.
func (t *timelineSample) pack() (lanes int) {
	sort.SliceStable(t.rows, func(i, j int) bool { return t.rows[i].sent < t.rows[j].sent })
	var free intHeap
	var busy busyHeap
	for i := range t.rows {
		r := &t.rows[i]
		for len(busy) > 0 && busy[0].end <= r.sent {
			heap.Push(&free, heap.Pop(&busy).(busyLane).lane)
		}
		if len(free) > 0 {
			r.lane = heap.Pop(&free).(int32)
		} else {
			r.lane = int32(lanes)
			lanes++
		}
		heap.Push(&busy, busyLane{r.end, r.lane})
	}
	return lanes
}

type intHeap []int32

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int32)) }
func (h *intHeap) Pop() any {
	last := len(*h) - 1
	v := (*h)[last]
	*h = (*h)[:last]
	return v
}

type busyLane struct {
	end  int64
	lane int32
}

type busyHeap []busyLane

func (h busyHeap) Len() int           { return len(h) }
func (h busyHeap) Less(i, j int) bool { return h[i].end < h[j].end }
func (h busyHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *busyHeap) Push(x any)        { *h = append(*h, x.(busyLane)) }
func (h *busyHeap) Pop() any {
	last := len(*h) - 1
	v := (*h)[last]
	*h = (*h)[:last]
	return v
}

// encode packs the timeline. The unit grows with the run, so that 32 bits
// always hold it: 1 µs up to an hour.
func (t *timelineSample) encode() *htmlTimeline {
	if len(t.rows) == 0 {
		return nil
	}
	lanes := t.pack()
	zero, last := t.rows[0].sent, int64(math.MinInt64)
	for _, r := range t.rows {
		last = max(last, r.end)
	}
	unit := int64(1000)
	for (last-zero)/unit >= 1<<32-2 {
		unit *= 10
	}
	h := &htmlTimeline{Total: t.seen, Shown: len(t.rows), Lanes: lanes, UnitNS: unit}
	code := map[Status]byte{}
	for _, r := range t.rows {
		first := uint32(math.MaxUint32)
		if r.first != Never && r.first >= r.sent && r.first <= r.end {
			first = uint32((r.first - zero) / unit)
		}
		h.Sent = binary.LittleEndian.AppendUint32(h.Sent, uint32((r.sent-zero)/unit))
		h.First = binary.LittleEndian.AppendUint32(h.First, first)
		h.End = binary.LittleEndian.AppendUint32(h.End, uint32((r.end-zero)/unit))
		h.Lane = binary.LittleEndian.AppendUint32(h.Lane, uint32(r.lane))
		c, ok := code[r.status]
		if !ok {
			c = byte(min(len(h.Statuses), 255))
			code[r.status] = c
			h.Statuses = append(h.Statuses, string(r.status))
		}
		h.Status = append(h.Status, c)
	}
	return h
}

// htmlTimeline holds little-endian arrays in base64: microseconds since the
// first send as float32 pairs would lose precision, so uint32 in units of
// Unit nanoseconds.
type htmlTimeline struct {
	Total    int64    `json:"total"`
	Shown    int      `json:"shown"`
	Lanes    int      `json:"lanes"`
	UnitNS   int64    `json:"unit_ns"`
	Sent     []byte   `json:"sent"`  // uint32
	First    []byte   `json:"first"` // uint32; 0xffffffff = never
	End      []byte   `json:"end"`   // uint32
	Lane     []byte   `json:"lane"`  // uint32
	Status   []byte   `json:"status"`
	Statuses []string `json:"statuses"`
}
