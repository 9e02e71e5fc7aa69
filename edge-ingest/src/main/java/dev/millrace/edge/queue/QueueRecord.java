package dev.millrace.edge.queue;

/**
 * What one or several numbers of a stream have. Its bytes are read from the queue when they are needed.
 *
 * @param from the first number
 * @param to the last
 * @param rows of all; of what was shed, how many there were
 * @param firstMicros the earliest event time of them; of no meaning without rows
 * @param lastMicros the latest
 * @param incarnation of the encoder; 0 where a segment can be read alone
 * @param needs the number of the version of bins that a reader has to know before; 0 for none
 * @param defines the number of the version that a reader knows afterwards; 0 for none
 * @param level how often it was merged to a wider bound
 */
public record QueueRecord(
        long from,
        long to,
        RecordKind kind,
        long rows,
        long firstMicros,
        long lastMicros,
        long incarnation,
        int needs,
        int defines,
        int level) {
    public QueueRecord {
        if (from < 1 || to < from || rows < 0) {
            throw new IllegalArgumentException("no record: " + from + " to " + to + ", " + rows + " rows");
        }
    }

    long numbers() {
        return to - from + 1;
    }

    /** A note that this and what follows it are gone. */
    QueueRecord goneWith(QueueRecord next, RecordKind kind) {
        return new QueueRecord(
                from,
                next.to,
                kind,
                rows + next.rows,
                Math.min(firstMicros, next.firstMicros),
                Math.max(lastMicros, next.lastMicros),
                0,
                0,
                0,
                0);
    }
}
