package dev.millrace.storage.retention;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a database knows of a stream's past beside it, so that files of another database, or an older copy, are not taken for it.
 *
 * @param log identity of the log whose entries the rows are of; none where that is not known
 * @param lastEntry up to which the log may have forgotten the stream's rows: they are in segments, or were
 */
public record KnownPast(OptionalLong log, long lastEntry) {
    /** Of whom nothing is known beside the files. */
    public static final KnownPast NOTHING = new KnownPast(OptionalLong.empty(), 0);

    /** What is wrong with a list of segments that is whole by itself, if anything is. */
    Optional<String> misfit(SegmentList list) {
        if (log.isPresent() && list.log() != SegmentList.NO_LOG && list.log() != log.getAsLong()) {
            return Optional.of("it is of another database: of the log " + Long.toHexString(list.log())
                    + ", and here is " + Long.toHexString(log.getAsLong()));
        }
        return list.lastEntry() < lastEntry
                ? Optional.of("it is an older copy: it ends with record " + list.lastEntry()
                        + " of the log, and record " + lastEntry + " was in a segment")
                : Optional.empty();
    }
}
