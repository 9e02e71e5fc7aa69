package dev.millrace.connectors.s3;

import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Which objects are new each time that all are listed: those that were not there the last time, or had other contents. Owned by one thread. */
final class NewObjects {
    private final long everyNanos;
    private Set<Long> known = new HashSet<>(); // prints of those of the last list
    private long listedNanos;
    private boolean isListed;

    NewObjects(long everyMicros) {
        this.everyNanos = TimeUnit.MICROSECONDS.toNanos(everyMicros);
    }

    /** One more that is not new, before anything is listed. */
    void know(long print) {
        known.add(print);
    }

    void write(DataOutput out) throws IOException {
        out.writeInt(known.size());
        for (long print : known) {
            out.writeLong(print);
        }
    }

    boolean isDue(long nowNanos) {
        return dueMicros(nowNanos) == 0;
    }

    /** How long it is until all are to be listed again. */
    long dueMicros(long nowNanos) {
        return !isListed ? 0 : Math.max(0, TimeUnit.NANOSECONDS.toMicros(everyNanos - (nowNanos - listedNanos)));
    }

    /** Of all that there are the new ones, in the order in which they were written. */
    List<StoredObject> among(List<StoredObject> all, long nowNanos) {
        isListed = true;
        listedNanos = nowNanos;
        List<StoredObject> fresh = new ArrayList<>();
        Set<Long> there = new HashSet<>();
        for (StoredObject object : all) {
            long print = object.print();
            if (there.add(print) && !known.contains(print)) {
                fresh.add(object);
            }
        }
        known = there;
        fresh.sort(Comparator.comparingLong(StoredObject::modifiedMillis)
                .thenComparing(object -> object.name().key()));
        return fresh;
    }
}
