package dev.millrace.connector;

/**
 * What a reader of a source that knows what lies where read of it, and what it passed by because no row there could be of interest.
 *
 * @param segmentsRead files, or what else the source is made of
 * @param blocksRead parts of those that were read
 * @param blocksSkipped likewise
 * @param sketchesAnswered sketches of which rows that are alike came as one
 * @param sketchesMaterialised sketches of which each row came
 * @param sketchesSkipped sketches passed by
 */
public record ScanCounts(
        long segmentsRead,
        long segmentsSkipped,
        long blocksRead,
        long blocksSkipped,
        long sketchesAnswered,
        long sketchesMaterialised,
        long sketchesSkipped) {
    /** Of a source without sketches. */
    public ScanCounts(long segmentsRead, long segmentsSkipped, long blocksRead, long blocksSkipped) {
        this(segmentsRead, segmentsSkipped, blocksRead, blocksSkipped, 0, 0, 0);
    }

    public ScanCounts plus(ScanCounts other) {
        return new ScanCounts(
                segmentsRead + other.segmentsRead,
                segmentsSkipped + other.segmentsSkipped,
                blocksRead + other.blocksRead,
                blocksSkipped + other.blocksSkipped,
                sketchesAnswered + other.sketchesAnswered,
                sketchesMaterialised + other.sketchesMaterialised,
                sketchesSkipped + other.sketchesSkipped);
    }

    /** For users. */
    public String text() {
        boolean sketched = sketchesAnswered + sketchesMaterialised + sketchesSkipped > 0;
        return "segments read " + segmentsRead + ", skipped " + segmentsSkipped + "; blocks read " + blocksRead
                + ", skipped " + blocksSkipped
                + (sketched
                        ? "; sketches answered " + sketchesAnswered + ", materialised " + sketchesMaterialised
                                + ", skipped " + sketchesSkipped
                        : "");
    }
}
