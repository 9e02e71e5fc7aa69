package dev.millrace.storage.log;

import dev.millrace.error.MillraceException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
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

    /** Records that follow each other. */
    private record Run(long first, long last, MillraceException reason) {}

    /** These and more, whose numbers are ascending, and may be there already: a record that was given up failed before others. */
    FailedRecords with(List<Long> numbers, MillraceException reason) {
        List<Run> runs = new ArrayList<>();
        for (int i = 0; i < firsts.length; i++) {
            runs.add(new Run(firsts[i], lasts[i], reasons.get(i)));
        }
        int before = runs.size();
        for (long number : numbers) {
            if (contains(number)) {
                continue;
            }
            int last = runs.size() - 1;
            if (last >= before && number <= runs.get(last).last() + 1) {
                runs.set(last, new Run(runs.get(last).first(), number, reason));
            } else {
                runs.add(new Run(number, number, reason));
            }
        }
        runs.sort(Comparator.comparingLong(Run::first));
        return new FailedRecords(
                runs.stream().mapToLong(Run::first).toArray(),
                runs.stream().mapToLong(Run::last).toArray(),
                runs.stream().map(Run::reason).toList());
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
