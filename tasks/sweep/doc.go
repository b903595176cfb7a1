// Package sweep runs one benchmark at many settings and keeps what came of it.
//
// A sweep is a folder of points. A Point is a setting (or several) and the
// number of the repetition; it is the unit that is done or not done. Its run is
// a normal run folder, so that everything that reads runs reads points too:
//
//	<work dir>/sweep_<YYYYmmdd_HHMMSS>/
//	  manifest.json           which command, which tool, state
//	  configs/sweep.json      Spec: what every point was measured with
//	  points/<key>/           one run folder a point
//	    point.json            written last and renamed into place: the point is done
//	  incomplete/<key>_<n>/   runs that were cut off; kept, never counted
//
// Store is that folder: locked while it is open, refusing to mix points measured
// with different settings, and telling which points are missing. It knows
// neither what is varied nor how, and serves any grid of settings; use it alone
// for that. Runner measures points with tasks/bench, with pauses between them.
// Search finds the highest value that holds a condition.
//
// Nothing here computes a figure: summarizers/capacity does, from the points'
// records.
package sweep
