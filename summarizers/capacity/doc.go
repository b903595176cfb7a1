// Package capacity says what a series of runs at rising load means: which load
// the service carries.
//
// A Curve is one Level a load, a Level one or several Runs. From it come
//
//   - the figures of each level over its runs: mean, coefficient of variation,
//     Student's interval (Level.Over),
//   - the knee: where more load stops paying (Curve.Knee), and what limited the
//     service there (Curve.Limit),
//   - whether a level keeps service levels (ParseSLO, SLO.Judge), from the
//     intervals, with the head-room that is left,
//   - tables, charts, CSV and JSON of all that (Document).
//
// Every figure is taken from strict metrics of the records; nothing here asks a
// service or knows of tasks.
package capacity
