/**
 * The Pebbles sketch: a stream of observations kept small, in order, and within a guaranteed error (dissertation ch. 6).
 *
 * <p>Entry: {@link dev.millrace.sketch.Sketch}, a segment in memory. From observations to bytes and back to answers:
 *
 * <pre>{@code
 * SketchSchema schema = SketchSchema.of(
 *         Feature.number("temperature", Bound.absolute(.1)),  // never more than .1 degrees off
 *         Feature.number("load", Bound.ofRange(.01)),         // never more than 1 % of the range seen so far
 *         Feature.text("status"));                            // exact
 *
 * List<byte[]> stored = new ArrayList<>();
 * StreamEncoder encoder = new StreamEncoder(schema, EncoderOptions.defaults(), s -> stored.add(s.bytes()));
 * for (Reading reading : readings) {                          // times are microseconds
 *     encoder.row(reading.timeMicros()).number(0, reading.temperature()).number(1, reading.load()).text(2, reading.status());
 * }
 * encoder.flush();                                            // closes the last segment
 *
 * Versions versions = new Versions();                         // one for each stream that is read
 * for (byte[] bytes : stored) {
 *     Sketch sketch = SegmentCodec.read(bytes, versions);
 *     for (SketchQuery.Row row : SketchQuery.select(Aggregate.count(), Aggregate.avg("temperature"))
 *             .where(Condition.atLeast("load", 50)).groupBy("status").tumbling(60_000_000).run(sketch)) {
 *         Estimate average = row.estimates().get(1);          // value, and bounds: low <= the true average <= high
 *     }
 *     try (Batch batch = Materialisation.all().batch(sketch, allocator)) { ... } // or its rows, as Arrow columns
 * }
 * }</pre>
 *
 * <p>Packages, each using only those before it: {@code bits}; {@code entropy} (codes for sequences); {@code schema}; {@code
 * density}, {@code sample}, {@code bins} (from values to bins); {@code column} and this one (a sketch in memory); {@code form}
 * and {@code time} (how parts are stored); {@code segment} (the format); {@code stream} (encoders); {@code sum}, {@code query}, {@code
 * transform}, {@code materialise} (what to do with a sketch); {@code csv} and {@code file} (files). A sketch is immutable and
 * safe on any thread; encoders belong to one. Nothing here knows SQL, plans or the engine.
 */
package dev.millrace.sketch;
