/**
 * The form of retained streams whose old rows are sketches: within a guaranteed error, in a tenth and less of the bytes.
 *
 * <p>Entry: {@link dev.millrace.server.sketched.SketchedForm}, which a stream's {@code SegmentStore} has its segments take and reads them by;
 * {@link dev.millrace.server.sketched.SketchClause} reads the options; {@link dev.millrace.server.sketched.SketchPieces} gives sketches to those who ask
 * them and need no rows. Forms and clauses are immutable but for what a form remembers of series, which is guarded; scans are each for one thread.
 *
 * <h2>Sketched segments</h2>
 *
 * <p>They are column segments ({@code storage.segment}) of the stream's columns, {@code #entry}, {@code #arrival}, {@code #series} (INTEGER)
 * and {@code #sketch} (BYTEA): each row has its place in them, in the order in which rows were accepted. Whole blocks make a
 * <i>stretch</i>, which is read without any other. Its first row has a negative {@code #series}:
 *
 * <pre>
 *  -2  the stretch is exact: all columns are as they came, and #series of all further rows is 0
 *  -1  the row is of series 0. #series of each further row is
 *      0      it is of the series that followed, the last time, on that of the row before; at first on series s follows series s
 *      n > 0  it is of series n - 1: one that was there before, or the next new one
 * </pre>
 *
 * <p>A series is what has one key: the values of the columns of {@code sketch.key}, which stand in the first row of the series; in its others they
 * are NULL. Its rows are in sketches, one behind the other. Where one begins, {@code #sketch} has the number of the series (4 bytes, the lowest first),
 * and the bytes of a segment as {@code dev.millrace.sketch.segment} specifies them, announced completely. Its time is called
 * as the column is that is the stream's event time; if it is called nothing, times only count rows. Its features are called as the columns that it has;
 * these are NULL in all rows of the stretch. All sketches of a stretch have the same features. All other columns are as they came.
 * {@code #arrival} is that of the row, or, in stretches with an entry for each 64 rows and fewer, the last microsecond of its second, at
 * most the last arrival of the segment: never earlier than the row came.
 */
package dev.millrace.server.sketched;
