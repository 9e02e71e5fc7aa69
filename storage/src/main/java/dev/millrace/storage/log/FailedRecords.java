package dev.millrace.storage.log;

import dev.millrace.error.MillraceException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The numbers of records that failed while the log was open, as runs of numbers: a few for each time that the disk failed.
 * Immutable.
 */
final class FailedRecords {
    static final FailedRecords NONE = new FailedRecords(new long[0], new long[0], List.of());

    private final long[] firsts; // ascending
    private final long[] lasts;
    private final List<MillraceException> reasons;

    private FailedRecords(long[] firsts, long[] lasts, List<MillraceException> reasons) {
        this.firsts = firsts;
        this.lasts = lasts;
        this.reasons = reasons;
    }

    /** These and more, whose numbers are ascending and higher, and may be there twice. */
    FailedRecords with(List<Long> numbers, MillraceException reason) {
        List<Long> from = new ArrayList<>();
        List<Long> to = new ArrayList<>();
        for (long number : numbers) {
            int last = to.size() - 1;
            if (last >= 0 && number <= to.get(last) + 1) {
                to.set(last, number);
            } else {
                from.add(number);
                to.add(number);
            }
        }
        long[] newFirsts = Arrays.copyOf(firsts, firsts.length + from.size());
        long[] newLasts = Arrays.copyOf(lasts, newFirsts.length);
        List<MillraceException> newReasons = new ArrayList<>(reasons);
        for (int i = 0; i < from.size(); i++) {
            newFirsts[firsts.length + i] = from.get(i);
            newLasts[firsts.length + i] = to.get(i);
            newReasons.add(reason);
        }
        return new FailedRecords(newFirsts, newLasts, List.copyOf(newReasons));
    }

    private int find(long number) {
        int at = Arrays.binarySearch(firsts, number);
        int run = at >= 0 ? at : -at - 2;
        return run >= 0 && number <= lasts[run] ? run : -1;
    }

    boolean contains(long number) {
        return firsts.length > 0 && find(number) >= 0;
    }

    /** Why one of them failed. */
    MillraceException error(long number) {
        int run = find(number);
        if (run < 0) {
            throw new IllegalArgumentException("record " + number + " did not fail");
        }
        return reasons.get(run).again();
    }
}
