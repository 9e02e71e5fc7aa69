package dev.millrace.connector;

/**
 * What a reader of a source that knows what lies where read of it, and what it passed by because no row there could be of interest.
 *
 * @param segmentsRead files, or what else the source is made of
 * @param blocksRead parts of those that were read
 * @param blocksSkipped likewise
 */
public record ScanCounts(long segmentsRead, long segmentsSkipped, long blocksRead, long blocksSkipped) {
    public ScanCounts plus(ScanCounts other) {
        return new ScanCounts(
                segmentsRead + other.segmentsRead,
                segmentsSkipped + other.segmentsSkipped,
                blocksRead + other.blocksRead,
                blocksSkipped + other.blocksSkipped);
    }

    /** For users. */
    public String text() {
        return "segments read " + segmentsRead + ", skipped " + segmentsSkipped + "; blocks read " + blocksRead
                + ", skipped " + blocksSkipped;
    }
}
